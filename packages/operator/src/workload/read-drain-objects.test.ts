import assert from "node:assert/strict";
import { test } from "node:test";
import { createKubeClient } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { KubeRequest } from "@talos-operator/ports";
import { MOST_PODS, readDrainObjects } from "./read-drain-objects.ts";

/** An API with so many pods, and a list of what it was asked for. */
function withPods(count: number): { readonly client: KubeClient; readonly asked: KubeRequest[] } {
  const asked: KubeRequest[] = [];
  const pod = (index: number) => ({
    metadata: { namespace: "default", name: `p${index}`, managedFields: [{ manager: "kubelet" }] },
    spec: { nodeName: "a", containers: [{ name: "main", image: "example.com/web:1", resources: { requests: { cpu: "1" }, limits: {} } }] },
    status: { phase: "Running", podIP: "10.244.0.1" },
  });
  const list = ({ path, query }: KubeRequest): object => {
    if (path.endsWith("/nodes")) return { kind: "NodeList", metadata: { resourceVersion: "1" }, items: [{ metadata: { name: "a" } }] };
    if (path.endsWith("/poddisruptionbudgets"))
      return {
        kind: "PodDisruptionBudgetList",
        metadata: { resourceVersion: "1" },
        items: [{ metadata: { namespace: "default", name: "db" } }],
      };
    const from = Number(query?.["continue"] ?? 0);
    const to = Math.min(count, from + Number(query?.["limit"]));
    const items = Array.from({ length: to - from }, (_, index) => pod(from + index));
    return { kind: "PodList", metadata: { resourceVersion: "1", ...(to < count ? { continue: String(to) } : {}) }, items };
  };
  const client = createKubeClient({
    send: async (request) => {
      await Promise.resolve();
      asked.push(request);
      return { status: 200, headers: {}, body: list(request) };
    },
    watch: () => Promise.reject(new Error("not asked for")),
    close: () => undefined,
  });
  return { client, asked };
}

test("pods are read a page at a time, and of each what is counted", async () => {
  const { client, asked } = withPods(1_200);
  const found = await readDrainObjects(client, client, {});
  assert.equal(found.pods?.length, 1_200);
  assert.deepEqual(found.pods[0]?.spec, { nodeName: "a", containers: [{ resources: { requests: { cpu: "1" } } }] });
  assert.doesNotMatch(JSON.stringify(found.pods[0]), /managedFields|podIP|image/);
  assert.equal(asked.filter(({ path }) => path.endsWith("/pods")).length, 3);
  assert.deepEqual(
    found.budgets.map(({ metadata }) => metadata?.name),
    ["db"],
  );
});

test("of more pods than are held none is, and no further page is asked for", async () => {
  const { client, asked } = withPods(50_000);
  // Never compared with what differs: thousands of pods would be printed.
  assert.ok((await readDrainObjects(client, client, {})).pods === undefined);
  assert.equal(asked.filter(({ path }) => path.endsWith("/pods")).length, MOST_PODS / 500 + 1);
  assert.equal((await readDrainObjects(withPods(MOST_PODS).client, client, {})).pods?.length, MOST_PODS);
});
