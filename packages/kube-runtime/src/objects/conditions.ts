import type { Clock } from "@talos-operator/ports";

/** One aspect of an object's state, as `metav1.Condition`. */
export interface ObjectCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  /** One word for programs, in CamelCase. */
  readonly reason: string;
  /** A sentence for people. */
  readonly message: string;
  /** The `metadata.generation` that was current when it was set. */
  readonly observedGeneration?: number | undefined;
  /** When `status` last changed, RFC 3339. */
  readonly lastTransitionTime: string;
}

/** A condition as it is wanted; the time of the last transition is added. */
export type WantedCondition = Omit<ObjectCondition, "lastTransitionTime">;

/** The condition of a type, or `undefined`. */
export function conditionOf(conditions: readonly ObjectCondition[] | undefined, type: string): ObjectCondition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** True when the condition is there, is `True`, and was set for this generation or none. */
export function hasCondition(conditions: readonly ObjectCondition[] | undefined, type: string, generation?: number): boolean {
  const found = conditionOf(conditions, type);
  if (found?.status !== "True") return false;
  return generation === undefined || found.observedGeneration === undefined || found.observedGeneration >= generation;
}

/**
 * The conditions with one set: others stay as and where they are, and `lastTransitionTime` moves only when `status` changes, in whole seconds.
 * Nothing to change gives the same array, so that `===` tells whether a write is needed.
 */
export function withCondition(
  conditions: readonly ObjectCondition[] | undefined,
  wanted: WantedCondition,
  clock: Clock,
): readonly ObjectCondition[] {
  const before = conditions ?? [];
  const old = conditionOf(before, wanted.type);
  const lastTransitionTime = old?.status === wanted.status ? old.lastTransitionTime : secondsText(clock.now());
  const next: ObjectCondition = { ...wanted, lastTransitionTime };
  if (old === undefined) return [...before, next];
  const isSame =
    old.status === next.status &&
    old.reason === next.reason &&
    old.message === next.message &&
    old.observedGeneration === next.observedGeneration;
  return isSame ? before : before.map((condition) => (condition === old ? next : condition));
}

/** The conditions without those of a type; the same array when there is none. */
export function withoutCondition(conditions: readonly ObjectCondition[] | undefined, type: string): readonly ObjectCondition[] {
  const before = conditions ?? [];
  return conditionOf(before, type) === undefined ? before : before.filter((condition) => condition.type !== type);
}

function secondsText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
