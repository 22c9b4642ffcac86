import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, objectsAt } from "../request/json.ts";
import { matchesLabelSelector } from "../request/label-selector-object.ts";

/** True when a disruption budget is about this pod. A budget without a selector is about none. */
export function covers(budget: JsonObject, pod: JsonObject): boolean {
  const { selector } = objectAt(budget, "spec");
  return (
    selector !== undefined && matchesLabelSelector(objectAt(objectAt(budget, "spec"), "selector"), objectAt(metadataOf(pod), "labels"))
  );
}

/** True when the pod serves: its condition Ready is True. */
export function isReady(pod: JsonObject): boolean {
  return objectsAt(objectAt(pod, "status"), "conditions").some(({ type, status }) => type === "Ready" && status === "True");
}

/** How long an eviction counts as under way when its pod stays: as the disruption controller waits. */
const evictionTimeoutMs = 2 * 60_000;

/**
 * The status of a disruption budget, as the disruption controller works it out.
 *
 * @param pods the pods that it covers
 * @param expected how many pods their controllers want; `undefined` when one of the pods has no controller that says so
 * @param now RFC 3339, seconds
 */
export function budgetStatus(budget: JsonObject, pods: readonly JsonObject[], expected: number | undefined, now: string): JsonObject {
  const spec = objectAt(budget, "spec");
  const before = objectAt(budget, "status");
  const disrupted = stillUnderWay(objectAt(before, "disruptedPods"), pods, now);
  const isCounted = (pod: JsonObject): boolean =>
    metadataOf(pod)["deletionTimestamp"] === undefined && !Object.hasOwn(disrupted, String(metadataOf(pod)["name"])) && isReady(pod);
  const currentHealthy = pods.filter(isCounted).length;
  const plan = planOf(spec, pods.length, expected);
  const generation = metadataOf(budget)["generation"];
  if (plan === undefined) {
    const failed = { type: "DisruptionAllowed", status: "False", reason: "SyncFailed", message: "found no controllers for pod" };
    return {
      ...before,
      disruptionsAllowed: 0,
      observedGeneration: generation,
      conditions: withCondition(before, { ...failed, observedGeneration: generation }, now),
    };
  }
  const { expectedPods, desiredHealthy } = plan;
  const disruptionsAllowed = expectedPods <= 0 || currentHealthy - desiredHealthy <= 0 ? 0 : currentHealthy - desiredHealthy;
  return {
    ...(Object.keys(disrupted).length === 0 ? {} : { disruptedPods: disrupted }),
    conditions: withCondition(before, allowedCondition(disruptionsAllowed, generation), now),
    currentHealthy,
    desiredHealthy,
    disruptionsAllowed,
    expectedPods,
    observedGeneration: generation,
  };
}

/** The condition that says whether a budget has something left. */
export function allowedCondition(disruptionsAllowed: number, generation: unknown): JsonObject {
  const isLeft = disruptionsAllowed > 0;
  return {
    type: "DisruptionAllowed",
    status: isLeft ? "True" : "False",
    reason: isLeft ? "SufficientPods" : "InsufficientPods",
    message: "",
    observedGeneration: generation,
  };
}

/** The conditions of a status with one of them set; the time of its last change stays when its status does. */
export function withCondition(status: JsonObject, condition: JsonObject, now: string): readonly JsonObject[] {
  const existing = objectsAt(status, "conditions");
  const old = existing.find(({ type }) => type === condition["type"]);
  const lastTransitionTime = old !== undefined && old["status"] === condition["status"] ? old["lastTransitionTime"] : now;
  const next = { ...condition, lastTransitionTime };
  return old === undefined ? [...existing, next] : existing.map((other) => (other === old ? (equalJson(old, next) ? old : next) : other));
}

function stillUnderWay(disrupted: JsonObject, pods: readonly JsonObject[], now: string): JsonObject {
  const waiting = new Set(
    pods.filter((pod) => metadataOf(pod)["deletionTimestamp"] === undefined).map((pod) => String(metadataOf(pod)["name"])),
  );
  return Object.fromEntries(
    Object.entries(disrupted).filter(([name, at]) => waiting.has(name) && Date.parse(now) - Date.parse(String(at)) < evictionTimeoutMs),
  );
}

function planOf(
  spec: JsonObject,
  covered: number,
  expected: number | undefined,
): { readonly expectedPods: number; readonly desiredHealthy: number } | undefined {
  const { maxUnavailable, minAvailable } = spec;
  if (maxUnavailable !== undefined) {
    if (expected === undefined) return undefined;
    return { expectedPods: expected, desiredHealthy: Math.max(0, expected - scaled(maxUnavailable, expected)) };
  }
  if (typeof minAvailable === "number") return { expectedPods: covered, desiredHealthy: minAvailable };
  if (minAvailable === undefined) return { expectedPods: covered, desiredHealthy: 1 };
  return expected === undefined ? undefined : { expectedPods: expected, desiredHealthy: scaled(minAvailable, expected) };
}

/** A number, or a share of the whole, rounded up. */
function scaled(value: unknown, whole: number): number {
  if (typeof value === "number") return value;
  const percent = /^(\d+)%$/.exec(String(value))?.[1];
  return percent === undefined ? 0 : Math.ceil((Number(percent) * whole) / 100);
}
