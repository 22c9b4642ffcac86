import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { demoTimings } from "@talos-operator/simulator";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const demo = { namespace: "default", name: "demo" };
const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];

async function founded(world: Story): Promise<void> {
  await apply(world, kinds.cluster, demoCluster(cps, [], { cni: { name: "none" } }));
  await world.start();
  await world.until("three members", async () => (await world.condition(kinds.controlPlane, "EtcdHealthy"))?.status === "True", 600);
  await world.time.advance(120_000);
}

const ask = (world: Story, version: string): Promise<unknown> =>
  world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec: { controlPlane: { version } } } });

async function upgraded(world: Story, version: string): Promise<void> {
  for (const address of cps) world.datacenter.machine(address).installNetwork();
  await world.until(
    "upgraded",
    async () => cps.every((address) => world.datacenter.machine(address).state.hardware.talosVersion === version),
    3_600,
  );
}

describe("with cni none another Talos", () => {
  test("waits for a network plugin, without which no machine shows that it is well, and says so", () =>
    tell({ timings: demoTimings }, async (world) => {
      await founded(world);
      const sent = world.sent.length;
      await ask(world, "v1.13.10");
      const pending = async (): Promise<string> => (await world.condition(kinds.controlPlane, "UpgradePending"))?.message ?? "";
      const says = /Nothing begins while no Node can be Ready.* Install one with a TalosClusterAddon/;
      await world.until("told", async () => says.test(await pending()), 300);
      await world.time.advance(900_000);
      assert.equal(world.sent.length, sent);
      await upgraded(world, "v1.13.10");
    }));

  test("goes to machines whose network somebody brought", () =>
    tell({ timings: demoTimings }, async (world) => {
      await founded(world);
      await ask(world, "v1.13.10");
      await upgraded(world, "v1.13.10");
    }));
});
