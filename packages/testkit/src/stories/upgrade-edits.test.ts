import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { demoTimings } from "@talos-operator/simulator";
import { demoCluster, kinds, tell } from "./story.ts";
import { all, ask, cps, edit, once, pending, ready, sentTo, settled, upgraded, versionAt, versions, workers } from "./upgrades.ts";
import type { Story } from "./story.ts";

const mode = "talos.alperen.cloud/reconcile-mode";

/** A Talos is installed on the first machine and not booted yet, and the operator that began it has died. */
async function installed(world: Story): Promise<void> {
  await world.until("installing", async () => world.sent.includes("Upgrade 10.5.0.2"), 300);
  await world.kill();
  await world.time.advance(30_000);
  assert.notEqual(world.datacenter.machine("10.5.0.2").state.meta["6"], undefined);
}

describe("an edit in the middle of an upgrade", () => {
  test("the version of before, after something was installed: it is taken back and never booted", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world);
      await ask(world, "v1.13.10");
      await installed(world);
      await ask(world, "v1.13.9");
      await world.start();
      await world.until("taken back", async () => world.sent.slice(sent).includes("Rollback 10.5.0.2"), 300);
      await settled(world);
      assert.deepEqual(versions(world), ["v1.13.9"]);
      assert.deepEqual(world.sent.slice(sent), ["Pull 10.5.0.2", "Upgrade 10.5.0.2", "Rollback 10.5.0.2"]);
      world.datacenter.machine("10.5.0.2").powerOff();
      world.datacenter.machine("10.5.0.2").powerOn();
      await world.time.advance(60_000);
      assert.deepEqual(versions(world), ["v1.13.9"], "another boot starts what is asked for");
    }));

  test("a third version: what was installed is taken back, and all machines come to the third", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world);
      await ask(world, "v1.13.10");
      await installed(world);
      await ask(world, "v1.13.11");
      await world.start();
      await upgraded(world, "v1.13.11");
    }));

  test("a third version while the second one boots: that is brought to its end first", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world);
      await ask(world, "v1.13.10");
      await world.until("booting", async () => world.sent.includes("Reboot 10.5.0.2"), 300);
      await ask(world, "v1.13.11");
      await upgraded(world, "v1.13.11");
    }));

  test("a pause between installation and boot holds everything, and it goes on after it", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world);
      await ask(world, "v1.13.10");
      await installed(world);
      await world.annotate(kinds.cluster, mode, "disable");
      await world.start();
      await world.time.advance(10_000);
      const sent = world.sent.length;
      await world.time.advance(600_000);
      assert.equal(world.sent.length, sent);
      await world.annotate(kinds.cluster, mode, undefined);
      await upgraded(world, "v1.13.10");
      assert.equal(world.sent.filter((call) => call === "Upgrade 10.5.0.2").length, 1, "nothing is installed twice");
    }));

  for (const call of ["Upgrade", "Reboot"])
    test(`a pause after the call ${call} that lasts longer than the machine may take blames nothing on the version`, () =>
      tell({ timings: demoTimings }, async (world) => {
        const sent = await ready(world);
        await ask(world, "v1.13.10");
        await world.until(call, async () => world.sent.includes(`${call} 10.5.0.2`), 300);
        await world.annotate(kinds.cluster, mode, "disable");
        await world.time.advance(2_400_000);
        await world.annotate(kinds.cluster, mode, undefined);
        await upgraded(world, "v1.13.10");
        assert.deepEqual((await world.get(kinds.record))?.spec?.["quarantine"], undefined);
        for (const one of ["Upgrade", "Reboot"]) assert.deepEqual(sentTo(world, sent, one).toSorted(), all, `${one}: once on each machine`);
      }));

  test("another version right after one that was rolled out goes as fast as that one", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world);
      const took = async (version: string): Promise<number> => {
        const began = world.time.clock.now();
        await ask(world, version);
        await upgraded(world, version);
        return world.time.clock.now() - began;
      };
      const first = await took("v1.13.10");
      const second = await took("v1.13.11");
      assert.ok(second < first * 1.2, `${second} ms after ${first} ms`);
    }));

  test("the version of before, on a machine that was rolled back a moment ago: what is installed is taken back at once", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world);
      world.datacenter.setReleaseFault("v1.13.10", { boot: "never-healthy" });
      await ask(world, "v1.13.10");
      await world.until("rolled back", async () => world.sent.includes("Rollback 10.5.0.2"), 3_600);
      await world.until("well", async () => versionAt(world, "10.5.0.2") === "v1.13.9", 300);
      const sent = world.sent.length;
      await ask(world, "v1.13.11");
      await world.until("installing", async () => sentTo(world, sent, "Upgrade").length > 0, 600);
      await world.annotate(kinds.cluster, mode, "disable");
      await world.until("installed", async () => world.datacenter.machine("10.5.0.2").state.meta["6"] !== undefined, 120);
      await ask(world, "v1.13.9");
      await world.annotate(kinds.cluster, mode, undefined);
      await world.until("taken back", async () => sentTo(world, sent, "Rollback").length > 0, 120);
      await settled(world);
      assert.deepEqual(sentTo(world, sent, "Reboot"), []);
      world.datacenter.machine("10.5.0.2").powerOff();
      world.datacenter.machine("10.5.0.2").powerOn();
      await world.time.advance(60_000);
      assert.deepEqual(versions(world), ["v1.13.9"], "another boot starts what is asked for");
    }));
});

describe("what is asked for", () => {
  test("a worker pool above its control plane is refused, and nothing is sent", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world);
      await ask(world, "v1.14.0", ["worker"]);
      await world.until(
        "told",
        async () =>
          /newer Talos .* than the control plane \(v1\.13\.9\): upgrade the control plane first/.test(
            (await pending(world))?.message ?? "",
          ),
        120,
      );
      await world.time.advance(300_000);
      assert.equal(world.sent.length, sent);
    }));

  test("a version back goes with a person's word, and not without", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world);
      await ask(world, "v1.13.8");
      await world.until("told", async () => (await pending(world))?.reason === "DowngradeAsked", 120);
      await world.time.advance(300_000);
      assert.equal(world.sent.length, sent);
      await world.annotate(kinds.controlPlane, "talos-operator.dev/allow-downgrade", "v1.13.8");
      await upgraded(world, "v1.13.8");
      const isLeft = async (): Promise<boolean> =>
        (await world.get(kinds.controlPlane))?.metadata?.annotations?.["talos-operator.dev/allow-downgrade"] !== undefined;
      await world.until("served", async () => !(await isLeft()), 60);
      await ask(world, "v1.13.9");
      await upgraded(world, "v1.13.9");
      await ask(world, "v1.13.8");
      await world.until("a second one is asked for anew", async () => (await pending(world))?.reason === "DowngradeAsked", 120);
    }));

  test("the only control plane is upgraded, too", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world, demoCluster(["10.5.0.1"], workers));
      await ask(world, "v1.13.10");
      await upgraded(world, "v1.13.10", ["10.5.0.1", ...workers]);
    }));

  test("Talos 1.12 goes by the older call, drained and without the leadership before it", () =>
    tell({ timings: demoTimings, machines: all.map((address) => ({ address, talosVersion: "v1.12.4" })) }, async (world) => {
      const old = { version: "v1.12.4", kubeVersion: "v1.34.1" };
      const { spec, ...cluster } = demoCluster(cps, workers, old);
      const sent = await ready(world, { ...cluster, spec: { ...spec, worker: { ...spec?.worker, mode: "metal", ...old } } });
      await ask(world, "v1.12.11");
      await upgraded(world, "v1.12.11");
      const calls = world.sent.slice(sent).filter((call) => !call.includes("Pull"));
      assert.deepEqual(calls, [
        "Upgrade 10.5.0.2",
        "Upgrade 10.5.0.3",
        "EtcdForfeitLeadership 10.5.0.1",
        "Upgrade 10.5.0.1",
        "Upgrade 10.5.0.4",
      ]);
    }));

  test("a machine with a version of its own gets that one alone, and keeps it while the others of its pool go on", () =>
    tell({ timings: demoTimings }, async (world) => {
      const others = [...workers, "10.5.0.5"];
      const sent = await ready(world, demoCluster(cps, others));
      const pin = (version?: string): Promise<unknown> =>
        edit(world, {
          worker: {
            metalSpec: { machines: [{ address: "10.5.0.4", ...(version === undefined ? {} : { version }) }, { address: "10.5.0.5" }] },
          },
        });
      await pin("v1.13.10");
      await upgraded(world, "v1.13.10", ["10.5.0.4"]);
      assert.deepEqual(world.sent.slice(sent), once("10.5.0.4"));
      const before = world.sent.length;
      await ask(world, "v1.13.11");
      await upgraded(world, "v1.13.11", [...cps, "10.5.0.5"]);
      assert.deepEqual(sentTo(world, before, "Upgrade").toSorted(), [...cps, "10.5.0.5"]);
      assert.deepEqual(versions(world, ["10.5.0.4"]), ["v1.13.10"]);
      await pin();
      await upgraded(world, "v1.13.11", others);
    }));
});
