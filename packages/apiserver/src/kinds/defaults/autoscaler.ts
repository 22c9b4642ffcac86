import { isObject } from "../../json.ts";
import type { JsonObject } from "../../json.ts";
import { objectAt, objectsAt, without } from "../../request/json.ts";
import { fill, inside } from "./fill.ts";

const older = "autoscaling/v1";

const scaleUp = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};
/** How long it waits is a setting of the controller. */
const scaleDown = { selectPolicy: "Max", policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] };

/** Fills in what a HorizontalPodAutoscaler of either version may leave out. */
export function defaultAutoscaler(autoscaler: JsonObject): JsonObject {
  if (autoscaler["apiVersion"] === older)
    return inside(autoscaler, "spec", (spec) => fill(spec, { minReplicas: 1, targetCPUUtilizationPercentage: 80 }));
  return inside(autoscaler, "spec", (spec) =>
    inside(
      fill(spec, { minReplicas: 1, metrics: [shareOfCpu(80)] }),
      "behavior",
      // Who says how it behaves in one direction has said it of both.
      (behavior) => ({ ...behavior, scaleUp: rules(behavior["scaleUp"], scaleUp), scaleDown: rules(behavior["scaleDown"], scaleDown) }),
    ),
  );
}

/** An autoscaler of either version in the stored one, `autoscaling/v2`. */
export function autoscalerToStored(autoscaler: JsonObject): JsonObject {
  if (autoscaler["apiVersion"] !== older) return autoscaler;
  const { targetCPUUtilizationPercentage: share, ...spec } = objectAt(autoscaler, "spec");
  return { ...autoscaler, spec: share === undefined ? spec : { ...spec, metrics: [shareOfCpu(share)] } };
}

/** A stored autoscaler as a version shows it: `autoscaling/v1` knows one metric, the share of CPU. */
export function autoscalerToServed(autoscaler: JsonObject, apiVersion: string): JsonObject {
  if (apiVersion !== older) return autoscaler;
  const spec = objectAt(autoscaler, "spec");
  const cpu = objectsAt(spec, "metrics").find((metric) => objectAt(metric, "resource")["name"] === "cpu");
  const share = objectAt(objectAt(cpu, "resource"), "target")["averageUtilization"];
  const shown = without(spec, "metrics", "behavior");
  return { ...autoscaler, spec: share === undefined ? shown : { ...shown, targetCPUUtilizationPercentage: share } };
}

function shareOfCpu(averageUtilization: unknown): JsonObject {
  return { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } };
}

function rules(given: unknown, defaults: JsonObject): JsonObject {
  return fill(isObject(given) ? given : {}, defaults);
}
