import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { apply, assertQuiet } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];
const demo = { namespace: "default", name: "demo" };

async function settled(world: Story, cluster: unknown = demoCluster(cps, workers)): Promise<void> {
  await apply(world, kinds.cluster, cluster);
  await world.start();
  await world.untilReady();
  await world.until("read", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.status === "True");
  await world.time.advance(5_000);
}

function edit(world: Story, spec: unknown): Promise<unknown> {
  return world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec } });
}

const label = (value: string): object => ({ machine: { nodeLabels: { "example.org/rack": value } } });
const patched = (pool: "worker" | "controlPlane", ...configPatches: object[]): object => ({
  [pool]: { metalSpec: { machineSpec: { configPatches } } },
});
const activeOf = (world: Story, address: string): string => world.datacenter.machine(address).state.config.active ?? "";
const onDisk = (world: Story, address: string): string => world.datacenter.machine(address).state.config.persisted ?? "";

describe("a change of settings that is in force at once", () => {
  test("reaches every worker: tried, looked at, kept", () =>
    tell({}, async (world) => {
      await settled(world);
      const sent = world.sent.length;
      await edit(world, patched("worker", label("r1")));
      await world.until("rolled out", async () => workers.every((address) => onDisk(world, address).includes("example.org/rack: r1")));
      await world.until("told", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.status === "True");
      assert.deepEqual(world.sent.slice(sent), [
        "ApplyConfiguration 10.5.0.4",
        "ApplyConfiguration 10.5.0.4",
        "ApplyConfiguration 10.5.0.5",
        "ApplyConfiguration 10.5.0.5",
      ]);
      for (const address of workers) assert.equal(activeOf(world, address), onDisk(world, address));
      await world.time.advance(60_000);
      await assertQuiet(world);
    }));
});
