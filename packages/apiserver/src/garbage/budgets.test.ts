import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { metaOf } from "../conformance/world.ts";
import type { World } from "../conformance/world.ts";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt } from "../request/json.ts";
import { startMemoryServer } from "../testing/memory-server.ts";

const labels = { app: "x" };
const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const containers = [{ name: "c", image: "i:1" }];

async function makeSet(w: World, replicas: number): Promise<JsonObject> {
  const template = { metadata: { labels }, spec: { containers } };
  return w.create("/apis/apps/v1/namespaces/default/replicasets", {
    metadata: { name: "set" },
    spec: { replicas, selector: { matchLabels: labels }, template },
  });
}

async function makePod(w: World, name: string, isReady: boolean, owner?: JsonObject): Promise<void> {
  const ownerReferences =
    owner === undefined
      ? []
      : [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: metaOf(owner)["name"], uid: metaOf(owner)["uid"], controller: true }];
  await w.create(w.core("pods"), { metadata: { name, labels, ownerReferences }, spec: { containers } });
  const conditions = [{ type: "Ready", status: isReady ? "True" : "False" }];
  await w.ok(w.patch(w.core("pods", `${name}/status`), "merge", { status: { phase: "Running", conditions } }));
}

async function countsOf(w: World): Promise<readonly unknown[]> {
  const status = objectAt(await w.ok(w.get(`${budgets}/b`)), "status");
  return [status["expectedPods"], status["desiredHealthy"], status["currentHealthy"], status["disruptionsAllowed"]];
}

interface Case {
  readonly name: string;
  readonly spec: JsonObject;
  readonly replicas?: number;
  readonly ready: number;
  readonly unready: number;
  /** expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed. */
  readonly want: readonly number[];
}

describe("the status of a disruption budget", () => {
  const cases: readonly Case[] = [
    { name: "counts pods for a number that must stay", spec: { minAvailable: 1 }, ready: 2, unready: 0, want: [2, 1, 2, 1] },
    { name: "counts only pods that are ready", spec: { minAvailable: 1 }, ready: 1, unready: 1, want: [2, 1, 1, 0] },
    {
      name: "takes a share of what the controller wants, rounded up",
      spec: { minAvailable: "50%" },
      replicas: 5,
      ready: 4,
      unready: 0,
      want: [5, 3, 4, 1],
    },
    { name: "takes a number that may be missing", spec: { maxUnavailable: 1 }, replicas: 3, ready: 3, unready: 0, want: [3, 2, 3, 1] },
    { name: "takes a share that may be missing", spec: { maxUnavailable: "34%" }, replicas: 3, ready: 3, unready: 0, want: [3, 1, 3, 2] },
    { name: "allows nothing when nothing is there", spec: { minAvailable: 0 }, ready: 0, unready: 0, want: [0, 0, 0, 0] },
  ];
  for (const { name, spec, replicas, ready, unready, want } of cases) {
    it(name, async () => {
      const { world: w, time } = await startMemoryServer();
      const owner = replicas === undefined ? undefined : await makeSet(w, replicas);
      for (let n = 0; n < ready + unready; n++) await makePod(w, `p-${n}`, n < ready, owner);
      await w.create(budgets, { metadata: { name: "b" }, spec: { ...spec, selector: { matchLabels: labels } } });
      time.advance(0);
      assert.deepEqual(await countsOf(w), want);
    });
  }

  it("says that it cannot tell for pods without a controller", async () => {
    const { world: w, time } = await startMemoryServer();
    await makePod(w, "p", true);
    await w.create(budgets, { metadata: { name: "b" }, spec: { maxUnavailable: 1, selector: { matchLabels: labels } } });
    time.advance(0);
    const status = objectAt(await w.ok(w.get(`${budgets}/b`)), "status");
    assert.equal(status["disruptionsAllowed"], 0);
    assert.equal(objectsAt(status, "conditions")[0]?.["reason"], "SyncFailed");
  });

  it("follows its pods", async () => {
    const { world: w, time } = await startMemoryServer();
    for (const name of ["a", "b"]) await makePod(w, name, true);
    await w.ok(w.patch(w.core("pods", "a"), "merge", { metadata: { finalizers: ["example.com/hold"] } }));
    await w.create(budgets, { metadata: { name: "b" }, spec: { minAvailable: 1, selector: { matchLabels: labels } } });
    time.advance(0);
    const evict = (name: string): Promise<JsonObject> =>
      w.create(w.core("pods", `${name}/eviction`), { apiVersion: "policy/v1", kind: "Eviction", metadata: { name } });
    await evict("a");
    time.advance(0);
    assert.deepEqual(await countsOf(w), [2, 1, 1, 0]);
    await w.ok(w.patch(w.core("pods", "a"), "merge", { metadata: { finalizers: null } }));
    time.advance(0);
    assert.deepEqual(await countsOf(w), [1, 1, 1, 0]);
    await makePod(w, "c", true);
    time.advance(0);
    assert.deepEqual(await countsOf(w), [2, 1, 2, 1]);
  });

  it("writes nothing while nothing changes", async () => {
    const { api, world: w, time } = await startMemoryServer();
    await makePod(w, "p", true);
    await w.create(budgets, { metadata: { name: "b" }, spec: { minAvailable: 1, selector: { matchLabels: labels } } });
    time.advance(0);
    const revision = api.revision();
    time.advance(600_000);
    assert.equal(api.revision(), revision);
  });
});
