import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { demoTimings } from "@talos-operator/simulator";
import type { Condition } from "@talos-operator/api";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const demo = { namespace: "default", name: "demo" };
const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];
const late = "10.5.0.6";

async function ready(world: Story): Promise<number> {
  await apply(world, kinds.cluster, demoCluster(cps, workers));
  await world.start();
  await world.untilReady();
  return world.sent.length;
}

const edit = (world: Story, spec: object): Promise<unknown> =>
  world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec } });
const ask = (world: Story, version: string): Promise<unknown> => edit(world, { controlPlane: { version }, worker: { version } });
const grow = (world: Story): Promise<unknown> =>
  edit(world, { worker: { metalSpec: { machines: [...workers, late].map((address) => ({ address })) } } });

const version = (world: Story, address: string): string => world.datacenter.machine(address).state.hardware.talosVersion;
const pending = (world: Story): Promise<Condition | undefined> => world.condition(kinds.controlPlane, "UpgradePending");
const joined = (world: Story): Promise<void> =>
  world.until("joined", async () => (await world.condition(kinds.machine, "Ready", `demo-${late}`))?.status === "True", 900);
/** What it runs when it is first ready, and whether it was asked to upgrade until then. */
const first = async (world: Story): Promise<readonly [string, boolean]> => {
  await joined(world);
  return [version(world, late), world.sent.some((call) => call === `Upgrade ${late}`)];
};
const upgraded = (world: Story, wanted: string): Promise<void> =>
  world.until("upgraded", async () => [...cps, ...workers, late].every((address) => version(world, address) === wanted), 3_600);

describe("a machine that is added while another Talos is asked for", () => {
  test("is installed with what its role runs before one of them proved the other, and is upgraded after it", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world);
      await ask(world, "v1.13.10");
      await world.until("begun", async () => world.sent.includes("Upgrade 10.5.0.2"), 300);
      await grow(world);
      assert.deepEqual(await first(world), ["v1.13.9", false]);
      await upgraded(world, "v1.13.10");
    }));

  test("is installed with what is asked for once one of its role proved it, and gets no upgrade", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world);
      await ask(world, "v1.13.10");
      await world.until(
        "settled",
        async () =>
          (await world.condition(kinds.controlPlane, "Progressing"))?.reason === "Settled" && version(world, "10.5.0.5") === "v1.13.10",
        3_600,
      );
      await grow(world);
      assert.deepEqual(await first(world), ["v1.13.10", false]);
      await world.time.advance(600_000);
      assert.deepEqual(
        world.sent.filter((call) => call.endsWith(` ${late}`)),
        [`ApplyConfiguration ${late}`],
      );
    }));

  test("is installed with what runs where what is asked for is in quarantine", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world);
      world.datacenter.setReleaseFault("v1.13.10", { boot: "never-healthy" });
      await ask(world, "v1.13.10");
      await world.until("stopped", async () => (await pending(world))?.reason === "VersionFailed", 3_600);
      await grow(world);
      assert.deepEqual(await first(world), ["v1.13.9", false]);
      await world.time.advance(600_000);
      assert.equal(version(world, late), "v1.13.9");
    }));
});
