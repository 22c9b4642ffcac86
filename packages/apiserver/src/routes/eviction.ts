import { isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { allowedCondition, covers, isReady, withCondition } from "../kinds/budget.ts";
import { metadataOf, objectAt, stringAt } from "../request/json.ts";
import { badRequest, StatusError } from "../request/status.ts";
import type { ApiContext, ResourceCall } from "./context.ts";
import { timestampOf } from "./context.ts";
import { deleteObject, parseDeleteOptions } from "./delete.ts";
import { readLive } from "./resource-routes.ts";

const budgets = "policy/poddisruptionbudgets";

/**
 * POST of `/pods/<name>/eviction`: a deletion that PodDisruptionBudgets can refuse.
 *
 * @throws 404 for a pod that is not there, 429 while its budget allows no disruption, 500 when several budgets cover it
 * @see https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/
 */
export function evictionRoute(context: ApiContext, call: ResourceCall): JsonObject {
  const { body } = call.request;
  if (!isObject(body) || body["kind"] !== "Eviction") {
    throw badRequest("the request body must hold one Eviction of policy/v1");
  }
  const name = stringAt(metadataOf(body), "name") ?? "";
  if (name !== "" && name !== call.name) {
    throw badRequest("name in URL does not match name in Eviction object");
  }
  const asked = body["deleteOptions"];
  const deletion: ResourceCall = { ...call, subresource: "", request: { ...call.request, body: isObject(asked) ? asked : undefined } };
  const options = parseDeleteOptions(deletion);
  const pod = readLive(context, deletion);
  if (!isOutsideBudgets(pod)) spendBudget(context, call, pod, options.dryRun);
  deleteObject(context, call, options);
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
}

/** Pods that serve nobody are not protected. */
function isOutsideBudgets(pod: JsonObject): boolean {
  const phase = stringAt(objectAt(pod, "status"), "phase") ?? "";
  return ["Succeeded", "Failed", "Pending"].includes(phase) || metadataOf(pod)["deletionTimestamp"] !== undefined;
}

function spendBudget(context: ApiContext, call: ResourceCall, pod: JsonObject, isDryRun: boolean): void {
  const found = context.state.list(budgets, `${call.namespace}/`).filter((entry) => covers(entry.object, pod));
  const [entry] = found;
  if (entry === undefined) return;
  if (found.length > 1) {
    throw new StatusError(500, "", "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
  }
  const budget = entry.object;
  const status = objectAt(budget, "status");
  const count = (field: string): number => (typeof status[field] === "number" ? status[field] : 0);
  if (!isReady(pod)) {
    const policy = stringAt(objectAt(budget, "spec"), "unhealthyPodEvictionPolicy");
    const isHealthyWithout = count("desiredHealthy") > 0 && count("currentHealthy") >= count("desiredHealthy");
    if (policy === "AlwaysAllow" || isHealthyWithout) return;
  }
  const name = stringAt(metadataOf(budget), "name") ?? "";
  if (count("observedGeneration") < Number(metadataOf(budget)["generation"] ?? 1)) {
    throw tooManyDisruptions(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  const allowed = count("disruptionsAllowed");
  if (allowed <= 0) {
    throw tooManyDisruptions(
      `The disruption budget ${name} needs ${count("desiredHealthy")} healthy pods and has ${count("currentHealthy")} currently`,
    );
  }
  if (isDryRun) return;
  const now = timestampOf(context.clock.now());
  const left = allowed - 1;
  context.state.put(budgets, entry.key, {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed: left,
      disruptedPods: { ...objectAt(status, "disruptedPods"), [call.name]: now },
      ...(left > 0 ? {} : { conditions: withCondition(status, allowedCondition(0, metadataOf(budget)["generation"]), now) }),
    },
  });
}

function tooManyDisruptions(why: string, retryAfterSeconds?: number): StatusError {
  return new StatusError(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: "DisruptionBudget", message: why }],
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}
