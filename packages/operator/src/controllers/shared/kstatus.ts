import { conditionFor, findCondition, isConditionTrue, releaseOf } from "@talos-operator/api";
import type { Condition, ConditionInput, ConditionType, ObjectMeta, ReadyReason, ReasonOf, Release } from "@talos-operator/api";
import type { WantedStatus } from "./status-writer.ts";
import { written } from "./written-fields.ts";
import type { WrittenFields } from "./written-fields.ts";

/** What of a status tools read. */
export interface ToldStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
}

/** An object with its status as it is stored. */
export interface Told {
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly status?: ToldStatus | undefined;
}

/** An object that another one is made of. */
export interface Part extends Told {
  /** Where the person wrote what its spec says. Absent: in the object itself. */
  readonly fields?: WrittenFields | undefined;
}

/** What a pass knows of an object. */
export interface Judged {
  readonly conditions: readonly ConditionInput[];
  /** A change of a machine of the object was begun and its end was not seen, or is about to begin. */
  readonly hasOpenEffect: boolean;
  /** What that change is: a sentence. */
  readonly says?: string | undefined;
  /** Objects that this one is made of: it is under way while one of them is. */
  readonly parts?: readonly Part[];
}

/** Longest message; the condition that it is taken from says the rest. */
const LONGEST = 512;

/** The message, or as many whole words of it as there is room for: half a name leads nowhere. */
function shortened(message: string, most: number): string {
  if (message.length <= most) return message;
  const cut = message.slice(0, most - 3);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), 1))}...`;
}

/**
 * `Reconciling` or `Stalled`, or neither: never both. By what is open and by what the reasons of the conditions are released by, never by their words.
 *
 * What is being done comes first: whatever a person has to release beside it, something is under way. Then what only a person releases, for the object does not get
 * to what its spec asks for without that, and last what is waited for and ends by itself.
 *
 * @see sigs.k8s.io/cli-utils `pkg/kstatus/status/core.go`, which Flux and Argo CD follow
 */
export function kstatusOf(
  { conditions, hasOpenEffect, says, parts = [] }: Judged,
  generation: number | undefined,
): readonly ConditionInput[] {
  const reconciling = (message: string): readonly ConditionInput[] => [
    conditionFor("Reconciling", "Progressing", shortened(message, LONGEST), generation),
  ];
  const stalled = (message: string, reason: ReasonOf<"Stalled"> = "PersonNeeded"): readonly ConditionInput[] => [
    conditionFor("Stalled", reason, shortened(message, LONGEST), generation),
  ];
  const ending = conditions.filter((condition) => isReleasedBy(condition, "itself"));
  // What `Progressing` leads to says it itself, and is not on the objects that this one is a part of.
  const bySelf = ending.find(({ type }) => type !== "Progressing") ?? ending[0];
  if (hasOpenEffect) return reconciling(says ?? bySelf?.message ?? "A change of a machine is under way.");
  if (isAtWork(conditions)) return reconciling(bySelf?.message ?? "");
  const states = parts.map((part) => partState(part));
  const going = states.find(({ release }) => release === "itself");
  if (going !== undefined) return reconciling(going.message);
  const byPerson = conditions.find((condition) => isReleasedBy(condition, "person"));
  if (byPerson !== undefined) return stalled(byPerson.message, byPerson.reason === PAUSED_BY_SPEC ? "Paused" : "PersonNeeded");
  const stuck = states.find(({ release }) => release === "person");
  if (stuck !== undefined) return stalled(stuck.message);
  if (bySelf !== undefined) return reconciling(bySelf.message);
  const ready = conditions.find(({ type }) => type === "Ready");
  return ready === undefined || ready.status === "True" ? [] : reconciling(ready.message);
}

/** Whoever reads it goes by the spec, and nobody has to correct anything. */
const PAUSED_BY_SPEC: ReadyReason = "SchedulePaused";

/** Reasons of `Progressing` by which nothing is done: others are waited for. */
const WAITS: ReadonlySet<string> = new Set<ReasonOf<"Progressing">>(["WaitingForMachines", "WaitingForNodes", "WaitingForEtcd"]);

/** Conditions that know whether what `Progressing` names goes on without a person. */
const KNOWN_BY: Readonly<Record<string, ConditionType>> = {
  ChangingConfiguration: "ConfigUpToDate",
  Deleting: "Deleting",
  Removing: "Removing",
  UpgradingTalos: "UpgradePending",
};

/** `Progressing` says that something is being done. */
function isAtWork(conditions: readonly ConditionInput[]): boolean {
  const progress = conditions.find(({ type, status }) => type === "Progressing" && status === "True");
  if (progress === undefined || WAITS.has(progress.reason)) return false;
  const known = conditions.find(({ type }) => type === KNOWN_BY[progress.reason]);
  return known === undefined || !isReleasedBy(known, "person");
}

/** All that is said of an object: what was judged, and `Reconciling` or `Stalled`, with a `Progressing` that says the same as those. */
export function judgedConditions(judged: Judged, generation: number | undefined): readonly ConditionInput[] {
  const told = kstatusOf(judged, generation);
  const [kstatus] = told;
  const isGoingOn = kstatus?.type === "Reconciling";
  const aligned = judged.conditions.map((condition) => {
    if (condition.type !== "Progressing" || (condition.status === "True") === isGoingOn) return condition;
    if (isGoingOn) return conditionFor("Progressing", "UnderWay", kstatus.message, generation);
    return conditionFor("Progressing", "Blocked", kstatus?.message ?? condition.message, generation);
  });
  return [...aligned, ...told];
}

/** The status of an object that a pass read and judged as a whole, with the generation that it read. */
export function judgedStatus({ metadata }: Pick<Told, "metadata">, fields: WantedStatus["fields"], judged: Judged): WantedStatus {
  const { generation } = metadata;
  return { fields: { ...fields, observedGeneration: generation }, conditions: judgedConditions(judged, generation) };
}

/**
 * The status of an object that is left alone: what was said of it stays, and so does the generation that it was said of. What was under way, or was asked for
 * since, waits for a person now, and says so in these words.
 */
export function pausedStatus(
  { metadata, status }: Omit<Told, "kind">,
  conditions: readonly ConditionInput[],
  words = conditions[0]?.message,
): WantedStatus {
  const told = toldGeneration(status);
  const isOpen =
    isUnderWay(status) || isConditionTrue(status?.conditions, "Stalled") || (told !== undefined && told !== metadata.generation);
  const progress = findCondition(status?.conditions, "Progressing");
  const isProgressing = progress?.status === "True" || progress?.reason === "Blocked";
  const waits =
    words === undefined
      ? []
      : [
          ...(isProgressing ? [conditionFor("Progressing", "Blocked", words, progress.observedGeneration)] : []),
          ...(isOpen ? [conditionFor("Stalled", "Paused", words)] : []),
        ];
  return {
    fields: {},
    conditions: [...conditions, ...waits],
    keepsOthers: true,
    drops: ["DryRun", "Reconciling", "Stalled"],
  };
}

/** The same of an object whose status is the only place that something is known by: all of it stays, but what `over` says. */
export function pausedMemory(
  object: Omit<Told, "kind">,
  conditions: readonly ConditionInput[],
  over: WantedStatus["fields"] = {},
): WantedStatus {
  const { conditions: _told, ...fields } = object.status ?? {};
  return { ...pausedStatus(object, conditions), fields: { ...fields, ...over } };
}

/** The generation that a status speaks of; `undefined` = nobody has said anything yet. Statuses of before the field have it on their conditions. */
export function toldGeneration(status: ToldStatus | undefined): number | undefined {
  const { observedGeneration } = status ?? {};
  if (observedGeneration !== undefined) return observedGeneration < 0 ? undefined : observedGeneration;
  return findCondition(status?.conditions, "Ready")?.observedGeneration;
}

/** The status was written about an earlier spec. One that is being deleted says so itself. */
export function isEdited({ metadata, status }: Pick<Told, "metadata" | "status">): boolean {
  const told = toldGeneration(status);
  return metadata.deletionTimestamp === undefined && told !== undefined && told !== metadata.generation;
}

/** What an object says on which something is about to begin: a `Progressing` that is not true speaks of what was before. */
export function startingConditions(conditions: readonly ConditionInput[], generation: number | undefined): readonly ConditionInput[] {
  const words = conditionFor("Progressing", "Starting", "A change is about to be carried out.", generation);
  return conditions.map((condition) => (condition.type === "Progressing" && condition.status !== "True" ? words : condition));
}

/** True while the status says that the object is on its way to its spec. */
export function isUnderWay(status: ToldStatus | undefined): boolean {
  return isConditionTrue(status?.conditions, "Reconciling");
}

/**
 * False for an object that was told of before, and whose status does not say yet that its newest spec is read and that something is under way. Whoever reads it
 * would take it for finished while its machines are changed. One that is paused answers nothing.
 */
export function hasAnswered({ metadata, status }: Told): boolean {
  if (metadata.deletionTimestamp !== undefined || isConditionTrue(status?.conditions, "Paused")) return true;
  const told = toldGeneration(status);
  if (told === undefined) return true;
  return told === metadata.generation && (isUnderWay(status) || !isConditionTrue(status?.conditions, "Ready"));
}

function isReleasedBy(condition: ConditionInput, release: Release): boolean {
  return releaseOf(condition) === release;
}

/** What an object that is made of others waits for in one of them. */
function partState({ kind, metadata, status, fields }: Part): { readonly release: Release; readonly message: string } {
  const say = (release: Release, words: string): { readonly release: Release; readonly message: string } => ({
    release,
    message: `${kind} ${metadata.name}: ${written(words, fields)}`,
  });
  const stalled = findCondition(status?.conditions, "Stalled");
  // Nobody reads its newest spec before it goes on.
  if (stalled?.status === "True" && stalled.reason === "Paused") return say("person", stalled.message);
  if (metadata.deletionTimestamp !== undefined) return say("itself", "it is being deleted.");
  if (toldGeneration(status) !== metadata.generation) return say("itself", "its newest spec is not read yet.");
  const reconciling = findCondition(status?.conditions, "Reconciling");
  if (reconciling?.status === "True") return say("itself", reconciling.message);
  return stalled?.status === "True" ? say("person", stalled.message) : say("none", "");
}
