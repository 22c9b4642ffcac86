import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { demoTimings } from "@talos-operator/simulator";
import { kinds, tell } from "./story.ts";
import { all, ask, edit, failed, ready, upgraded, versionAt, workers } from "./upgrades.ts";
import type { Story } from "./story.ts";

const late = "10.5.0.6";

const grow = (world: Story): Promise<unknown> =>
  edit(world, { worker: { metalSpec: { machines: [...workers, late].map((address) => ({ address })) } } });
const joined = (world: Story): Promise<void> =>
  world.until("joined", async () => (await world.condition(kinds.machine, "Ready", `demo-${late}`))?.status === "True", 900);
/** What it runs when it is first ready, and whether it was asked to upgrade until then. */
const first = async (world: Story): Promise<readonly [string, boolean]> => {
  await joined(world);
  return [versionAt(world, late), world.sent.some((call) => call === `Upgrade ${late}`)];
};

describe("a machine that is added while another Talos is asked for", () => {
  test("is installed with what its role runs before one of them proved the other, and is upgraded after it", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world);
      await ask(world, "v1.13.10");
      await world.until("begun", async () => world.sent.includes("Upgrade 10.5.0.2"), 300);
      await grow(world);
      assert.deepEqual(await first(world), ["v1.13.9", false]);
      await upgraded(world, "v1.13.10", [...all, late]);
    }));

  test("is installed with what is asked for once one of its role proved it, and gets no upgrade", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world);
      await ask(world, "v1.13.10");
      await upgraded(world, "v1.13.10");
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
      await failed(world);
      await grow(world);
      assert.deepEqual(await first(world), ["v1.13.9", false]);
      await world.time.advance(600_000);
      assert.equal(versionAt(world, late), "v1.13.9");
    }));

  test("waits where the image that is asked for failed and nobody of its pool tells another, and gets theirs once one does", () =>
    tell({ timings: demoTimings }, async (world) => {
      const broken = "1".repeat(64);
      await ready(world);
      world.datacenter.setReleaseFault("v1.13.9", { installerExitCode: 3, schematic: broken });
      await ask(world, { image: `factory.talos.dev/metal-installer/${broken}` });
      await failed(world);
      for (const address of workers) world.datacenter.machine(address).powerOff();
      await world.time.advance(120_000);
      await grow(world);
      await world.until(
        "told",
        async () =>
          /demo-10\.5\.0\.6: it is not installed, for Talos v1\.13\.9 .* failed on demo-10\.5\.0\.2.*lift-quarantine: v1\.13\.9/.test(
            (await world.condition(kinds.worker, "Ready"))?.message ?? "",
          ),
        300,
      );
      await world.time.advance(300_000);
      assert.deepEqual(
        world.sent.filter((call) => call.endsWith(` ${late}`)),
        [],
      );
      for (const address of workers) world.datacenter.machine(address).powerOn();
      await joined(world);
      const { hardware, schematic = "none" } = world.datacenter.machine(late).state;
      assert.deepEqual(
        [hardware.talosVersion, schematic.slice(0, 4)],
        ["v1.13.9", "3765"],
        "what holds nothing, as an installer of Talos itself",
      );
    }));
});
