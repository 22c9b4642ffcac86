import { annotations } from "@talos-operator/api";
import { controlPlaneSlot } from "../../disruption/control-plane-slot.ts";
import { heldWords } from "../../disruption/slot-words.ts";
import { controlPlanesOf, keepsOldData, stoppedWithoutData } from "../../assess/etcd-view.ts";
import { BY_LEADER, isMinority, nextOf, NO_MAJORITY } from "../../assess/corrupt.ts";
import { despiteAlarms } from "../../assess/quorum.ts";
import { elapsedMs } from "../../elapsed.ts";
import { always, mayAskAgain, pauseLeftMs } from "../../effects/define.ts";
import { rejoinEtcd } from "../../effects/rejoin-etcd.ts";
import { replaceMember } from "../../effects/replace-member.ts";
import { controlPlaneIntent, machineFact, withDecisions, withIntent, withoutIntent } from "../../record/facts.ts";
import { joinsItself } from "../bootstrap/endpoint-founder.ts";
import { isContainer } from "../remove/container-end.ts";
import { LATE_MS, listed } from "../remove/removal.ts";
import type { Action } from "../../model/effect.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { SeenMachine } from "../../model/observation.ts";
import type { EtcdVoter } from "../../model/etcd.ts";
import type { CareStep } from "../../model/plans.ts";
import type { ClusterFacts, IntentFact } from "../../model/record.ts";

/** From the wish to replace a member until it has joined anew: it leaves, its machine boots, and it takes the data of the others. Milliseconds. */
const REPLACEMENT_TAKES_MS = 20 * 60_000;

/** Between leaving and empty data: etcd is stopped meanwhile. Milliseconds. */
const EMPTIED_WITHIN_MS = 120_000;

/** An effect that replaces a member with wrong data. */
export type ReplacementIntent = IntentFact & { readonly what: "ReplaceMember" };

export function isReplacement(intent: IntentFact | undefined): intent is ReplacementIntent {
  return intent?.what === "ReplaceMember";
}

/**
 * Replaces members whose data are not those of the majority, one at a time: after a snapshot of another member it leaves etcd, which empties its data, and its
 * machine boots, whereupon it joins anew. Only where the healthy voters that no alarm names are a majority, of three voters at least. `undefined` = nothing is to be
 * replaced, or nobody can say what.
 */
export function planReplacement(assessed: Assessment, facts: ClusterFacts): CareStep | undefined {
  const open = controlPlaneIntent(facts);
  if (isReplacement(open)) return pursue(assessed, facts, open);
  const { seen, etcdMembership: view } = assessed;
  if (view.kind === "known" || view.corrupt === undefined || seen.controlPlane.metadata.deletionTimestamp !== undefined) return undefined;
  const person = (says: string): CareStep => ({ facts, actions: [], says, needsPerson: true });
  if (view.corrupt.isByLeader === true) return person(BY_LEADER);
  const voter = nextOf(view.corrupt);
  if (voter === undefined || !isMinority(view.corrupt)) return person(NO_MAJORITY);
  const machine = controlPlanesOf(seen).find(({ declared }) => declared.name === voter.machine);
  if (machine === undefined) return person(whoIsAway(voter, facts));
  const { name } = machine.declared;
  if (isContainer(machine.look, machineFact(facts, name)))
    return person(
      `${name} is a container, which only a person restarts. Have it leave etcd (talosctl etcd leave), which empties its data, and start it again as it is`,
    );
  if (joinsItself(seen, facts, machine))
    return person(
      `the endpoint is the address of ${name}, which without discovery would wait for itself instead of joining. Replace it by hand`,
    );
  if (seen.held?.has(name) === true)
    return person(`${name} is to be replaced, and is paused by its annotation ${annotations.reconcileMode}`);
  if (seen.unknownMode !== undefined)
    return person(
      `${name} is to be replaced, and the annotation ${annotations.reconcileMode} says ${JSON.stringify(seen.unknownMode)}, which is no known value: correct or remove it`,
    );
  const slot = controlPlaneSlot(assessed, facts, { machine: name, why: "renew", member: voter.id });
  if (slot.kind === "granted") return begin(assessed, facts, machine, voter.id);
  const take = slot.holder.kind === "before-risk" ? slot.holder.snapshot.take : undefined;
  return {
    facts,
    actions: take === undefined ? [] : [{ kind: "TakeSnapshot", ...take }],
    says: `${name} is replaced later: ${heldWords(slot.holder)}`,
    needsPerson: false,
  };
}

/** An alarm of a member stays after its machine went silent. */
function whoIsAway({ id }: EtcdVoter, facts: ClusterFacts): string {
  const name = facts.machines.find(({ memberId }) => memberId === id)?.name;
  const whose = name === undefined ? "" : `, which is that of ${name}`;
  return `no machine that answers has member ${id}${whose}: bring it back, or remove its member by hand`;
}

function begin(assessed: Assessment, facts: ClusterFacts, { declared: { name, address } }: SeenMachine, memberId: string): CareStep {
  const { now } = assessed.seen;
  const why = "Its data are not those of the other members (CORRUPT).";
  const intent: ReplacementIntent = {
    what: "ReplaceMember",
    role: "controlplane",
    machine: name,
    address,
    uuid: machineFact(facts, name)?.uuid ?? "",
    memberId,
    at: now,
    deadline: now + REPLACEMENT_TAKES_MS,
    why,
  };
  const next = withDecisions(withIntent(facts, intent), {
    at: now,
    action: "ReplaceMember",
    reason: "DataCorrupt",
    machine: name,
    message: `Member ${memberId} of ${name} is to leave etcd and to join anew: ${why}${assessed.beforeRisk === undefined ? "" : ` ${assessed.beforeRisk.message}`}`,
  });
  return { ...pursue(assessed, next, intent), facts: next };
}

/** Goes on with a replacement until the machine has a member anew. */
function pursue(assessed: Assessment, facts: ClusterFacts, intent: ReplacementIntent): CareStep {
  const { seen, etcdMembership } = assessed;
  const { machine: name, memberId = "", deadline } = intent;
  const machine = controlPlanesOf(seen).find(({ declared }) => declared.name === name);
  const end = (reason: string, message: string): CareStep => ({
    facts: withDecisions(withoutIntent(facts, name, "ReplaceMember"), {
      at: seen.now,
      action: "CloseReplaceMember",
      reason,
      machine: name,
      message,
    }),
    actions: [],
    says: `${name} is being replaced`,
    needsPerson: false,
  });
  if (seen.controlPlane.metadata.deletionTimestamp !== undefined || machine === undefined)
    return end("Gone", `${name} leaves the cluster.`);
  const isLate = seen.now >= deadline + LATE_MS;
  const waits = (says: string, actions: readonly Action[] = []): CareStep => ({ facts, actions, says, needsPerson: false });
  const view = despiteAlarms(etcdMembership);
  if (view.kind === "unsafe")
    return isLate
      ? end("NotSeen", `Nothing was seen of the replacement of ${name} in time.`)
      : waits(`${name} is being replaced, and the others do not agree just now: ${view.message}`);
  const target = { machine: name, address: intent.address, ifUuid: intent.uuid };
  const etcd = machine.look.kind === "running" ? machine.look.etcd : undefined;
  if (listed(view, memberId)) {
    if (isLate) return end("StillListed", `Member ${memberId} of ${name} did not leave etcd in time.`);
    const isWrong = etcdMembership.kind === "unsafe" && etcdMembership.corrupt?.members.includes(memberId) === true;
    const may =
      isWrong &&
      isMinority(etcdMembership.corrupt) &&
      etcd?.localMember === memberId &&
      seen.now < deadline &&
      seen.unknownMode === undefined &&
      mayAskAgain(seen, replaceMember, name) &&
      controlPlaneSlot(assessed, facts, { machine: name, why: "renew", member: memberId, under: intent }).kind === "granted";
    return waits(
      `${name} leaves etcd, and joins anew with the data of the others`,
      may ? [{ kind: "ReplaceMember", ...target, memberId }] : [],
    );
  }
  if (etcd?.localMember !== undefined && listed(view, etcd.localMember))
    return end("Joined", `${name} has joined etcd anew, as member ${etcd.localMember}.`);
  if (!seen.machines.includes(machine)) return end("Left", `${name} has left etcd, and leaves the cluster.`);
  if (seen.now >= deadline) return end("NotBack", `${name} has left etcd, and has not joined anew in time.`);
  const isSettled =
    pauseLeftMs(seen, replaceMember, name, always(EMPTIED_WITHIN_MS)) === 0 && elapsedMs(intent.at, seen.now) > EMPTIED_WITHIN_MS;
  if (etcd !== undefined && keepsOldData(etcd) && isSettled)
    return end("KeptItsData", `${name} has left etcd, and still has data with which it never joins.`);
  const mayBoot = stoppedWithoutData(etcd) && seen.mayDisturb && seen.unknownMode === undefined && mayAskAgain(seen, rejoinEtcd, name);
  return waits(
    `${name} has left etcd, and boots to join anew with the data of the others`,
    mayBoot ? [{ kind: "RejoinEtcd", ...target }] : [],
  );
}
