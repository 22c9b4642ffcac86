import assert from "node:assert/strict";
import type { KubeResponse } from "@talos-operator/ports";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt } from "../request/json.ts";
import { metaOf } from "./world.ts";
import type { ConformanceCase, World } from "./world.ts";

const labels = { app: "x" };
const budgets = (w: World, rest = ""): string => `/apis/policy/v1/namespaces/${w.namespace}/poddisruptionbudgets${rest}`;

async function run(w: World, name: string, status: JsonObject = {}): Promise<void> {
  await w.create(w.core("pods"), { metadata: { name, labels }, spec: { containers: [{ name: "c", image: "i:1" }] } });
  const ready = { phase: "Running", conditions: [{ type: "Ready", status: "True" }], ...status };
  await w.ok(w.patch(w.core("pods", `${name}/status`), "merge", { status: ready }));
}

/** Without a disruption controller a budget says nothing; what is written here is what one would work out. */
async function protect(w: World, minAvailable: number, healthy: number, spec: JsonObject = {}): Promise<void> {
  await w.create(budgets(w), { metadata: { name: "b" }, spec: { minAvailable, selector: { matchLabels: labels }, ...spec } });
  const status = {
    observedGeneration: 1,
    expectedPods: healthy,
    currentHealthy: healthy,
    desiredHealthy: minAvailable,
    disruptionsAllowed: Math.max(0, healthy - minAvailable),
  };
  await w.ok(w.patch(budgets(w, "/b/status"), "merge", { status }));
}

function evict(w: World, name: string, more: JsonObject = {}): Promise<KubeResponse> {
  return w.send("POST", w.core("pods", `${name}/eviction`), {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name, namespace: w.namespace },
    ...more,
  });
}

const tooMany = "Cannot evict pod as it would violate the pod's disruption budget.";

/** Evictions and disruption budgets. */
export const evictionCases: readonly ConformanceCase[] = [
  {
    name: "an eviction deletes a pod that no budget covers",
    run: async (w) => {
      await run(w, "a");
      const answer = await evict(w, "a");
      assert.equal(answer.status, 201);
      assert.deepEqual(answer.body, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 });
      await w.refused(w.get(w.core("pods", "a")), { status: 404 });
    },
  },
  {
    name: "an eviction of a pod that is not there is NotFound",
    run: async (w) => {
      await w.refused(evict(w, "nope"), { status: 404, reason: "NotFound", message: 'pods "nope" not found' });
    },
  },
  {
    name: "an eviction spends the budget, and the next is refused",
    run: async (w) => {
      await run(w, "a");
      await run(w, "b");
      await protect(w, 1, 2);
      await w.ok(evict(w, "a"));
      await w.refused(evict(w, "b"), { status: 429, reason: "TooManyRequests", message: tooMany });
      await w.ok(w.get(w.core("pods", "b")));
      const status = objectAt(await w.ok(w.get(budgets(w, "/b"))), "status");
      assert.equal(status["disruptionsAllowed"], 0);
      const allowed = objectsAt(status, "conditions").find(({ type }) => type === "DisruptionAllowed");
      assert.deepEqual([allowed?.["status"], allowed?.["reason"]], ["False", "InsufficientPods"]);
    },
  },
  {
    name: "a refused eviction says what the budget needs",
    run: async (w) => {
      await run(w, "a");
      await protect(w, 1, 1);
      const refusal = await w.refused(evict(w, "a"), { status: 429 });
      const [cause] = objectsAt(objectAt(refusal, "details"), "causes");
      assert.deepEqual(cause, { reason: "DisruptionBudget", message: "The disruption budget b needs 1 healthy pods and has 1 currently" });
    },
  },
  {
    name: "a tried eviction spends nothing",
    run: async (w) => {
      await run(w, "a");
      await run(w, "b");
      await protect(w, 1, 2);
      await w.ok(evict(w, "a", { deleteOptions: { dryRun: ["All"] } }));
      await w.ok(w.get(w.core("pods", "a")));
      assert.equal(objectAt(await w.ok(w.get(budgets(w, "/b"))), "status")["disruptionsAllowed"], 1);
    },
  },
  {
    name: "pods that ended are not protected",
    run: async (w) => {
      await run(w, "a", { phase: "Succeeded", conditions: [] });
      await protect(w, 1, 0);
      await w.ok(evict(w, "a"));
    },
  },
  {
    name: "a pod that is not ready goes only when the others suffice",
    run: async (w) => {
      await run(w, "a", { conditions: [{ type: "Ready", status: "False" }] });
      await protect(w, 1, 0);
      await w.refused(evict(w, "a"), { status: 429 });
    },
  },
  {
    name: "a pod that is not ready goes when the budget always allows that",
    run: async (w) => {
      await run(w, "a", { conditions: [{ type: "Ready", status: "False" }] });
      await protect(w, 1, 0, { unhealthyPodEvictionPolicy: "AlwaysAllow" });
      await w.ok(evict(w, "a"));
    },
  },
  {
    name: "two budgets for one pod are an error",
    run: async (w) => {
      await run(w, "a");
      await protect(w, 1, 1);
      await w.create(budgets(w), { metadata: { name: "c" }, spec: { minAvailable: 1, selector: { matchLabels: labels } } });
      await w.refused(evict(w, "a"), {
        status: 500,
        message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
      });
    },
  },
  {
    name: "an eviction keeps to its preconditions",
    run: async (w) => {
      await run(w, "a");
      await w.refused(evict(w, "a", { deleteOptions: { preconditions: { uid: "other" } } }), { status: 409, reason: "Conflict" });
    },
  },
  {
    name: "an eviction names the pod of its path",
    run: async (w) => {
      await run(w, "a");
      await w.refused(evict(w, "a", { metadata: { name: "b", namespace: w.namespace } }), {
        status: 400,
        message: "name in URL does not match name in Eviction object",
      });
    },
  },
  {
    name: "a new budget has counted nothing yet",
    run: async (w) => {
      const made = await w.create(budgets(w), { metadata: { name: "b" }, spec: { minAvailable: 1, selector: { matchLabels: labels } } });
      assert.deepEqual(made["status"], { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 });
      assert.equal(metaOf(made)["generation"], 1);
    },
  },
];
