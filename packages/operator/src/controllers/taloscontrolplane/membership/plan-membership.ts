import { annotations, rfc3339 } from "@talos-operator/api";
import { stateOf } from "../conditions/describe.ts";
import { readyToDisturb } from "./drain.ts";
import { waitsForEtcd } from "./etcd-view.ts";
import { controlPlaneIntent, machineFact, withDecisions, withIntent, withoutIntent } from "../record/facts.ts";
import { silentForMs } from "../../../looking/look.ts";
import type { ClusterFacts, IntentFact, MachineFact } from "../record/facts.ts";
import { wordFor } from "./identity.ts";
import type { Action, Observed, SeenMachine } from "../model.ts";
import { planWorkerRemovals } from "./plan-worker-removals.ts";
import { etcdMembership, etcdQuorum, projectWithout } from "./quorum.ts";
import type { EtcdQuorum } from "./quorum.ts";
import {
  configMayArriveUntil,
  isAbandoned,
  isShownBy,
  isWiped,
  LATE_MS,
  leaversOf,
  mayAskAgain,
  memberOf,
  released,
  resetIntent,
  unreachable,
  waits,
  wipeForbidden,
} from "./removal.ts";
import type { Leaver, Removal, RemovalStep } from "./removal.ts";

/** Until when the removal of a member may take effect. Milliseconds. */
const REMOVAL_TAKES_MS = 60_000;

/** A machine that nobody lists any more counts as gone after so long without an answer; until then it may only be rebooting. Milliseconds. */
const SILENT_GRACE_MS = 60_000;

/**
 * Plans how machines leave a cluster that stays. At most one control plane is under way, and none while it would cost the quorum:
 *
 * 1. whoever stands in the record with an open intent comes first;
 * 2. what answers in maintenance mode is let go, once etcd lists no member of it;
 * 3. the member of a machine that is gone is removed, so that a replacement can join;
 * 4. a control plane that runs is reset gracefully after every listed one has joined and leads no more.
 *
 * Workers leave beside that, within the budget of their pool.
 */
export function planMembership(seen: Observed, facts: ClusterFacts): RemovalStep {
  const given = abandon(seen, facts);
  if (given !== undefined) return given;
  const controlPlanes = planControlPlane(seen, facts);
  const workers = planWorkerRemovals(seen, controlPlanes.facts);
  return {
    facts: workers.facts,
    actions: [...controlPlanes.actions, ...workers.actions],
    removals: [...controlPlanes.removals, ...workers.removals],
  };
}

/** A person's word lets a machine go without proof of a wipe. */
function abandon(seen: Observed, facts: ClusterFacts): RemovalStep | undefined {
  const leaver = [...leaversOf(seen, facts, "controlplane"), ...leaversOf(seen, facts, "worker")].find(({ fact }) =>
    isAbandoned(seen, facts, fact.name),
  );
  if (leaver === undefined) return undefined;
  const { fact } = leaver;
  const word = wordFor(facts, fact.name, undefined);
  const answer = `${fact.name} is let go without proof of a wipe, as ${annotations.abandonMachine} said; the annotation acts once and is removed.`;
  return {
    facts: released(seen, facts, fact, "AbandonedByPerson", `${fact.name} is let go without proof of a wipe.`),
    actions: [{ kind: "AnswerAnnotation", annotation: annotations.abandonMachine, value: word, answer }],
    removals: [],
  };
}

function planControlPlane(seen: Observed, facts: ClusterFacts): RemovalStep {
  const open = controlPlaneIntent(facts);
  if (open?.what === "Reset") return pursueReset(seen, facts, open);
  if (open?.what === "RemoveMember") return pursueRemoval(seen, facts, open);
  const leavers = leaversOf(seen, facts, "controlplane");
  if (leavers.length === 0 && ghostsOf(seen, facts).length === 0) return nothing(facts);
  if (open !== undefined) {
    const said = leavers.map(({ fact }) =>
      waits(fact, "WaitingForTurn", `${fact.name} leaves after ${open.machine} is done (${open.what}).`),
    );
    return { facts, actions: [], removals: said };
  }
  return choose(seen, facts, leavers);
}

/** Nothing is under way: who leaves next, and what keeps the others. */
function choose(seen: Observed, facts: ClusterFacts, leavers: readonly Leaver[]): RemovalStep {
  const wiped = leavers.find(
    (leaver) => isWiped(leaver) && memberListed(seen, facts, leaver.fact) === false && configMayArriveUntil(seen, leaver) === undefined,
  );
  if (wiped !== undefined)
    return {
      facts: released(
        seen,
        facts,
        wiped.fact,
        "AnswersInMaintenance",
        `${wiped.fact.name} answers in maintenance mode and is no member of etcd.`,
      ),
      actions: [],
      removals: [],
    };
  const steps = [
    ...ghostsOf(seen, facts).map((fact) => () => removeMember(seen, facts, fact)),
    ...leavers
      .filter((leaver) => isGone(leaver))
      .map(
        ({ fact }) =>
          () =>
            removeMember(seen, facts, fact),
      ),
    ...ordered(seen, leavers).map((leaver) => () => beginReset(seen, facts, leaver)),
  ];
  const removals: Removal[] = leavers
    .filter((leaver) => isGone(leaver) && memberListed(seen, facts, leaver.fact) === false)
    .map(({ machine, fact }) => unreachable(facts, machine, fact));
  for (const leaver of leavers) {
    const until = configMayArriveUntil(seen, leaver);
    if (until === undefined) continue;
    const { name } = leaver.fact;
    const message = `${name} waits in maintenance mode with the key that a configuration was sent to, which may still arrive; it is let go at ${rfc3339(until)}, or wiped when it takes it.`;
    removals.push(waits(leaver.fact, "Resetting", message));
  }
  for (const step of steps) {
    const { facts: next, actions, removals: said } = step();
    removals.push(...said);
    // One node is drained at a time.
    if (actions.length === 0 && said.some(({ reason }) => reason === "Draining")) break;
    // The first that can be done is done; what is in the way of one is often in the way of all.
    if (next !== facts || actions.length > 0) return { facts: next, actions, removals };
  }
  return { facts, actions: [], removals };
}

/** Running control planes that leave: those without a member first, the leader last, then by name so that the same one is chosen again. */
function ordered(seen: Observed, leavers: readonly Leaver[]): readonly Leaver[] {
  const view = etcdMembership(seen);
  const weight = ({ machine: { look } }: Leaver): number => {
    const member = look.kind === "running" ? look.etcd?.localMember : undefined;
    if (view.kind === "unsafe" || member === undefined) return 1;
    const voter = view.voters.find(({ id }) => id === member);
    return voter === undefined ? 0 : view.leader === member ? 3 : voter.isHealthy ? 2 : 1;
  };
  return leavers
    .filter((leaver) => leaver.machine.look.kind === "running")
    .toSorted((a, b) => weight(a) - weight(b) || (a.fact.name < b.fact.name ? -1 : 1));
}

/** Writes down that a running control plane is wiped, and sends it in the same pass when nothing else has to come first. */
function beginReset(seen: Observed, facts: ClusterFacts, leaver: Leaver): RemovalStep {
  const { machine, fact } = leaver;
  const say = (reason: Removal["reason"], message: string): RemovalStep => ({
    facts,
    actions: [],
    removals: [waits(fact, reason, message)],
  });
  const forbidden = wipeForbidden(seen, leaver);
  if (forbidden !== undefined) return say("ConfirmationRequired", forbidden);
  if (!seen.mayDisturb)
    return say("WaitingForTurn", `${fact.name} leaves; this operator just took over, and effects of the one before may still take place.`);
  // One without a vote is missed by nobody, and etcd lets nobody in beside a learner: its replacement would wait for it, and it for its replacement.
  const missing = hasNoVote(seen, machine) ? [] : missingReplacements(seen, facts);
  if (missing.length > 0)
    return say(
      "WaitingForReplacement",
      `${fact.name} leaves after every listed control plane has joined etcd; missing: ${missing.map((one) => `${one.declared.name} (${stateOf(one)})`).join(", ")}. Boot it, or take it out of the list.`,
    );
  const hindrance = resetHindrance(seen, facts, leaver);
  if (hindrance !== undefined) return say("WaitingForQuorum", hindrance);
  const drain = readyToDisturb(seen, machine.declared.name);
  if (drain.kind !== "ready")
    return { facts, actions: drain.kind === "act" ? drain.actions : [], removals: [waits(fact, "Draining", drain.message)] };
  const intent = resetIntent(seen, leaver, "The spec no longer lists this control plane.");
  const next = withDecisions(withIntent(facts, intent), {
    at: seen.now,
    action: "Reset",
    reason: "NotListed",
    machine: fact.name,
    message: `${fact.name} is to leave etcd and be wiped: no spec lists it any more, and etcd keeps its quorum without it.`,
  });
  return { ...pursueReset(seen, next, intent), facts: next };
}

/** The machine tells that it is a learner, or no member at all, and etcd's voters agree. */
function hasNoVote(seen: Observed, { look }: SeenMachine): boolean {
  const member = look.kind === "running" ? look.etcd?.localMember : undefined;
  const view = etcdMembership(seen);
  return member !== undefined && view.kind === "known" && !view.voters.some(({ id }) => id === member);
}

/** Why a control plane must not be reset now, or `undefined`. */
function resetHindrance(seen: Observed, facts: ClusterFacts, { machine, fact }: Leaver): string | undefined {
  if (facts.bootstrapDone === undefined) {
    const isIdle = machine.look.kind === "running" && waitsForEtcd(machine.look.etcd);
    if (isIdle && facts.bootstrapIntent === undefined) return undefined;
    return `${fact.name} leaves once it is known that it holds no etcd data: etcd is not founded yet.`;
  }
  const member = machine.look.kind === "running" ? machine.look.etcd?.localMember : undefined;
  const all = etcdMembership(seen);
  if (all.kind === "unsafe") return `${fact.name} leaves once etcd's members agree: ${all.message}.`;
  if (member === undefined) return `${fact.name} does not tell which member of etcd is its own; it is looked at again.`;
  if (!all.voters.some(({ id }) => id === member)) return undefined;
  const view = etcdQuorum(seen);
  if (view.kind === "unsafe") return `${fact.name} leaves once etcd is settled: ${view.message}.`;
  const projection = projectWithout(view, member, "leaves");
  return projection.isSafe
    ? undefined
    : `${fact.name} stays, for etcd would lose its quorum without it: ${projection.message}. Bring back the control planes that are missing.`;
}

/** Goes on with a reset that stands in the record, until the machine is proved wiped and no member any more. */
function pursueReset(seen: Observed, facts: ClusterFacts, intent: IntentFact): RemovalStep {
  const fact = machineFact(facts, intent.machine);
  const machine = [...seen.former, ...seen.machines].find(({ declared }) => declared.name === intent.machine);
  if (fact === undefined || machine === undefined || fact.releasedAt !== undefined)
    return closed(seen, facts, intent, "Gone", `${intent.machine} is not looked at any more.`);
  const leaver = { machine, fact };
  const busy = (message: string): RemovalStep => ({ facts, actions: [], removals: [waits(fact, "Resetting", message)] });
  if (isWiped(leaver)) {
    const isListed = memberListed(seen, facts, fact);
    if (isListed === undefined)
      return {
        facts,
        actions: [],
        removals: [
          waits(fact, "WaitingForQuorum", `${fact.name} is wiped; it is let go once etcd's members agree that it is none of them.`),
        ],
      };
    if (isListed) return closed(seen, facts, intent, "StillListed", `${fact.name} is wiped, and etcd still lists its member.`);
    return {
      facts: released(seen, facts, fact, "AnswersInMaintenance", `${fact.name} answers in maintenance mode and is no member of etcd.`),
      actions: [],
      removals: [],
    };
  }
  const isLeaving = seen.former.includes(machine);
  if (machine.look.kind !== "running") {
    if (seen.now < intent.deadline) return busy(`${fact.name} is being wiped; it is let go once it answers in maintenance mode.`);
    return closed(seen, facts, intent, "Silent", `${fact.name} was to be wiped and does not answer any more.`);
  }
  if (machine.look.stage === "resetting" && seen.now < intent.deadline)
    return busy(`${fact.name} is being wiped; it is let go once it answers in maintenance mode.`);
  if (!isLeaving) {
    // It was sent, or not: what may still come must not meet another control plane that is disturbed.
    if (seen.now < intent.deadline + LATE_MS) return busy(`${fact.name} is listed again; its reset may have been sent and is waited for.`);
    return closed(seen, facts, intent, "ListedAgain", `${fact.name} is listed again, and its reset did not take place.`);
  }
  const forbidden = wipeForbidden(seen, leaver);
  if (forbidden !== undefined) return { facts, actions: [], removals: [waits(fact, "ConfirmationRequired", forbidden)] };
  const hindrance = resetHindrance(seen, facts, leaver);
  if (hindrance !== undefined) return { facts, actions: [], removals: [waits(fact, "WaitingForQuorum", hindrance)] };
  const target = { machine: fact.name, address: intent.address, ifUuid: intent.uuid };
  const view = etcdQuorum(seen);
  const member = machine.look.etcd?.localMember;
  const isVoter = view.kind === "known" && view.voters.some(({ id }) => id === member);
  if (view.kind === "known" && isVoter && view.voters.length > 1 && view.leader === member) {
    const actions: Action[] =
      mayAskAgain(seen, `ForfeitLeadership/${fact.name}`) && seen.mayDisturb ? [{ kind: "ForfeitLeadership", ...target }] : [];
    return { facts, actions, removals: [waits(fact, "Resetting", `${fact.name} hands the leadership of etcd over before it leaves.`)] };
  }
  const how = isVoter
    ? ({ isGraceful: true, leavesEtcd: true, ifUnlisted: "voter" } as const)
    : facts.bootstrapDone === undefined
      ? ({ ifUnlisted: "no-etcd" } as const)
      : ({ isGraceful: mayStillJoin(machine, view), ifUnlisted: "no-voter" } as const);
  const actions: Action[] = mayAskAgain(seen, `Reset/${fact.name}`) && seen.mayDisturb ? [{ kind: "ResetMachine", ...target, ...how }] : [];
  // What is sent now has its own time to take place: by the old deadline its silence would count as that of a machine that failed.
  if (actions.length > 0 && seen.now >= intent.deadline) {
    const { recorded: _recorded, ...rest } = intent;
    const renewed = withIntent(withoutIntent(facts, fact.name), { ...rest, deadline: resetIntent(seen, leaver, intent.why).deadline });
    return { ...busy(`${fact.name} leaves etcd and is wiped; it is let go once it answers in maintenance mode.`), facts: renewed, actions };
  }
  return { ...busy(`${fact.name} leaves etcd and is wiped; it is let go once it answers in maintenance mode.`), actions };
}

/**
 * The machine waits for etcd, or is a learner in it: by the time of the wipe it may vote, and only a graceful one takes its vote along. One whose etcd has
 * failed could not leave and would never be wiped.
 */
function mayStillJoin({ look }: SeenMachine, view: ReturnType<typeof etcdQuorum>): boolean {
  if (look.kind !== "running") return false;
  const isLearner = view.kind === "known" ? view.learners.some(({ id }) => id === look.etcd?.localMember) : look.etcd?.isHealthy === true;
  return waitsForEtcd(look.etcd) || isLearner;
}

/** Removes the member of a machine that is gone, or says why not. */
function removeMember(seen: Observed, facts: ClusterFacts, fact: MachineFact): RemovalStep {
  const say = (reason: Removal["reason"], message: string): RemovalStep => ({
    facts,
    actions: [],
    removals: [waits(fact, reason, message)],
  });
  if (seen.unknownMode !== undefined)
    return say(
      "ConfirmationRequired",
      `The annotation reconcile-mode says ${JSON.stringify(seen.unknownMode)}, which is no known word, so no member of etcd is removed. Correct or remove it.`,
    );
  const view = etcdMembership(seen);
  if (view.kind === "unsafe")
    return say("WaitingForQuorum", `The member of ${fact.name} is removed once etcd's other members agree: ${view.message}.`);
  const member = memberOf(seen, view.members, facts, fact);
  if (member === undefined) return { facts, actions: [], removals: [] };
  if (!seen.mayDisturb) return say("WaitingForTurn", `The member of ${fact.name} is removed soon; this operator just took over.`);
  const projection = projectWithout(view, member.id, "leaves");
  if (!projection.isSafe) return say("WaitingForQuorum", `The member of ${fact.name} stays listed: ${projection.message}.`);
  const intent: IntentFact = {
    what: "RemoveMember",
    role: "controlplane",
    machine: fact.name,
    address: fact.address,
    uuid: fact.uuid,
    memberId: member.id,
    at: seen.now,
    deadline: seen.now + REMOVAL_TAKES_MS,
    why: "The spec no longer lists this control plane, and it does not answer.",
  };
  const next = withDecisions(withIntent(facts, intent), {
    at: seen.now,
    action: "RemoveMember",
    reason: "NotListed",
    machine: fact.name,
    message: `Member ${member.id} of ${fact.name} is to be removed: no spec lists the machine, it does not answer, and ${projection.message}.`,
  });
  return { ...pursueRemoval(seen, next, intent), facts: next };
}

/** Goes on with the removal of a member until the others list it no more. */
function pursueRemoval(seen: Observed, facts: ClusterFacts, intent: IntentFact): RemovalStep {
  const fact = machineFact(facts, intent.machine);
  const { memberId } = intent;
  if (fact === undefined || memberId === undefined) return closed(seen, facts, intent, "Gone", `${intent.machine} is not known any more.`);
  const say = (reason: Removal["reason"], message: string): RemovalStep => ({
    facts,
    actions: [],
    removals: [waits(fact, reason, message)],
  });
  const view = etcdMembership(seen);
  if (view.kind === "unsafe")
    return say("WaitingForQuorum", `The member of ${fact.name} is removed once etcd's other members agree: ${view.message}.`);
  if (!listed(view, memberId))
    return closed(seen, facts, intent, "NotListedByEtcd", `etcd does not list member ${memberId} of ${fact.name} any more.`);
  if (seen.machines.some(({ declared }) => declared.name === fact.name) || isShown(seen, memberId)) {
    // It is back, or wanted again: it stays. What was sent may still take effect, and is waited for.
    if (seen.now < intent.deadline + LATE_MS)
      return say("RemovingMember", `${fact.name} is back or listed again; its member stays unless the removal was sent already.`);
    return closed(seen, facts, intent, "Back", `${fact.name} is back or listed again, and its member was not removed.`);
  }
  const projection = projectWithout(view, memberId, "leaves");
  if (!projection.isSafe) return say("WaitingForQuorum", `The member of ${fact.name} stays listed: ${projection.message}.`);
  const via = viaOf(seen, facts, view);
  const actions: Action[] =
    via === undefined || !seen.mayDisturb || !mayAskAgain(seen, `RemoveMember/${memberId}`)
      ? []
      : [{ kind: "RemoveMember", machine: fact.name, memberId, via }];
  return { ...say("RemovingMember", `Member ${memberId} of ${fact.name}, which is gone, is being removed from etcd.`), actions };
}

/** Whom to ask: the leader, which is a healthy member that a listed machine shows. */
function viaOf(
  seen: Observed,
  facts: ClusterFacts,
  view: EtcdQuorum,
): Extract<Action, { readonly kind: "RemoveMember" }>["via"] | undefined {
  const healthy = view.voters.filter((voter) => voter.isHealthy && voter.machine !== undefined);
  const voter = healthy.find(({ id }) => id === view.leader) ?? healthy[0];
  const machine = [...seen.machines, ...seen.former].find(({ declared }) => declared.name === voter?.machine);
  if (machine === undefined) return undefined;
  const { name, address } = machine.declared;
  return { machine: name, address, ifUuid: machineFact(facts, name)?.uuid ?? "" };
}

/** Machines that were let go and of which etcd still has a member that no machine shows. */
function ghostsOf(seen: Observed, facts: ClusterFacts): readonly MachineFact[] {
  // A machine that was taken in again has a member of its own, and a fact that is not released.
  const released = facts.machines.filter((fact) => fact.releasedAt !== undefined && fact.memberId !== undefined);
  if (released.length === 0) return [];
  const view = etcdMembership(seen);
  if (view.kind === "unsafe") return [];
  return released.filter(({ memberId = "" }) => listed(view, memberId) && !isShown(seen, memberId));
}

/** Nobody answers as this machine, and it is not only rebooting. */
function isGone(leaver: Leaver): boolean {
  const { look } = leaver.machine;
  if (look.kind === "running" || look.kind === "not-asked") return false;
  if (look.kind === "silent") return silentForMs(look) >= SILENT_GRACE_MS;
  return true;
}

/** Control planes that are listed and no voter of etcd yet, whatever keeps them. */
function missingReplacements(seen: Observed, facts: ClusterFacts): readonly SeenMachine[] {
  if (facts.bootstrapDone === undefined) return [];
  const view = etcdMembership(seen);
  if (view.kind === "unsafe") return [];
  return seen.machines.filter(({ declared }) => {
    if (declared.role !== "controlplane") return false;
    const memberId = machineFact(facts, declared.name)?.memberId;
    return !view.voters.some((voter) => voter.machine === declared.name || voter.id === memberId);
  });
}

/** Whether etcd lists a member of this machine; `undefined` when nobody can say. Before etcd is founded there is none. */
function memberListed(seen: Observed, facts: ClusterFacts, fact: MachineFact): boolean | undefined {
  if (facts.bootstrapDone === undefined) return false;
  const view = etcdMembership(seen);
  return view.kind === "unsafe" ? undefined : memberOf(seen, view.members, facts, fact) !== undefined;
}

function listed(view: EtcdQuorum, memberId: string): boolean {
  return view.members.some(({ id }) => id === memberId);
}

/** A machine that answers shows this member as its own. */
function isShown(seen: Observed, memberId: string): boolean {
  return [...seen.machines, ...seen.former].some(({ look }) => isShownBy(look, memberId));
}

function closed(seen: Observed, facts: ClusterFacts, intent: IntentFact, reason: string, message: string): RemovalStep {
  const next = withDecisions(withoutIntent(facts, intent.machine), {
    at: seen.now,
    action: `Close${intent.what}`,
    reason,
    machine: intent.machine,
    message,
  });
  return { facts: next, actions: [], removals: [] };
}

function nothing(facts: ClusterFacts): RemovalStep {
  return { facts, actions: [], removals: [] };
}
