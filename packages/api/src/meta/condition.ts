import { integer, list, object, oneOf, required, string } from "../schema/field.ts";
import type { Infer } from "../schema/field.ts";
import { spelledOut } from "./said-once.ts";

/** Schema of one condition, rule for rule that of `metav1.Condition`. */
export const conditionField = object(
  {
    type: required(
      string({
        description: "What the condition is about, for example Ready. At most one condition of a type.",
        pattern: "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
        maxLength: 316,
      }),
    ),
    status: required(
      oneOf(["True", "False", "Unknown"], { description: "Whether the condition holds; Unknown when it could not be observed." }),
    ),
    reason: required(
      string({
        description: "Why, as one word for programs. The reasons are listed in docs/reference/conditions.md.",
        pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
        minLength: 1,
        maxLength: 1024,
      }),
    ),
    message: required(string({ description: "Why, as a sentence for people: the facts, and what would change them.", maxLength: 32768 })),
    observedGeneration: integer({
      description: "The metadata.generation that was current when the condition was set. A smaller one says the condition is out of date.",
      format: "int64",
      minimum: 0,
    }),
    lastTransitionTime: required(
      string({ description: "When status last changed, RFC 3339 in UTC with whole seconds.", format: "date-time" }),
    ),
  },
  { description: "One aspect of the current state of the object." },
);

/** One aspect of an object's state, as `metav1.Condition`. */
export interface Condition extends Infer<typeof conditionField> {}

/** `status.conditions` as every kind carries it: a map by `type`. */
export const conditionsField = list<Condition>(conditionField, {
  description: "What was observed, one entry for each aspect.",
  listType: "map",
  listMapKeys: ["type"],
});

/** A condition before it is joined to a list, which adds the time of its last transition. */
export type ConditionInput = Omit<Condition, "lastTransitionTime">;

/** The condition of the given type, or `undefined`. One that names another one for what it says has the words of that one. */
export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  const found = conditions?.find((condition) => condition.type === type);
  return conditions === undefined || found === undefined ? found : spelledOut(conditions, found);
}

/** True when the condition is there and its status is `True`. */
export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === "True";
}

/**
 * The list with `next` in it. Order is kept, a new type comes last.
 *
 * `lastTransitionTime` moves only when `status` differs from before. When nothing differs the same list is returned,
 * so a caller can compare by identity and write nothing.
 *
 * @param nowMs milliseconds since the epoch, from the clock port; cut to whole seconds
 */
export function setCondition(conditions: readonly Condition[] | undefined, next: ConditionInput, nowMs: number): readonly Condition[] {
  const before = conditions ?? [];
  const index = before.findIndex((condition) => condition.type === next.type);
  const old = before[index];
  if (old === undefined) return [...before, { ...next, lastTransitionTime: rfc3339(nowMs) }];
  if (
    old.status === next.status &&
    old.reason === next.reason &&
    old.message === next.message &&
    old.observedGeneration === next.observedGeneration
  )
    return before;
  const lastTransitionTime = old.status === next.status ? old.lastTransitionTime : rfc3339(nowMs);
  return before.with(index, { ...next, lastTransitionTime });
}

/** The list without the given type; the same list when it was not there. */
export function removeCondition(conditions: readonly Condition[] | undefined, type: string): readonly Condition[] {
  const before = conditions ?? [];
  return before.some((condition) => condition.type === type) ? before.filter((condition) => condition.type !== type) : before;
}

/** Milliseconds since the epoch as `metav1.Time` prints them: UTC, whole seconds, `Z`. */
export function rfc3339(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
