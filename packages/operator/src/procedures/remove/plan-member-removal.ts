import { annotations } from "@talos-operator/api";
import { machineFact, withDecisions, withIntent } from "../../record/facts.ts";
import { controlPlaneSlot } from "../../disruption/control-plane-slot.ts";
import { besideFull, projectWithout } from "../../assess/quorum.ts";
import { closed, isShown, LATE_MS, listed, memberOf, waits } from "./removal.ts";
import { memberHeld } from "./removal-held.ts";
import { isMadeAnew, isOnlyReported } from "../../observe/reported-machines.ts";
import { mayAskAgain } from "../../effects/define.ts";
import { removeMember as removal } from "../../effects/remove-member.ts";
import type { Action } from "../../model/effect.ts";
import type { MachineName } from "../../model/machine.ts";
import type { Observed } from "../../model/observation.ts";
import type { ClusterFacts, IntentFact, MachineFact } from "../../model/record.ts";
import type { EtcdQuorum } from "../../model/etcd.ts";
import type { Removal, RemovalStep } from "../../model/plans.ts";
import type { Assessment } from "../../model/assessment.ts";

/** Until when the removal of a member may take effect. Milliseconds. */
const REMOVAL_TAKES_MS = 60_000;

/** Removes the member of a machine that is gone, or says why not. */
export function removeMember(assessed: Assessment, facts: ClusterFacts, fact: MachineFact): RemovalStep {
  const { seen } = assessed;
  const say = (reason: Removal["reason"], message: string): RemovalStep => ({
    facts,
    actions: [],
    removals: [waits(fact, reason, message)],
  });
  if (seen.unknownMode !== undefined)
    return say(
      "ConfirmationRequired",
      `The annotation ${annotations.reconcileMode} says ${JSON.stringify(seen.unknownMode)}, which is no known value, so no member of etcd is removed. Correct or remove it.`,
    );
  const view = besideFull(assessed.etcdMembership);
  if (view.kind === "unsafe")
    return say("WaitingForQuorum", `The member of ${fact.name} is removed once etcd's other members agree: ${view.message}.`);
  const member = memberOf(seen, view.members, facts, fact);
  if (member === undefined) return { facts, actions: [], removals: [] };
  const slot = controlPlaneSlot(assessed, facts, { machine: fact.name, why: "replace", member: member.id });
  if (slot.kind === "held") return { facts, actions: [], removals: [memberHeld(fact, slot.holder)] };
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
    message: `Member ${member.id} of ${fact.name} is to be removed: no spec lists the machine, it does not answer, and ${projectWithout(view, member.id, "leaves").message}.`,
  });
  return { ...pursueRemoval(assessed, next, intent), facts: next };
}

/** Goes on with the removal of a member until the others list it no more. */
export function pursueRemoval(assessed: Assessment, facts: ClusterFacts, intent: IntentFact): RemovalStep {
  const { seen } = assessed;
  const fact = machineFact(facts, intent.machine);
  const { memberId } = intent;
  if (fact === undefined || memberId === undefined) return closed(seen, facts, intent, "Gone", `${intent.machine} is not known any more.`);
  const say = (reason: Removal["reason"], message: string): RemovalStep => ({
    facts,
    actions: [],
    removals: [waits(fact, reason, message)],
  });
  const view = besideFull(assessed.etcdMembership);
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
  const slot = controlPlaneSlot(assessed, facts, { machine: fact.name, why: "replace", member: memberId, under: intent });
  if (slot.kind === "held") return { facts, actions: [], removals: [memberHeld(fact, slot.holder)] };
  const via = viaOf(seen, facts, view);
  const actions: Action[] =
    via === undefined || !mayAskAgain(seen, removal, memberId) ? [] : [{ kind: "RemoveMember", machine: fact.name, memberId, via }];
  return { ...say("RemovingMember", `Member ${memberId} of ${fact.name}, which is gone, is being removed from etcd.`), actions };
}

/**
 * Whom to ask: the leader, which is a healthy member that a listed machine shows.
 *
 * @param except whose member it is
 */
export function viaOf(
  seen: Observed,
  facts: ClusterFacts,
  view: EtcdQuorum,
  except?: MachineName,
): Extract<Action, { readonly kind: "RemoveMember" }>["via"] | undefined {
  const healthy = view.voters.filter((voter) => voter.isHealthy && voter.machine !== undefined && voter.machine !== except);
  const voter = healthy.find(({ id }) => id === view.leader) ?? healthy[0];
  const machine = [...seen.machines, ...seen.former].find(({ declared }) => declared.name === voter?.machine);
  if (machine === undefined) return undefined;
  const { name, address } = machine.declared;
  return { machine: name, address, ifUuid: machineFact(facts, name)?.uuid ?? "" };
}

/**
 * Machines that were released and of which etcd still has a member that no machine shows. Where the record was made anew after such a machine had been seen for the
 * last time, its address alone says which one that is.
 */
export function ghostsOf(assessed: Assessment, facts: ClusterFacts): readonly MachineFact[] {
  const { seen } = assessed;
  const wasTold = (fact: MachineFact): boolean =>
    isMadeAnew(facts) && fact.role === "controlplane" && isOnlyReported({ ...fact, releasedAt: undefined });
  // A machine that was taken in again has a member of its own, and a fact that is not released.
  const released = facts.machines.filter((fact) => fact.releasedAt !== undefined && (fact.memberId !== undefined || wasTold(fact)));
  if (released.length === 0) return [];
  const view = besideFull(assessed.etcdMembership);
  if (view.kind === "unsafe") return [];
  return released.filter((fact) => {
    const memberId = fact.memberId ?? memberOf(seen, view.members, facts, fact)?.id;
    return memberId !== undefined && listed(view, memberId) && !isShown(seen, memberId);
  });
}
