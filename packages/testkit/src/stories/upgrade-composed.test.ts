import assert from "node:assert/strict";
import { test } from "node:test";
import { demoTimings } from "@talos-operator/simulator";
import { conditionOf, flatCluster, tellComposition } from "./composition.ts";
import { kinds } from "./story.ts";
import { once, versions, withoutLeadership } from "./upgrades.ts";

const demo = { namespace: "default", name: "demo" };
const controlPlanes = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];

test("another talosVersion of a KubernetesCluster goes through the same engine, and its status tells how far it is (A010)", () =>
  tellComposition({ timings: demoTimings }, async (world) => {
    await world.client.resource(kinds.kubernetesCluster).create(flatCluster(3, { workers: 1 }));
    await world.start();
    await world.untilComposed();
    const all = [...controlPlanes, "10.5.0.4"];
    const { length } = world.sent;
    assert.equal((await world.cluster())?.status?.upgrade, undefined);
    await world.client.resource(kinds.kubernetesCluster).patch(demo, { type: "merge", value: { spec: { talosVersion: "v1.13.10" } } });
    const told = new Set<string>();
    await world.until(
      "upgraded",
      async () => {
        const cluster = await world.cluster();
        const { progress, underWay = [] } = cluster?.status?.upgrade ?? {};
        if (progress !== undefined)
          told.add(`${progress} ${underWay.length} ${conditionOf(cluster, "Progressing")?.reason ?? ""} ${cluster?.status?.phase ?? ""}`);
        return versions(world, all).join() === "v1.13.10" && conditionOf(cluster, "Progressing")?.reason === "Settled";
      },
      1_800,
    );
    for (const done of [0, 1, 2, 3])
      assert.ok(
        [...told].some((one) => one.startsWith(`${done}/4 1 UpgradingTalos `)),
        [...told].join("; "),
      );
    await world.time.advance(60_000);
    const { status } = (await world.cluster()) ?? {};
    assert.deepEqual([status?.upgrade, status?.phase, status?.state.versions[0]?.version], [undefined, "Running", "v1.13.10"]);
    const calls = withoutLeadership(world.sent.slice(length));
    assert.deepEqual(calls.toSorted(), all.flatMap(once).toSorted());
    assert.deepEqual(calls.slice(-3), once("10.5.0.4"), "workers come after the control planes");
  }));
