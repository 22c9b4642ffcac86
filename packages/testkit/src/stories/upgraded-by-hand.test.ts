import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { demoTimings } from "@talos-operator/simulator";
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

/** As `talosctl upgrade` leaves a machine when it ends between the installation and the boot. */
async function install(world: Story, address: string, image: string): Promise<void> {
  const done = asPerson(world, address, async (client) => {
    let name = image;
    for await (const progress of client.imagePull({ reference: image, store: "system" }, { timeoutMs: 60_000 }))
      if (progress.kind === "done") name = progress.name;
    for await (const _ of client.lifecycleUpgrade({ image: name }, { timeoutMs: 60_000 }));
  });
  // The installer takes its time.
  await world.time.advance(30_000);
  await done;
}

describe("a Talos that somebody installed by hand and did not boot", () => {
  const versionAt = (world: Story, address: string): string => world.datacenter.machine(address).state.hardware.talosVersion;
  const sentTo = (world: Story, sent: number, call: string): readonly string[] =>
    world.sent.slice(sent).flatMap((one) => (one.startsWith(`${call} `) ? [one.slice(call.length + 1)] : []));
  const allRun = (world: Story, version: string): Promise<void> =>
    world.until(`all run ${version}`, async () => cps.every((address) => versionAt(world, address) === version), 3_600);

  for (const [what, by] of [
    ["is what is asked for", "v1.13.10"],
    ["is another one", "v1.13.8"],
  ] as const)
    test(`${what}: nothing is installed over it, which is told with what releases it; after a boot the machine is asked what it runs, and the run goes on`, () =>
      tell({ timings: demoTimings }, async (world) => {
        await ready(world);
        await install(world, "10.5.0.2", `ghcr.io/siderolabs/installer:${by}`);
        const sent = world.sent.length;
        await edit(world, { version: "v1.13.10" });
        const says =
          /demo-10\.5\.0\.2 is next: somebody else installed a Talos on it .*no machine reports which.*talosctl reboot.*runs v1\.13\.10.*talosctl rollback/;
        await world.until("told", async () => says.test(await pending(world)), 300);
        await world.time.advance(900_000);
        assert.equal(world.sent.length, sent);
        assert.match((await world.condition(kinds.cluster, "Stalled"))?.message ?? "", says);
        await asPerson(world, "10.5.0.2", (client) => client.reboot({}, { timeoutMs: 10_000 }));
        await allRun(world, "v1.13.10");
        const installed = by === "v1.13.10" ? cps.filter((address) => address !== "10.5.0.2") : cps;
        assert.deepEqual(sentTo(world, sent, "Upgrade").toSorted(), installed);
      }));

  test("while another machine is being upgraded holds up its own turn alone, and a way back releases it as well", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world);
      const sent = world.sent.length;
      await edit(world, { version: "v1.13.10" });
      await world.until("booting", async () => world.sent.includes("Reboot 10.5.0.2"), 300);
      await install(world, "10.5.0.3", "ghcr.io/siderolabs/installer:v1.13.10");
      await world.until("told", async () => /demo-10\.5\.0\.3 is next: somebody else installed a Talos/.test(await pending(world)), 900);
      assert.equal(versionAt(world, "10.5.0.2"), "v1.13.10");
      await asPerson(world, "10.5.0.3", (client) => client.rollback({ timeoutMs: 10_000 }));
      await allRun(world, "v1.13.10");
      // Once by hand.
      assert.deepEqual(sentTo(world, sent, "Upgrade").toSorted(), ["10.5.0.1", "10.5.0.2", "10.5.0.3", "10.5.0.3"]);
    }));
});
