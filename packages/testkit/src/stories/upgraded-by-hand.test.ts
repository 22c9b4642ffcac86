import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { asPerson } from "./as-person.ts";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const demo = { namespace: "default", name: "demo" };
const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];

async function ready(world: Story): Promise<void> {
  await apply(world, kinds.cluster, demoCluster(cps));
  await world.start();
  await world.untilReady();
  await world.until("read", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason === "UpToDate");
}

function edit(world: Story, controlPlane: object): Promise<unknown> {
  return world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec: { controlPlane } } });
}

const pending = async (world: Story): Promise<string> => (await world.condition(kinds.controlPlane, "UpgradePending"))?.message ?? "";
const active = (world: Story, address: string): string => world.datacenter.machine(address).state.config.active ?? "";

/** As `talosctl upgrade-k8s` leaves a machine. */
async function upgradeKubernetes(world: Story, address: string, from: string, to: string): Promise<void> {
  const config = active(world, address).replaceAll(`:${from}`, `:${to}`);
  await asPerson(world, address, (client) => client.applyConfiguration({ config, mode: "no-reboot" }, { timeoutMs: 10_000 }));
}

/** Another machine in the list: two join, for their number stays odd. */
async function grow(world: Story): Promise<void> {
  const machines = [...cps, "10.5.0.4", "10.5.0.5"].map((address) => ({ address }));
  await edit(world, { metalSpec: { machines } });
  await world.until("five", async () => (await world.condition(kinds.machine, "Ready", "demo-10.5.0.5"))?.status === "True", 900);
}

describe("what was upgraded by other means", () => {
  test("Kubernetes: the spec follows, nothing is pending any more, and a machine that joins gets what runs", () =>
    tell({}, async (world) => {
      await ready(world);
      await edit(world, { kubeVersion: "v1.36.4" });
      await world.until("told", async () => /Kubernetes runs v1\.36\.3, the spec asks for v1\.36\.4/.test(await pending(world)));
      await upgradeKubernetes(world, "10.5.0.1", "v1.36.3", "v1.36.4");
      await world.time.advance(1_200_000);
      assert.match(await pending(world), /Kubernetes runs v1\.36\.3/, "one of three is not the cluster");
      for (const address of cps.slice(1)) await upgradeKubernetes(world, address, "v1.36.3", "v1.36.4");
      const sent = world.sent.length;
      await world.until("no more", async () => (await pending(world)) === "", 1_200);
      await world.time.advance(60_000);
      assert.equal(world.sent.length, sent);
      await grow(world);
      assert.match(active(world, "10.5.0.5"), /kubelet:v1\.36\.4/);
      assert.equal(await world.condition(kinds.controlPlane, "ConfigDrift"), undefined);
    }));

  test("Talos: nothing is pending any more, and a control plane that joins gets what runs", () =>
    tell({}, async (world) => {
      await ready(world);
      // Machines are paused meanwhile: what differs from the spec would be upgraded again.
      await world.annotate(kinds.cluster, "talos.alperen.cloud/reconcile-mode", "disable");
      const image = "ghcr.io/siderolabs/installer:v1.13.8";
      for (const address of cps) {
        await asPerson(world, address, (client) => client.upgrade({ image, preserve: true }, { timeoutMs: 60_000 }));
        await world.until(`${address} is back`, async () => world.datacenter.machine(address).state.stage === "running", 300);
        await world.time.advance(60_000);
      }
      await edit(world, { version: "v1.13.8" });
      const sent = world.sent.length;
      await world.annotate(kinds.cluster, "talos.alperen.cloud/reconcile-mode", undefined);
      await world.until("no more", async () => (await pending(world)) === "", 120);
      await world.time.advance(60_000);
      assert.equal(world.sent.length, sent);
      await grow(world);
      // The simulated installer writes what it was booted from; what it was told counts.
      assert.match(active(world, "10.5.0.5"), /installer:v1\.13\.8/);
    }));
});
