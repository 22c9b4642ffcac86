import { controlPlanesOf } from "../../assess/etcd-view.ts";
import { rememberedAs } from "../../effects/define.ts";
import { defragmentMember } from "../../effects/defragment-member.ts";
import { machineFact, withDecisions, withIntent, withMachine, withoutIntent } from "../../record/facts.ts";
import type { EtcdFile } from "./files.ts";
import { inMib } from "./files.ts";
import type { Observed } from "../../model/observation.ts";
import type { ClusterFacts, IntentFact } from "../../model/record.ts";
import type { Assessment } from "../../model/assessment.ts";

/** A member that was asked copies what is in use, whoever asked is gone or not. Milliseconds. */
const DEFRAGMENT_MS = 10 * 60_000;

/** Until when a call that takes alarms back may arrive. Milliseconds. */
const DISARM_MS = 120_000;

/** An effect that looks after etcd. */
export type CareIntent = IntentFact & { readonly what: "Defragment" | "DisarmAlarms" };

export function isCare(intent: IntentFact | undefined): intent is CareIntent {
  return intent?.what === "Defragment" || intent?.what === "DisarmAlarms";
}

/** The facts with the intent to do this to a member. @param why a sentence; @param reason one word */
export function withCare(
  facts: ClusterFacts,
  what: CareIntent["what"],
  { machine, address, memberId, sizeBytes }: EtcdFile,
  now: number,
  { reason, why }: { readonly reason: string; readonly why: string },
): ClusterFacts {
  const fact = machineFact(facts, machine);
  const isDefragmented = what === "Defragment";
  const intent: CareIntent = {
    what,
    role: "controlplane",
    machine,
    address,
    uuid: fact?.uuid ?? "",
    memberId,
    at: now,
    deadline: now + (isDefragmented ? DEFRAGMENT_MS : DISARM_MS),
    why,
    ...(isDefragmented && sizeBytes !== undefined ? { dbSizeBytes: sizeBytes } : {}),
  };
  const begun = fact === undefined || !isDefragmented ? facts : withMachine(facts, { ...fact, defragmentedAt: now });
  return withDecisions(withIntent(begun, intent), { at: now, action: what, reason, machine, message: why });
}

/** How an effect ended. */
interface CareEnd {
  readonly reason: "Defragmented" | "NothingGained" | "Disarmed" | "NotSeen" | "Gone";
  readonly message: string;
}

/**
 * The facts without an intent whose end was seen; the same object while it is open. The proof of a defragmentation is the size of the file, which nothing else makes
 * smaller, or the member's answer, which comes when it is over; that of a disarmed alarm is that no member tells of it. What is not seen by its deadline is let go, and begun anew if it is
 * still needed.
 */
export function withCareEnded(assessed: Assessment, facts: ClusterFacts, intent: CareIntent): ClusterFacts {
  const end = endOf(assessed, intent);
  if (end === undefined) return facts;
  return withDecisions(withoutIntent(facts, intent.machine, intent.what), {
    at: assessed.seen.now,
    action: `Close${intent.what}`,
    reason: end.reason,
    machine: intent.machine,
    message: end.message,
  });
}

function endOf(assessed: Assessment, intent: CareIntent): CareEnd | undefined {
  const { seen, etcdMembership } = assessed;
  const { what, machine, deadline } = intent;
  // One that leaves and still answers is a member until it has left, and its file counts.
  const isListed = seen.machines.some(({ declared }) => declared.name === machine);
  const answers = seen.former.some(({ declared, look }) => declared.name === machine && look.kind === "running");
  if (seen.controlPlane.metadata.deletionTimestamp !== undefined || !(isListed || answers))
    return { reason: "Gone", message: `${machine} leaves the cluster.` };
  if (what === "Defragment") {
    const end = endOfDefragmentation(seen, intent);
    if (end !== undefined) return end;
  } else if (etcdMembership.kind === "known") return { reason: "Disarmed", message: "No member of etcd reports an alarm any more." };
  if (seen.now <= deadline || mayStillArrive(seen, intent)) return undefined;
  return { reason: "NotSeen", message: `Nothing was seen of what ${machine} was asked to do (${what}) by its deadline.` };
}

/** What this process asked for later than whoever wrote the intent, and nobody answered, is waited for as long as if the intent were its own. */
function mayStillArrive(seen: Observed, { what, machine, at }: CareIntent): boolean {
  const sent = what === "Defragment" ? seen.sent.get(rememberedAs(defragmentMember, machine)) : undefined;
  return sent?.outcome === "unknown" && sent.at >= at && seen.now <= sent.at + DEFRAGMENT_MS;
}

function endOfDefragmentation(seen: Observed, { machine, at, dbSizeBytes = 0 }: CareIntent): CareEnd | undefined {
  const told = toldSize(seen, machine);
  if (told === undefined) return undefined;
  if (told.size < dbSizeBytes)
    return { reason: "Defragmented", message: `The file of ${machine} went from ${inMib(dbSizeBytes)} to ${inMib(told.size)}.` };
  const sent = seen.sent.get(rememberedAs(defragmentMember, machine));
  if (sent?.outcome !== "answered" || sent.at < at || told.at <= sent.at) return undefined;
  return { reason: "NothingGained", message: `${machine} was defragmented, and its file has ${inMib(told.size)}: no less than before.` };
}

/** The size of a healthy member's file, and when it was told. */
function toldSize(seen: Observed, name: string): { readonly size: number; readonly at: number } | undefined {
  const look = controlPlanesOf(seen).find(({ declared }) => declared.name === name)?.look;
  if (look?.kind !== "running" || look.etcd?.isHealthy !== true || look.etcd.dbSizeBytes === undefined) return undefined;
  return { size: look.etcd.dbSizeBytes, at: look.at };
}

/** True when this process asked under this very intent and was not refused: a member that is asked twice does it twice. */
export function wasAsked(seen: Observed, key: string, { at }: CareIntent): boolean {
  const last = seen.sent.get(key);
  return last !== undefined && last.outcome !== "refused" && last.at >= at;
}
