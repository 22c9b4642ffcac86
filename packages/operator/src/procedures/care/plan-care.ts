import { annotations } from "@talos-operator/api";
import { controlPlaneSlot } from "../../disruption/control-plane-slot.ts";
import { heldWords } from "../../disruption/slot-words.ts";
import { defragmentMember } from "../../effects/defragment-member.ts";
import { mayAskAgain, rememberedAs } from "../../effects/define.ts";
import { disarmAlarms } from "../../effects/disarm-alarms.ts";
import { despiteFull } from "../../assess/quorum.ts";
import { controlPlaneIntent } from "../../record/facts.ts";
import { isCare, wasAsked, withCare } from "./care-intents.ts";
import type { CareIntent } from "./care-intents.ts";
import { largerQuotaAwaited } from "../configure/larger-quota.ts";
import { filesOf } from "./files.ts";
import type { EtcdFile } from "./files.ts";
import { answerDefragment } from "./fragmentation.ts";
import { isFull, nextForFull } from "./no-space.ts";
import type { NextForFull } from "./no-space.ts";
import { planReplacement } from "./plan-replacement.ts";
import type { Disruption } from "../../disruption/reasons.ts";
import type { Action } from "../../model/effect.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { CareStep } from "../../model/plans.ts";
import type { ClusterFacts } from "../../model/record.ts";

/** What looks after an etcd that raises an alarm, or that is in the middle of it; `undefined` = there is nothing to look after. */
export function planCare(assessed: Assessment, facts: ClusterFacts): CareStep | undefined {
  const open = controlPlaneIntent(facts);
  if (isCare(open)) return ask(assessed, facts, open);
  const replacement = planReplacement(assessed, facts);
  if (replacement !== undefined) return replacement;
  if (facts.bootstrapDone === undefined || assessed.etcdMembership.kind === "known") return undefined;
  const { beneath } = assessed.etcdMembership;
  if (beneath === undefined) return undefined;
  const next = nextForFull(assessed.seen, facts, beneath, largerQuotaAwaited(assessed));
  if (next.kind === "waits" || next.kind === "person")
    return { facts, actions: [], says: next.message, needsPerson: next.kind === "person" };
  if (next.kind === "defragment") return defragment(assessed, facts, next);
  const words = isFull(assessed.seen)
    ? { reason: "NoSpace", why: "The file of every member has room below its quota." }
    : { reason: "DataCorrupt", why: "Every member whose data were wrong has left etcd." };
  return begin(assessed, facts, "DisarmAlarms", next.via, { bids: "cure", ...words });
}

function defragment(assessed: Assessment, facts: ClusterFacts, next: NextForFull & { readonly kind: "defragment" }): CareStep {
  const { file, isAsked } = next;
  const why = isAsked
    ? "Its file has reached the quota, and a person asked for it."
    : "Its file has reached the quota, and what is in use leaves room below it.";
  const step = begin(assessed, facts, "Defragment", file, { bids: "cure", reason: isAsked ? "AskedByPerson" : "NoSpace", why });
  if (!isAsked || step.facts === facts) return step;
  return {
    ...step,
    actions: [answerDefragment(file.machine, `${file.machine} is defragmented, as ${annotations.defragment} asked`), ...step.actions],
  };
}

/** Writes down what is to be done to a member and asks for it, or says what is in the way. */
export function begin(
  assessed: Assessment,
  facts: ClusterFacts,
  what: CareIntent["what"],
  file: EtcdFile,
  { bids, ...words }: { readonly bids: Disruption; readonly reason: string; readonly why: string },
): CareStep {
  const { seen } = assessed;
  if (seen.held?.has(file.machine) === true)
    return {
      facts,
      actions: [],
      says: `${file.machine} is next, and is paused by its annotation ${annotations.reconcileMode}`,
      needsPerson: true,
    };
  const slot = controlPlaneSlot(assessed, facts, { machine: file.machine, why: bids, member: disturbedBy(what, file.memberId) });
  if (slot.kind === "held")
    return {
      facts,
      actions: [],
      says: `${file.machine} is next, and ${heldWords(slot.holder)}`,
      needsPerson: false,
    };
  const next = withCare(facts, what, file, seen.now, words);
  const intent = controlPlaneIntent(next);
  return isCare(intent) ? { ...ask(assessed, next, intent), facts: next } : { facts, actions: [], says: "", needsPerson: false };
}

/** Taking an alarm back stops nobody. */
function disturbedBy(what: CareIntent["what"], memberId: string): string {
  return what === "DisarmAlarms" ? "none" : memberId;
}

/** Asks once under an intent; of one that another process wrote nobody knows whether it was asked. */
function ask(assessed: Assessment, facts: ClusterFacts, intent: CareIntent): CareStep {
  const { seen } = assessed;
  const effect = intent.what === "Defragment" ? defragmentMember : disarmAlarms;
  const step = { facts, actions: [], says: wordsOf(intent), needsPerson: false };
  const { machine, memberId = "" } = intent;
  const isOver = seen.now > intent.deadline;
  if (isOver || wasAsked(seen, rememberedAs(effect, machine), intent) || !mayAskAgain(seen, effect, machine)) return step;
  // What a new leader finds is asked for when nothing of the one before can be under way.
  const member = disturbedBy(intent.what, memberId);
  if (controlPlaneSlot(assessed, facts, { machine, why: "cure", member, under: intent }).kind === "held") return step;
  return { ...step, actions: actionsOf(assessed, intent) };
}

function actionsOf(assessed: Assessment, intent: CareIntent): readonly Action[] {
  const view = despiteFull(assessed.etcdMembership);
  const file = view.kind === "unsafe" ? undefined : filesOf(assessed.seen, view).find(({ machine }) => machine === intent.machine);
  if (file === undefined) return [];
  const { machine, address, leads } = file;
  const target = { machine, address, ifUuid: intent.uuid };
  return intent.what === "Defragment"
    ? [{ kind: "DefragmentMember", ...target, ifLarger: (intent.dbSizeBytes ?? 1) - 1, mayLead: leads }]
    : [{ kind: "DisarmAlarms", ...target }];
}

function wordsOf({ what, machine }: CareIntent): string {
  return what === "Defragment"
    ? `${machine} is being defragmented and answers nothing meanwhile: one member after the other, the leader last`
    : `nothing is amiss any more, and the alarm is being taken back through ${machine}`;
}
