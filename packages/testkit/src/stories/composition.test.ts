import assert from "node:assert/strict";
import { test } from "node:test";
import { flatCluster, conditionOf, tellComposition } from "./composition.ts";
import { assertQuiet } from "./quiet.ts";
import { kinds } from "./story.ts";

test("a KubernetesCluster becomes Machines, files and a running cluster, and then nothing is written any more (A001, A002, A026-A036, A045-A047)", () =>
  tellComposition({}, async (world) => {
    await world.client.resource(kinds.kubernetesCluster).create(flatCluster(3, { workers: 2 }));
    await world.start();
    await world.untilComposed(600);
    assert.deepEqual(await world.machineNames(), ["demo-cp-0", "demo-cp-1", "demo-cp-2", "demo-workers-0", "demo-workers-1"]);
    const { status } = (await world.cluster()) ?? {};
    assert.deepEqual([status?.phase, status?.controlPlaneReady, status?.workersReady, status?.machineCount], ["Running", true, 2, 5]);
    await world.time.advance(120_000);
    await assertQuiet(world);
    assert.equal(conditionOf(await world.cluster(), "Ready")?.status, "True");
  }));
