import { stateOf } from "../../assess/machine-state.ts";
import { isLearner } from "../../looking/look.ts";
import { controlPlaneSlot } from "../../disruption/control-plane-slot.ts";
import type { Slot } from "../../disruption/control-plane-slot.ts";
import { machineFact, withDecisions, withIntent, withoutIntent } from "../../record/facts.ts";
import { isContainer } from "./container-end.ts";
import { readyToDisturb } from "../../disruption/drain.ts";
import { waitsForEtcd } from "../../assess/etcd-view.ts";
import { pursueContainerReset } from "./plan-container-reset.ts";
import { resetHeld } from "./removal-held.ts";
import { closed, isWiped, LATE_MS, memberListed, released, resetIntent, waits, wipeForbidden } from "./removal.ts";
import { mayAskAgain } from "../../effects/define.ts";
import { forfeitLeadership } from "../../effects/forfeit-leadership.ts";
import { resetMachine } from "../../effects/reset-machine.ts";
import type { EtcdDoubt, EtcdQuorum } from "../../model/etcd.ts";
import type { Leaver } from "./removal.ts";
import type { Action } from "../../model/effect.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import type { Look } from "../../model/look.ts";
import type { ClusterFacts, IntentFact } from "../../model/record.ts";
import type { Removal, RemovalStep } from "../../model/plans.ts";
import type { Assessment } from "../../model/assessment.ts";

/** Writes down that a running control plane is wiped, and sends it in the same pass when nothing else has to come first. */
export function beginReset(assessed: Assessment, facts: ClusterFacts, leaver: Leaver): RemovalStep {
  const { seen } = assessed;
  const { machine, fact } = leaver;
  const say = (reason: Removal["reason"], message: string): RemovalStep => ({
    facts,
    actions: [],
    removals: [waits(fact, reason, message)],
  });
  const forbidden = wipeForbidden(seen, leaver);
  if (forbidden !== undefined) return say("ConfirmationRequired", forbidden);
  // One without a vote is missed by nobody, and etcd lets nobody in beside a learner: its replacement would wait for it, and it for its replacement.
  const missing = hasNoVote(assessed, machine) ? [] : missingReplacements(assessed, facts);
  if (missing.length > 0)
    return say(
      "WaitingForReplacement",
      `${fact.name} leaves after every listed control plane has joined etcd; missing: ${missing.map((one) => `${one.declared.name} (${stateOf(one)})`).join(", ")}. Boot it, or take it out of the list.`,
    );
  const slot = resetSlot(assessed, facts, leaver);
  if (slot.kind === "held") {
    const take = slot.holder.kind === "before-risk" ? slot.holder.snapshot.take : undefined;
    return { facts, actions: take === undefined ? [] : [{ kind: "TakeSnapshot", ...take }], removals: [resetHeld(fact, slot.holder)] };
  }
  const drain = readyToDisturb(assessed, machine.declared.name);
  if (drain.kind !== "ready")
    return { facts, actions: drain.kind === "act" ? drain.actions : [], removals: [waits(fact, "Draining", drain.message)] };
  const opened = resetIntent(seen, leaver, "The spec no longer lists this control plane.");
  const inContainer = isContainer(machine.look, fact);
  const memberId = machine.look.kind === "running" ? machine.look.etcd?.localMember : undefined;
  // What is stopped may not show its member any more.
  const intent: IntentFact = inContainer && memberId !== undefined && memberId !== "none" ? { ...opened, memberId } : opened;
  const next = withDecisions(withIntent(facts, intent), {
    at: seen.now,
    action: "Reset",
    reason: "NotListed",
    machine: fact.name,
    message: `${fact.name} is to leave etcd and be ${inContainer ? "stopped" : "wiped"}: no spec lists it any more, and etcd keeps its quorum without it.${assessed.beforeRisk === undefined ? "" : ` ${assessed.beforeRisk.message}`}`,
  });
  return { ...pursueReset(assessed, next, intent), facts: next };
}

/** The machine tells that it is a learner, or no member at all, and etcd's voters agree. */
function hasNoVote(assessed: Assessment, { look }: SeenMachine): boolean {
  const member = look.kind === "running" ? look.etcd?.localMember : undefined;
  const view = assessed.etcdMembership;
  return member !== undefined && view.kind === "known" && !view.voters.some(({ id }) => id === member);
}

/** Before etcd is bootstrapped, only one that waits for it, while nobody was asked to bootstrap it, is known to hold no data. */
function resetSlot(assessed: Assessment, facts: ClusterFacts, { machine: { look }, fact }: Leaver, under?: IntentFact): Slot {
  const etcd = look.kind === "running" ? look.etcd : undefined;
  const isIdle = look.kind === "running" && waitsForEtcd(etcd) && facts.bootstrapIntent === undefined;
  const member = facts.bootstrapDone !== undefined ? etcd?.localMember : isIdle ? "none" : undefined;
  const bid = { machine: fact.name, why: "remove", member } as const;
  return controlPlaneSlot(assessed, facts, under === undefined ? bid : { ...bid, under });
}

/** Goes on with a reset that stands in the record, until the machine is proved wiped and no member any more. */
export function pursueReset(assessed: Assessment, facts: ClusterFacts, intent: IntentFact): RemovalStep {
  const { seen } = assessed;
  const fact = machineFact(facts, intent.machine);
  const machine = [...seen.former, ...seen.machines].find(({ declared }) => declared.name === intent.machine);
  if (fact === undefined || machine === undefined || fact.releasedAt !== undefined)
    return closed(seen, facts, intent, "Gone", `${intent.machine} is not looked at any more.`);
  const leaver = { machine, fact };
  const say = (reason: Removal["reason"], message: string): RemovalStep => ({
    facts,
    actions: [],
    removals: [waits(fact, reason, message)],
  });
  const busy = (message: string): RemovalStep => say("Resetting", message);
  if (isWiped(facts, leaver)) {
    const isListed = isToldSince(seen, machine.look) ? memberListed(assessed, facts, fact) : undefined;
    if (isListed === undefined)
      return say("WaitingForQuorum", `${fact.name} is wiped; it is released once etcd's members agree that it is none of them.`);
    if (isListed) return closed(seen, facts, intent, "StillListed", `${fact.name} is wiped, and etcd still lists its member.`);
    return {
      facts: released(seen, facts, fact, "AnswersInMaintenance", `${fact.name} answers in maintenance mode and is no member of etcd.`),
      actions: [],
      removals: [],
    };
  }
  const isLeaving = seen.former.includes(machine);
  const forbiddenNow = isLeaving ? wipeForbidden(seen, leaver) : undefined;
  if (isContainer(machine.look, fact) && isLeaving && (forbiddenNow === undefined || machine.look.kind !== "running")) {
    const step = pursueContainerReset(assessed, facts, intent, leaver, forbiddenNow);
    if (step !== undefined) return step;
  }
  if (machine.look.kind !== "running") {
    if (seen.now < intent.deadline) return busy(`${fact.name} is being wiped; it is released once it answers in maintenance mode.`);
    return closed(seen, facts, intent, "Silent", `${fact.name} was to be wiped and does not answer any more.`);
  }
  if (machine.look.stage === "resetting" && seen.now < intent.deadline)
    return busy(`${fact.name} is being wiped; it is released once it answers in maintenance mode.`);
  if (!isLeaving) {
    // It was sent, or not: what may still come must not meet another control plane that is disturbed.
    if (seen.now < intent.deadline + LATE_MS) return busy(`${fact.name} is listed again; its reset may have been sent and is waited for.`);
    return closed(seen, facts, intent, "ListedAgain", `${fact.name} is listed again, and its reset did not take place.`);
  }
  if (forbiddenNow !== undefined) return say("ConfirmationRequired", forbiddenNow);
  const slot = resetSlot(assessed, facts, leaver, intent);
  if (slot.kind === "held") return { facts, actions: [], removals: [resetHeld(fact, slot.holder)] };
  const target = { machine: fact.name, address: intent.address, ifUuid: intent.uuid };
  const view = assessed.etcd;
  const member = machine.look.etcd?.localMember;
  const isVoter = view.kind === "known" && view.voters.some(({ id }) => id === member);
  if (view.kind === "known" && isVoter && view.voters.length > 1 && view.leader === member) {
    const actions: Action[] = mayAskAgain(seen, forfeitLeadership, fact.name) ? [{ kind: "ForfeitLeadership", ...target }] : [];
    return { facts, actions, removals: [waits(fact, "Resetting", `${fact.name} hands the leadership of etcd over before it leaves.`)] };
  }
  const how = isVoter
    ? ({ isGraceful: true, leavesEtcd: true, ifUnlisted: "voter" } as const)
    : facts.bootstrapDone === undefined
      ? ({ ifUnlisted: "no-etcd" } as const)
      : ({ isGraceful: mayStillJoin(machine, view) && seen.now < intent.deadline, ifUnlisted: "no-voter" } as const);
  const actions: Action[] = mayAskAgain(seen, resetMachine, fact.name) ? [{ kind: "ResetMachine", ...target, ...how }] : [];
  // What is sent now has its own time to take place: by the old deadline its silence would count as that of a machine that failed.
  if (actions.length > 0 && seen.now >= intent.deadline) {
    const { recorded: _recorded, ...rest } = intent;
    const renewed = withIntent(withoutIntent(facts, fact.name), { ...rest, deadline: resetIntent(seen, leaver, intent.why).deadline });
    return {
      ...busy(`${fact.name} leaves etcd and is wiped; it is released once it answers in maintenance mode.`),
      facts: renewed,
      actions,
    };
  }
  return { ...busy(`${fact.name} leaves etcd and is wiped; it is released once it answers in maintenance mode.`), actions };
}

/** Every list of members was told since the machine was met wiped: one that is older may still have its member, which left before the wipe. */
function isToldSince(seen: Observed, wiped: Look): boolean {
  if (wiped.kind !== "maintenance") return true;
  return seen.machines.every(({ look }) => look.kind !== "running" || look.etcd?.members === undefined || look.at >= wiped.since);
}

/**
 * The machine waits for etcd, or is a learner in it: by the time of the wipe it may vote, and only a graceful one takes its vote along. One whose etcd has
 * failed could not leave and would never be wiped. Nor could a learner that never votes: Talos gives up after three minutes, so what was asked in vain until
 * the deadline is asked without leaving.
 */
function mayStillJoin({ look }: SeenMachine, view: EtcdQuorum | EtcdDoubt): boolean {
  if (look.kind !== "running") return false;
  const { etcd } = look;
  // A learner is never healthy.
  const mayVote =
    view.kind === "known"
      ? view.learners.some(({ id }) => id === etcd?.localMember)
      : etcd !== undefined && (etcd.isHealthy || isLearner(etcd));
  return waitsForEtcd(etcd) || mayVote;
}

/** Control planes that are listed and no voter of etcd yet, whatever keeps them. */
function missingReplacements(assessed: Assessment, facts: ClusterFacts): readonly SeenMachine[] {
  const { seen } = assessed;
  if (facts.bootstrapDone === undefined) return [];
  const view = assessed.etcdMembership;
  if (view.kind === "unsafe") return [];
  return seen.machines.filter(({ declared }) => {
    if (declared.role !== "controlplane") return false;
    const memberId = machineFact(facts, declared.name)?.memberId;
    return !view.voters.some((voter) => voter.machine === declared.name || voter.id === memberId);
  });
}
