import { isObject } from "../../json.ts";
import type { JsonObject } from "../../json.ts";
import { namesMetrics } from "../autoscaler-versions.ts";
import { fill, inside } from "./fill.ts";

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
  if (autoscaler["apiVersion"] === "autoscaling/v1") {
    const share = namesMetrics(autoscaler) ? {} : { targetCPUUtilizationPercentage: 80 };
    return inside(autoscaler, "spec", (spec) => fill(spec, { minReplicas: 1, ...share }));
  }
  return inside(autoscaler, "spec", (spec) =>
    inside(
      fill(spec, {
        minReplicas: 1,
        metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } }],
      }),
      "behavior",
      // Who says how it behaves in one direction has said it of both.
      (behavior) => ({ ...behavior, scaleUp: rules(behavior["scaleUp"], scaleUp), scaleDown: rules(behavior["scaleDown"], scaleDown) }),
    ),
  );
}

function rules(given: unknown, defaults: JsonObject): JsonObject {
  return fill(isObject(given) ? given : {}, defaults);
}
