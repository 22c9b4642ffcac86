import { conditionCatalogue, findCondition, releaseOf as releasedBy, spelledOut } from "@talos-operator/api";
import type { Condition, ConditionEntry, ObjectMeta } from "@talos-operator/api";

/** An object with conditions, as it is stored. */
export interface Explained {
  readonly kind: string;
  readonly metadata: ObjectMeta;
  /** `state` is no word in a KubernetesCluster, which has a `phase`. */
  readonly status?: { readonly state?: unknown; readonly phase?: string; readonly conditions?: readonly Condition[] };
}

/** Conditions that stop an object or tell what it is about, in the order in which people should read them. `Ready` sums them up and comes first. */
const STANDING: readonly string[] = [
  "Paused",
  "DryRun",
  "AnotherOperatorActive",
  "Imported",
  "SecretsLost",
  "AdoptionRequired",
  "EditRefused",
  "DeletionHeld",
  "AccessNotRenewed",
  "Deleting",
  "Removing",
  "Draining",
  "ConfigUpToDate",
];

/** Types of which `False` is what is waited for, and `True` is fine. */
const WAITED_WHEN_FALSE: ReadonlySet<string> = new Set(["Imported", "ConfigUpToDate"]);

/** What nobody waits for, and people want to know: the object stays as it is until somebody changes something. */
const NOTES: ReadonlySet<string> = new Set([
  "UpgradePending",
  "ReleaseUnknown",
  "FieldNotSupported",
  "ConfigDrift",
  "KubeletCertificatesPending",
]);

/** Reasons of conditions that are fine: a configuration would be written otherwise than it is, or a machine installed otherwise. */
const WORTH_KNOWING: ReadonlySet<string> = new Set(["RenderedOtherwise", "InstalledOtherwise"]);

/** What an object waits for, gravest first: `Ready` where it is not true, then what stops it. */
export function waitsOf(object: Explained): readonly Condition[] {
  const conditions = object.status?.conditions ?? [];
  const ready = findCondition(conditions, "Ready");
  if (ready === undefined && conditions.length === 0) return [unobserved(object)];
  const standing = STANDING.flatMap((type) => {
    const condition = findCondition(conditions, type);
    if (condition === undefined) return [];
    const isFine = condition.status === (WAITED_WHEN_FALSE.has(type) ? "True" : "False");
    return isFine ? [] : [condition];
  });
  const waits = [...(ready === undefined || ready.status === "True" ? [] : [ready]), ...standing];
  return [...waits, ...openOf(object, waits.length > 0).filter(({ type }) => !waits.some((one) => one.type === type))];
}

/** Stalled or under way, as tools read it; `undefined` = neither is said. */
export function progressOf({ status }: Explained): Condition | undefined {
  return ["Stalled", "Reconciling"].map((type) => findCondition(status?.conditions, type)).find((one) => one?.status === "True");
}

/** What goes on with an object, or what a person is needed for: one sentence. `undefined` = neither. */
export function headlineOf({ status }: Explained): string | undefined {
  const told = ["Stalled", "Deleting", "Progressing"]
    .map((type) => findCondition(status?.conditions, type))
    .find((one) => one?.status === "True");
  return told === undefined ? undefined : /^.*?[.!](?=\s|$)/s.exec(told.message)?.[0] || told.message || undefined;
}

/** Conditions that are worth knowing, until they are what an object is stalled by, or what is under way. */
const OPEN: readonly string[] = ["UpgradePending", "SnapshotBeforeRisk", "FieldNotSupported", "ConfigDrift", "KubeletCertificatesPending"];

/** What a stalled object is stalled by, or what is under way; where nothing explains that yet, at least the condition that says so. */
function openOf(object: Explained, isExplained: boolean): readonly Condition[] {
  const told = progressOf(object);
  if (told === undefined) return [];
  const conditions = object.status?.conditions ?? [];
  const open = OPEN.flatMap((type) => {
    const condition = findCondition(conditions, type);
    const release = condition === undefined ? "none" : releasedBy(condition);
    return condition !== undefined && release !== "none" ? [condition] : [];
  });
  if (open.length > 0 || isExplained) return open;
  const progressing = findCondition(conditions, "Progressing");
  if (told.type === "Reconciling" && progressing?.status === "True") return [progressing];
  return [told];
}

/** What is worth knowing of an object that nobody waits for. */
export function notesOn(object: Explained): readonly Condition[] {
  const { conditions = [] } = object.status ?? {};
  const waits = waitsOf(object);
  return conditions
    .filter(({ type }) => !waits.some((one) => one.type === type))
    .filter((one) => WORTH_KNOWING.has(one.reason) || (NOTES.has(one.type) && one.status !== "False"))
    .map((one) => spelledOut(conditions, one));
}

/** The published word: `state`, or `phase` on kinds whose `state` is an object. */
export function stateWordOf({ status }: Explained): string | undefined {
  return typeof status?.state === "string" ? status.state : status?.phase;
}

/** What a person can do about a condition, or that it goes on by itself. */
export function releaseOf({ type, reason, message }: Condition): string {
  if (message === NO_STATUS) return "Start the operator if none runs: `kubectl get lease -A` shows who leads.";
  const catalogue: Readonly<Record<string, ConditionEntry>> = conditionCatalogue;
  const next = catalogue[type]?.reasons[reason]?.next;
  if (next === undefined) return "See the message.";
  return next === "-" ? "Nothing to do; it continues by itself." : next;
}

const NO_STATUS = "The operator has not written a status yet.";

function unobserved({ metadata }: Explained): Condition {
  return {
    type: "Ready",
    status: "Unknown",
    reason: "Unobserved",
    message: NO_STATUS,
    lastTransitionTime: metadata.creationTimestamp ?? "",
  };
}

/** Whether a condition speaks of the newest spec; one that says no generation does. */
export function isSeen({ observedGeneration }: Pick<Condition, "observedGeneration">, { generation }: ObjectMeta): boolean {
  return observedGeneration === undefined || generation === undefined || observedGeneration >= generation;
}
