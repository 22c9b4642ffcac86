// Upgrades of Talos in a cluster whose own Kubernetes API does not answer the operator: which Nodes are ready nobody tells then.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { WorkloadDialer } from "@talos-operator/ports";
import { demoTimings } from "@talos-operator/simulator";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const demo = { namespace: "default", name: "demo" };
const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];
const all = [...cps, ...workers];

interface Cut {
  isCut: boolean;
}

/** A network that lets the operator reach machines, and not the API of the cluster. */
function cuttable(cut: Cut): (real: WorkloadDialer) => WorkloadDialer {
  const refused = (): Promise<never> => Promise.reject(Object.assign(new Error("no route to host"), { name: "KubeTransportFailure" }));
  return (real) => ({
    dial(target) {
      const transport = real.dial(target);
      return {
        ...transport,
        send: (request, options) => (cut.isCut ? refused() : transport.send(request, options)),
        watch: (request, options) => (cut.isCut ? refused() : transport.watch(request, options)),
      };
    },
  });
}

async function ready(world: Story): Promise<number> {
  await apply(world, kinds.cluster, demoCluster(cps, workers));
  await world.start();
  await world.untilReady();
  return world.sent.length;
}

const ask = (world: Story, version: string): Promise<unknown> =>
  world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec: { controlPlane: { version }, worker: { version } } } });
const pending = async (world: Story): Promise<string> => (await world.condition(kinds.controlPlane, "UpgradePending"))?.message ?? "";
const says = (world: Story, words: RegExp, seconds = 300): Promise<void> =>
  world.until(`it says ${words.source}`, async () => words.test(await pending(world)), seconds);
const versionAt = (world: Story, address: string): string => world.datacenter.machine(address).state.hardware.talosVersion;
const sentTo = (world: Story, sent: number, call: string): readonly string[] =>
  world.sent.slice(sent).flatMap((one) => (one.startsWith(`${call} `) ? [one.slice(call.length + 1)] : []));

async function upgraded(world: Story, sent: number): Promise<void> {
  await world.until("all run it", async () => all.every((address) => versionAt(world, address) === "v1.13.10"), 3_600);
  await world.until("nothing is pending", async () => (await pending(world)) === "", 1_800);
  for (const once of ["Upgrade", "Reboot"]) assert.deepEqual(sentTo(world, sent, once).toSorted(), all);
}

const untold = /demo-10\.5\.0\.2 boots Talos v1\.13\.10; it runs that, and the cluster's own API does not list its Nodes/;

describe("an upgrade of Talos without the cluster's own API", () => {
  test("that goes while a machine boots blames nothing on the version, says what is waited for, and goes on when it is back", () => {
    const cut: Cut = { isCut: false };
    return tell({ timings: demoTimings, workloads: cuttable(cut) }, async (world) => {
      const sent = await ready(world);
      await ask(world, "v1.13.10");
      await world.until("booting", async () => world.sent.includes("Reboot 10.5.0.2"), 300);
      cut.isCut = true;
      await says(world, untold);
      await world.time.advance(2_400_000);
      await says(world, untold);
      assert.deepEqual(sentTo(world, sent, "Reboot"), ["10.5.0.2"]);
      assert.equal((await world.get(kinds.record))?.spec?.["quarantine"], undefined);
      cut.isCut = false;
      await upgraded(world, sent);
    });
  });

  test("from the beginning begins with no boot, says that the API does not answer, and goes on when it does", () => {
    const cut: Cut = { isCut: false };
    return tell({ timings: demoTimings, workloads: cuttable(cut) }, async (world) => {
      const sent = await ready(world);
      cut.isCut = true;
      await ask(world, "v1.13.10");
      await says(world, /demo-10\.5\.0\.2 is next: the cluster's own API does not list its Nodes/);
      await world.time.advance(2_400_000);
      assert.deepEqual(sentTo(world, sent, "Reboot"), []);
      assert.equal((await world.condition(kinds.controlPlane, "Ready"))?.status, "True");
      cut.isCut = false;
      await upgraded(world, sent);
    });
  });

  test("that is not well stays to blame: a machine that says itself that its node is not ready is rolled back", () => {
    const cut: Cut = { isCut: false };
    return tell({ timings: demoTimings, workloads: cuttable(cut) }, async (world) => {
      const sent = await ready(world);
      world.datacenter.setReleaseFault("v1.13.10", { boot: "never-healthy" });
      await ask(world, "v1.13.10");
      await world.until("booting", async () => world.sent.includes("Reboot 10.5.0.2"), 300);
      cut.isCut = true;
      await world.until(
        "rolled back",
        async () => versionAt(world, "10.5.0.2") === "v1.13.9" && world.sent.includes("Rollback 10.5.0.2"),
        2_400,
      );
      assert.deepEqual(sentTo(world, sent, "Upgrade"), ["10.5.0.2"]);
    });
  });
});
