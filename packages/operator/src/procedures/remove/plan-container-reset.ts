import { waitsForEtcd } from "../../assess/etcd-view.ts";
import { controlPlaneSlot } from "../../disruption/control-plane-slot.ts";
import { withIntent, withoutIntent } from "../../record/facts.ts";
import { endOfContainer, KEEPS_VOLUMES, withStop, wordsOfEnd, wordsOfStop } from "./container-end.ts";
import { viaOf } from "./plan-member-removal.ts";
import { memberHeld, resetHeld } from "./removal-held.ts";
import { closed, listed, memberOf, released, resetIntent, waits } from "./removal.ts";
import { mayAskAgain } from "../../effects/define.ts";
import { forfeitLeadership } from "../../effects/forfeit-leadership.ts";
import { leaveEtcd } from "../../effects/leave-etcd.ts";
import { removeMember } from "../../effects/remove-member.ts";
import { resetMachine } from "../../effects/reset-machine.ts";
import type { Leaver } from "./removal.ts";
import type { EtcdMember } from "../../model/look.ts";
import type { Action } from "../../model/effect.ts";
import type { Observed } from "../../model/observation.ts";
import type { ClusterFacts, IntentFact } from "../../model/record.ts";
import type { EtcdQuorum } from "../../model/etcd.ts";
import type { Removal, RemovalStep } from "../../model/plans.ts";
import type { Assessment } from "../../model/assessment.ts";

/** Before the bootstrap there is nobody to be listed by. */
const NO_ETCD: EtcdQuorum = { kind: "known", members: [], voters: [], learners: [], leader: "0", healthy: 0, needed: 1 };

/**
 * Goes on with the reset of a control plane in a container, which Talos only stops: etcd would keep its member, and of two voters the other one would lose its
 * quorum for good.
 *
 * ```
 * runs, votes ──LeaveEtcd──► off the list of the others ──Reset──► stopped: released
 *   │  └─ cannot leave (ill, a learner, asked in vain) ──RemoveMember, by another──┘
 * stopped, still listed ──RemoveMember, by another──► released
 * runs again with its disk ──RemoveMember, by another──► released: the data of a removed member never joins again
 * ```
 * All of it under the one intent of the reset. What a call answers is no proof; the list of the others is.
 *
 * @param forbidden why nothing may be destroyed now
 * @returns `undefined` where the container runs and etcd was not bootstrapped: nothing is peculiar to it then
 */
export function pursueContainerReset(
  assessed: Assessment,
  facts: ClusterFacts,
  intent: IntentFact,
  leaver: Leaver,
  forbidden: string | undefined,
): RemovalStep | undefined {
  const { seen } = assessed;
  const { machine, fact } = leaver;
  const say = (reason: Removal["reason"], message: string, actions: readonly Action[] = [], next = facts): RemovalStep => ({
    facts: next,
    actions,
    removals: [waits(fact, reason, message)],
  });
  const { look } = machine;
  const view = facts.bootstrapDone === undefined ? NO_ETCD : assessed.etcdMembership;
  if (view === NO_ETCD && look.kind === "running") return undefined;
  if (view.kind === "unsafe")
    return say(
      "WaitingForQuorum",
      `${fact.name} leaves once etcd's members agree: ${view.message}.`,
      [],
      withStop(seen, facts, machine, intent),
    );
  const member = memberUnder(seen, facts, intent, leaver, view);
  const end = endOfContainer(seen, machine, intent);
  if (look.kind !== "running") {
    const next = withStop(seen, facts, machine, intent);
    if (end === undefined) {
      if (seen.now < intent.deadline || look.kind === "silent") return say("Resetting", wordsOfStop(fact.name, "controlplane"), [], next);
      return closed(seen, facts, intent, "Silent", `${fact.name} was to be stopped, and something else answers at its address.`);
    }
    if (member !== undefined && forbidden !== undefined) return say("ConfirmationRequired", forbidden, [], next);
    if (member !== undefined) return { ...removedByAnother(assessed, facts, intent, leaver, member, view), facts: next };
    if (!isToldSince(seen, look.kind === "silent" ? look.since : seen.now))
      return say(
        "WaitingForQuorum",
        `${fact.name} is stopped; it is released once etcd's members agree that it is none of them.`,
        [],
        next,
      );
    return { facts: released(seen, facts, fact, "Stopped", wordsOfEnd(fact.name, end)), actions: [], removals: [] };
  }
  const isBack = end === "started-again";
  if (member !== undefined) {
    const voter = view.voters.find(({ id }) => id === member.id);
    const isOver = seen.now >= intent.deadline;
    // While it leaves it is ill, and still listed by those who were looked at before.
    if (!mayAskAgain(seen, leaveEtcd, fact.name)) return say("Resetting", wordsOfLeaving(fact.name));
    if (voter?.isHealthy !== true || isBack || isOver) return removedByAnother(assessed, facts, intent, leaver, member, view);
    return leaves(assessed, facts, intent, leaver, member);
  }
  const own = look.etcd?.localMember;
  if (own === undefined)
    return say("WaitingForQuorum", `${fact.name} does not report which member of etcd is its own; it is looked at again.`);
  if (isBack) {
    // Its boot has ended when its etcd was up: until then it may still join.
    if (waitsForEtcd(look.etcd) || (look.stage !== "running" && seen.now < intent.deadline))
      return say(
        "Resetting",
        `${fact.name} was stopped by its reset, and its container was started again with its disk. It joins etcd, and is removed after that. Delete its container and its volumes.`,
      );
    return { facts: released(seen, facts, fact, "StartedAgain", wordsOfEnd(fact.name, "started-again")), actions: [], removals: [] };
  }
  if (look.stage === "resetting" && seen.now < intent.deadline) return say("Resetting", `${fact.name} is being stopped.`);
  return stops(assessed, facts, intent, leaver);
}

/** What has left etcd is stopped. */
function stops(assessed: Assessment, facts: ClusterFacts, intent: IntentFact, leaver: Leaver): RemovalStep {
  const { seen } = assessed;
  const { fact } = leaver;
  const target = { machine: fact.name, address: intent.address, ifUuid: intent.uuid };
  const slot = controlPlaneSlot(assessed, facts, { machine: fact.name, why: "remove", member: "none", under: intent });
  if (slot.kind === "held") return { facts, actions: [], removals: [resetHeld(fact, slot.holder)] };
  const actions: Action[] = mayAskAgain(seen, resetMachine, fact.name)
    ? [{ kind: "ResetMachine", ...target, ifUnlisted: "no-member" }]
    : [];
  const said = `${fact.name} has left etcd and is stopped; it is released when it does not answer any more: ${KEEPS_VOLUMES}.`;
  return {
    facts: actions.length > 0 ? inTime(seen, facts, leaver, intent) : facts,
    actions,
    removals: [waits(fact, "Resetting", said)],
  };
}

/** A voter that is well leaves by itself, after it has handed over the leadership, and only while etcd keeps its quorum without it. */
function leaves(assessed: Assessment, facts: ClusterFacts, intent: IntentFact, { fact }: Leaver, member: EtcdMember): RemovalStep {
  const { seen } = assessed;
  const say = (reason: Removal["reason"], message: string, actions: readonly Action[] = []): RemovalStep => ({
    facts,
    actions,
    removals: [waits(fact, reason, message)],
  });
  const slot = controlPlaneSlot(assessed, facts, { machine: fact.name, why: "remove", member: member.id, under: intent });
  if (slot.kind === "held") return { facts, actions: [], removals: [resetHeld(fact, slot.holder)] };
  const target = { machine: fact.name, address: intent.address, ifUuid: intent.uuid };
  const view = assessed.etcd;
  const effect = view.kind === "known" && view.leader === member.id ? forfeitLeadership : leaveEtcd;
  const actions: Action[] = mayAskAgain(seen, effect, fact.name) ? [{ kind: effect.kind, ...target }] : [];
  return say(
    "Resetting",
    effect === leaveEtcd ? wordsOfLeaving(fact.name) : `${fact.name} hands the leadership of etcd over before it leaves.`,
    actions,
  );
}

function wordsOfLeaving(name: string): string {
  return `${name} leaves etcd; its container is stopped when the others do not list it any more.`;
}

/** A member that does not leave by itself is removed by a healthy one. */
function removedByAnother(
  assessed: Assessment,
  facts: ClusterFacts,
  intent: IntentFact,
  { fact }: Leaver,
  member: EtcdMember,
  view: EtcdQuorum,
): RemovalStep {
  const { seen } = assessed;
  const slot = controlPlaneSlot(assessed, facts, { machine: fact.name, why: "replace", member: member.id, under: intent });
  if (slot.kind === "held") return { facts, actions: [], removals: [memberHeld(fact, slot.holder)] };
  const via = viaOf(seen, facts, view, fact.name);
  const mayAsk = via !== undefined && mayAskAgain(seen, removeMember, member.id);
  return {
    facts,
    actions: mayAsk ? [{ kind: "RemoveMember", machine: fact.name, memberId: member.id, via }] : [],
    removals: [
      waits(fact, "RemovingMember", `Member ${member.id} of ${fact.name}, which does not leave by itself, is being removed from etcd.`),
    ],
  };
}

/** The member of this machine, under whatever id: the one it shows, those that were written down, or the one at its address that is nobody else's. */
function memberUnder(
  seen: Observed,
  facts: ClusterFacts,
  intent: IntentFact,
  { machine: { look }, fact }: Leaver,
  view: EtcdQuorum,
): EtcdMember | undefined {
  const shown = look.kind === "running" ? look.etcd?.localMember : undefined;
  const known = [shown, intent.memberId].find((id) => id !== undefined && listed(view, id));
  return view.members.find(({ id }) => id === known) ?? memberOf(seen, view.members, facts, fact);
}

/** Every control plane that answers told its list of members since then. */
function isToldSince(seen: Observed, since: number): boolean {
  return seen.machines.every(({ look }) => look.kind !== "running" || look.etcd?.members === undefined || look.at >= since);
}

/** What is sent now has its own time to take place. */
function inTime(seen: Observed, facts: ClusterFacts, leaver: Leaver, intent: IntentFact): ClusterFacts {
  if (seen.now < intent.deadline) return facts;
  const { recorded: _recorded, ...rest } = intent;
  return withIntent(withoutIntent(facts, leaver.fact.name), { ...rest, deadline: resetIntent(seen, leaver, intent.why).deadline });
}
