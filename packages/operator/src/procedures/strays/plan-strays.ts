import { annotations } from "@talos-operator/api";
import { controlPlaneSlot } from "../../disruption/control-plane-slot.ts";
import { heldWords } from "../../disruption/slot-words.ts";
import { besideFull, projectWithout } from "../../assess/quorum.ts";
import { mayAskAgain } from "../../effects/define.ts";
import { removeStray } from "../../effects/remove-stray.ts";
import { controlPlaneIntent, withDecisions, withIntent, withoutIntent } from "../../record/facts.ts";
import { LATE_MS, listed } from "../remove/removal.ts";
import { viaOf } from "../remove/plan-member-removal.ts";
import type { Assessment, StrayMember } from "../../model/assessment.ts";
import type { EtcdQuorum } from "../../model/etcd.ts";
import type { EtcdMember } from "../../model/look.ts";
import type { CareStep } from "../../model/plans.ts";
import type { ClusterFacts, IntentFact } from "../../model/record.ts";

/** Until when the removal of a member may take effect. Milliseconds. */
const REMOVAL_TAKES_MS = 60_000;

/** The open removal of a member that belongs to nobody; `undefined` = there is none. */
function strayIntent(facts: ClusterFacts | undefined): IntentFact | undefined {
  const open = controlPlaneIntent(facts);
  return open?.what === "RemoveStray" ? open : undefined;
}

/**
 * Removes members of etcd that belong to no machine, one at a time: seen twice, apart in time; the others keep their quorum; and nobody may be it. It is asked
 * for through the leader, and the intent stands on the machine that is asked. `undefined` = there is none.
 */
export function planStrays(assessed: Assessment, facts: ClusterFacts): CareStep | undefined {
  const open = strayIntent(facts);
  if (open !== undefined) return pursue(assessed, facts, open);
  const { seen, strays } = assessed;
  const view = besideFull(assessed.etcdMembership);
  if (seen.controlPlane.metadata.deletionTimestamp !== undefined || view.kind === "unsafe") return undefined;
  const next = strays?.find(({ mayBeOf, isForgotten }) => mayBeOf === undefined && isForgotten !== true) ?? strays?.[0];
  if (next === undefined) return undefined;
  const step = (says: string, needsPerson: boolean): CareStep => ({
    facts,
    actions: [],
    says: `${nameOf(next.member)} ${says}`,
    needsPerson,
  });
  const kept = whyKept(assessed, next);
  if (kept !== undefined) return step(kept, true);
  if (seen.strays?.has(next.member.id) !== true)
    return step("belongs to no machine of this cluster; it is removed when that is still so in two minutes", false);
  const via = viaOf(seen, facts, view);
  if (via === undefined) return step("belongs to no machine of this cluster; it is removed when a control plane answers", false);
  if (seen.held?.has(via.machine) === true)
    return step(
      `belongs to no machine of this cluster; it is removed through ${via.machine}, which is paused by its annotation ${annotations.reconcileMode}`,
      true,
    );
  const slot = controlPlaneSlot(assessed, facts, { machine: via.machine, why: "replace", member: next.member.id });
  if (slot.kind === "held") return step(`belongs to no machine of this cluster; it is removed later: ${heldWords(slot.holder)}`, false);
  return begin(assessed, facts, view, next.member, via);
}

/** What keeps a member although nobody shows it, with what a person can do. */
function whyKept({ seen }: Assessment, { mayBeOf, isForgotten }: StrayMember): string | undefined {
  if (mayBeOf !== undefined)
    return `may be that of ${mayBeOf}, which does not report its own, so it stays: bring ${mayBeOf} back, or take it out of the list`;
  if (isForgotten === true)
    return "belongs to no machine that is known since the record was recreated, so it stays. List its machine again, or, when that is gone for good, remove it with talosctl etcd remove-member";
  if (seen.unknownMode !== undefined)
    return `belongs to no machine of this cluster, and stays while the annotation ${annotations.reconcileMode} says ${JSON.stringify(seen.unknownMode)}, which is no known value. Correct or remove it`;
  return undefined;
}

function begin(
  assessed: Assessment,
  facts: ClusterFacts,
  view: EtcdQuorum,
  member: EtcdMember,
  via: NonNullable<ReturnType<typeof viaOf>>,
): CareStep {
  const { now } = assessed.seen;
  const why = `No machine of this cluster shows member ${member.id}, and none may be it.`;
  const intent: IntentFact = {
    what: "RemoveStray",
    role: "controlplane",
    machine: via.machine,
    address: via.address,
    uuid: via.ifUuid,
    memberId: member.id,
    at: now,
    deadline: now + REMOVAL_TAKES_MS,
    why,
  };
  const next = withDecisions(withIntent(facts, intent), {
    at: now,
    action: "RemoveStray",
    reason: "NobodysMember",
    machine: via.machine,
    message: `${nameOf(member)} is to be removed through ${via.machine}: ${why} ${projectWithout(view, member.id, "leaves").message}.`,
  });
  return { ...pursue(assessed, next, intent), facts: next };
}

/** Goes on with a removal until the others list the member no more, somebody may be it after all, or nothing of it can arrive any more. */
function pursue(assessed: Assessment, facts: ClusterFacts, intent: IntentFact): CareStep {
  const { seen, strays } = assessed;
  const view = besideFull(assessed.etcdMembership);
  const { memberId = "", machine } = intent;
  const says = `member ${memberId}, which belongs to no machine, is being removed`;
  const end = (reason: string, message: string): CareStep => ({
    facts: withDecisions(withoutIntent(facts, machine, "RemoveStray"), {
      at: seen.now,
      action: "CloseRemoveStray",
      reason,
      machine,
      message,
    }),
    actions: [],
    says,
    needsPerson: false,
  });
  if (view.kind === "known" && !listed(view, memberId)) return end("NotListedByEtcd", `etcd does not list member ${memberId} any more.`);
  if (seen.now >= intent.deadline + LATE_MS) return end("NotSeen", `Member ${memberId} was not removed in time.`);
  const step = { facts, actions: [], says, needsPerson: false };
  const isStray = strays?.some(
    ({ member, mayBeOf, isForgotten }) => member.id === memberId && mayBeOf === undefined && isForgotten !== true,
  );
  // What was sent may still take effect, and is waited for.
  if (isStray !== true || seen.now > intent.deadline || seen.unknownMode !== undefined) return step;
  if (!mayAskAgain(seen, removeStray, memberId)) return step;
  if (controlPlaneSlot(assessed, facts, { machine, why: "replace", member: memberId, under: intent }).kind === "held") return step;
  return { ...step, actions: [{ kind: "RemoveStray", machine, address: intent.address, ifUuid: intent.uuid, memberId }] };
}

/** `member worker-3 (ab12…, 10.0.0.9)`, as people find it again with talosctl. */
function nameOf({ id, name, peerUrls }: EtcdMember): string {
  return `member ${name === "" ? "without a name" : name} (${[id, ...peerUrls].join(", ")})`;
}
