import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { demoTimings, realisticTimings } from "@talos-operator/simulator";
import type { ClusterRecord } from "@talos-operator/api";
import type { ReleaseFault } from "@talos-operator/simulator";
import { demoCluster, kinds, tell } from "./story.ts";
import { all, ask, cps, failed, killed, once, pending, ready, sentTo, upgraded, versions, workers } from "./upgrades.ts";
import type { Story } from "./story.ts";

const record = async (world: Story): Promise<ClusterRecord | undefined> =>
  (await world.get(kinds.record)) as unknown as ClusterRecord | undefined;

describe("another Talos", () => {
  test("the next patch goes to one control plane after the other, the leader last, then to one worker after the other, each drained for its boot", () =>
    tell({ timings: demoTimings }, async (world) => {
      const two = [...workers, "10.5.0.5"];
      const sent = await ready(world, demoCluster(cps, two));
      const written = world.workloadWrites.length;
      await ask(world, "v1.13.10");
      await world.until("told", async () => (await world.condition(kinds.controlPlane, "Progressing"))?.reason === "UpgradingTalos");
      await upgraded(world, "v1.13.10", [...cps, ...two]);
      assert.deepEqual(world.sent.slice(sent), [
        ...["10.5.0.2", "10.5.0.3"].flatMap(once),
        "Pull 10.5.0.1",
        "Upgrade 10.5.0.1",
        "EtcdForfeitLeadership 10.5.0.1",
        "Reboot 10.5.0.1",
        ...two.flatMap(once),
      ]);
      const { spec } = (await record(world)) ?? {};
      assert.deepEqual([spec?.operations, spec?.quarantine, spec?.openControlPlaneIntent], [undefined, undefined, undefined]);
      assert.equal(spec?.talosVersion, "v1.13.10", "what joins gets what runs");
      await world.time.advance(120_000);
      const nodes = world.workloadWrites.slice(written).filter((write) => write.startsWith("PATCH /api/v1/nodes/"));
      const byNode = Map.groupBy(nodes, (write) => write.slice(write.lastIndexOf("/") + 1));
      // Cordoned, and schedulable again.
      assert.deepEqual(
        [...byNode.values()].map((writes) => writes.length).toSorted((a, b) => a - b),
        [2, 2, 2, 4, 4],
        "workers bear the taint of nodes that are still to come, too",
      );
    }));

  test("nothing is sent again for what runs already", () =>
    tell({}, async (world) => {
      const sent = await ready(world);
      await ask(world, "v1.13.9");
      await world.time.advance(600_000);
      assert.equal(world.sent.length, sent);
    }));

  for (const [everyMs, times, timings] of [
    [3_000, 15, demoTimings],
    [17_000, 20, realisticTimings],
    [41_000, 16, realisticTimings],
  ] as const)
    test(`an operator that dies every ${everyMs / 1000} s installs once on each machine, and comes to the end`, () =>
      tell({ timings }, async (world) => {
        const sent = await ready(world);
        await ask(world, "v1.13.10");
        await killed(world, everyMs, times);
        await upgraded(world, "v1.13.10", all, 4 * 3_600);
        const calls = world.sent.slice(sent);
        for (const address of all) {
          const own = calls.filter((call) => call === `Upgrade ${address}` || call === `Reboot ${address}`);
          assert.deepEqual(own, [`Upgrade ${address}`, `Reboot ${address}`], calls.join(", "));
        }
      }));
});

describe("a Talos that does not work", () => {
  const broken = (world: Story, fault: ReleaseFault): void => world.datacenter.setReleaseFault("v1.13.10", fault);

  test("one that boots and never gets well is rolled back, once, on the one machine that got it", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world);
      broken(world, { boot: "never-healthy" });
      await ask(world, "v1.13.10");
      await failed(world);
      await world.until("ready", async () => (await world.condition(kinds.controlPlane, "Ready"))?.status === "True", 600);
      await world.time.advance(1_800_000);
      assert.deepEqual(world.sent.slice(sent), ["Pull 10.5.0.2", "Upgrade 10.5.0.2", "Reboot 10.5.0.2", "Rollback 10.5.0.2"]);
      assert.deepEqual(versions(world), ["v1.13.9"]);
      const { spec } = (await record(world)) ?? {};
      assert.deepEqual(
        spec?.quarantine?.map(({ version, machine, manufacturer }) => [version, machine, manufacturer]),
        [["v1.13.10", "demo-10.5.0.2", "Simulated"]],
      );
      assert.deepEqual([spec?.operations, spec?.openControlPlaneIntent], [undefined, undefined]);
      assert.match((await pending(world))?.message ?? "", /failed on demo-10\.5\.0\.2 .*lift-quarantine: v1\.13\.10/);
    }));

  test("one that falls back by itself gets no further call", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world);
      broken(world, { boot: "fails" });
      await ask(world, "v1.13.10");
      await failed(world);
      await world.time.advance(1_800_000);
      assert.deepEqual(world.sent.slice(sent), ["Pull 10.5.0.2", "Upgrade 10.5.0.2", "Reboot 10.5.0.2"]);
      assert.match((await pending(world))?.message ?? "", /booted v1\.13\.9 again by itself/);
      assert.equal((await world.condition(kinds.controlPlane, "Ready"))?.status, "True");
    }));

  test("an installer that ends with an error stops the run", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world);
      broken(world, { installerExitCode: 1 });
      await ask(world, "v1.13.10");
      await failed(world);
      await world.time.advance(1_800_000);
      assert.deepEqual(world.sent.slice(sent), ["Pull 10.5.0.2", "Upgrade 10.5.0.2"]);
      assert.match((await pending(world))?.message ?? "", /installer of Talos v1\.13\.10 ended with an error/);
    }));

  test("a machine that is silent after its boot gets nothing more, and the run stops", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world);
      await ask(world, "v1.13.10");
      await world.until("booting", async () => sentTo(world, sent, "Reboot").length === 1, 3_600);
      world.datacenter.machine("10.5.0.2").setConnected(false);
      await failed(world);
      await world.time.advance(1_800_000);
      assert.deepEqual(world.sent.slice(sent), ["Pull 10.5.0.2", "Upgrade 10.5.0.2", "Reboot 10.5.0.2"]);
    }));

  test("an image that nobody has is told, and nothing is installed", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world);
      broken(world, { image: "missing" });
      await ask(world, "v1.13.10");
      await world.until("told", async () => /could not be pulled/.test((await pending(world))?.message ?? ""), 300);
      await world.time.advance(600_000);
      assert.deepEqual(sentTo(world, sent, "Upgrade"), []);
      broken(world, {});
      await upgraded(world, "v1.13.10");
    }));

  test("a person lifts the quarantine, and the version is tried again", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world);
      broken(world, { boot: "fails" });
      await ask(world, "v1.13.10");
      await failed(world);
      broken(world, {});
      const lift = "talos-operator.dev/lift-quarantine";
      const isLeft = async (): Promise<boolean> => (await world.get(kinds.controlPlane))?.metadata?.annotations?.[lift] !== undefined;
      await world.annotate(kinds.controlPlane, lift, "v1.13.1");
      await world.until("answered", async () => !(await isLeft()), 60);
      assert.match((await pending(world))?.message ?? "", /failed on demo-10\.5\.0\.2/);
      await world.annotate(kinds.controlPlane, lift, "v1.13.10");
      await upgraded(world, "v1.13.10");
      assert.equal(await isLeft(), false, "it acts once");
      await world.annotate(kinds.controlPlane, lift, "v1.13.11");
      await world.until("it lifts nothing that fails later", async () => !(await isLeft()), 60);
    }));

  test("another version that is asked for instead goes its way", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world);
      broken(world, { boot: "fails" });
      await ask(world, "v1.13.10");
      await failed(world);
      await world.until("back", async () => versions(world).join() === "v1.13.9", 600);
      await ask(world, "v1.13.11");
      await upgraded(world, "v1.13.11");
      assert.equal((await record(world))?.spec.quarantine?.length, 1, "what failed is remembered");
    }));
});
