import assert from "node:assert/strict";
import { it } from "node:test";
import { objectAt } from "../../request/json.ts";
import { defaultAutoscaler } from "./autoscaler.ts";

const fast = { type: "Percent", value: 100, periodSeconds: 15 };

it("an autoscaler that says how it behaves in one direction has said it of both", () => {
  const given = { spec: { maxReplicas: 3, behavior: { scaleDown: { stabilizationWindowSeconds: 60 } } } };
  // As kube-apiserver 1.36.3 printed it.
  assert.deepEqual(objectAt(objectAt(defaultAutoscaler(given), "spec"), "behavior"), {
    scaleDown: { stabilizationWindowSeconds: 60, selectPolicy: "Max", policies: [fast] },
    scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: "Max", policies: [{ type: "Pods", value: 4, periodSeconds: 15 }, fast] },
  });
  assert.equal(objectAt(objectAt(defaultAutoscaler({ spec: { maxReplicas: 3 } }), "spec"), "behavior")["scaleUp"], undefined);
});
