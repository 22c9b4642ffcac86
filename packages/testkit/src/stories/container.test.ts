import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { describeMachineConfig, validateMachineConfig } from "@talos-operator/talos";
import { instantTimings, realisticTimings } from "@talos-operator/simulator";
import { containerDocuments, containerMachines } from "./container-documents.ts";
import { apply, assertQuiet } from "./quiet.ts";
import { kinds, tell } from "./story.ts";
import type { Story, StoryOptions } from "./story.ts";

/** Nodes in containers whose kubelet never starts, as on hosts that do not let it. */
const withoutKubelet: StoryOptions = { machines: containerMachines, timings: { ...instantTimings, kubeletMs: 1e9 } };

async function begin(world: Story): Promise<void> {
  await apply(world, kinds.controlPlane, containerDocuments.controlPlane);
  await apply(world, kinds.worker, containerDocuments.worker);
  await world.start();
}

async function untilNodesNotReady(world: Story): Promise<void> {
  await world.until("NodesNotReady", async () => (await world.condition(kinds.controlPlane, "Ready"))?.reason === "NodesNotReady");
  // What a machine says while it comes up is written 45 s after what it said before.
  await world.time.advance(60_000);
}

/** The end state: etcd healthy, both Secrets, every node's unmet condition by name, one founding, nothing more to do. */
async function assertEndState(world: Story): Promise<void> {
  assert.equal((await world.condition(kinds.controlPlane, "EtcdHealthy"))?.status, "True");
  for (const name of ["demo-kubeconfig", "demo-talosconfig"]) assert.notEqual(await world.get(kinds.secret, name), undefined, name);
  const said = [await world.condition(kinds.controlPlane, "Ready"), await world.condition(kinds.worker, "Ready", "demo-workers")];
  for (const ready of said) assert.deepEqual([ready?.status, ready?.reason], ["False", "NodesNotReady"], ready?.message);
  // Each says it of its own machines, and the control plane nothing of the workers.
  const [ofControlPlane = "", ofPool = ""] = said.map((ready) => ready?.message);
  for (const [index, { address }] of containerMachines.entries()) {
    const named = new RegExp(`${address.replaceAll(".", "\\.")}: (Booting; not ready: )?[^;]*kubelet not running`);
    assert.match(index < 3 ? ofControlPlane : ofPool, named);
    assert.ok(!(index < 3 ? ofPool : ofControlPlane).includes(address), address);
  }
  // A call whose outcome nobody knows may be repeated, and only to the same machine: one etcd is bootstrapped.
  assert.equal(new Set(world.sent.filter((call) => call.startsWith("Bootstrap"))).size, 1);
  assert.equal(world.datacenter.etcdClusters().length, 1);
  assert.deepEqual(
    world.sent.filter((call) => !call.startsWith("Bootstrap")).toSorted(),
    containerMachines.map(({ address }) => `ApplyConfiguration ${address}`).toSorted(),
  );
  await assertQuiet(world, 5);
}

test("nodes in containers whose kubelet never runs: etcd, Secrets, each unmet condition by name, and then nothing for five minutes", () =>
  tell(withoutKubelet, async (world) => {
    await begin(world);
    await untilNodesNotReady(world);
    await assertEndState(world);
  }));

test("Bootstrap leaves within eight seconds of the first moment at which every control plane takes it", () =>
  tell({ machines: containerMachines, timings: { ...realisticTimings, bootMs: 0, installMs: 0, kubeletMs: 1e9 } }, async (world) => {
    await begin(world);
    const isWaiting = ({ address }: { readonly address: string }): boolean =>
      world.datacenter.machine(address).state.services["etcd"]?.state === "Preparing";
    await world.until("every control plane waits", async () => containerMachines.slice(0, 3).every(isWaiting));
    const from = world.time.now();
    await world.until("founded", async () => world.sent.some((call) => call.startsWith("Bootstrap")));
    assert.ok(world.time.now() - from <= 8_000, `${world.time.now() - from} ms`);
    await untilNodesNotReady(world);
    await assertEndState(world);
  }));

test("the configuration of a node in a container: no install section, no META, host DNS that serves pods, valid for mode container", () =>
  tell(withoutKubelet, async (world) => {
    await begin(world);
    await untilNodesNotReady(world);
    for (const { address } of containerMachines) {
      const config = world.datacenter.machine(address).state.config.active ?? "";
      const { install, documents } = describeMachineConfig(config);
      assert.deepEqual([install.disk, install.image, install.wipe], [undefined, undefined, false], address);
      assert.doesNotMatch(config, /^\s*install:/m, address);
      assert.ok(!documents.some((document) => document.includes("UnattendedInstallConfig")), address);
      assert.match(config, /hostDNS:\n\s+enabled: true\n\s+forwardKubeDNSToHost: true/, address);
      assert.match(config, /kind: RegistryMirrorConfig\nname: ghcr\.io\nendpoints:\n {4}- url: http:\/\/10\.5\.0\.254:5000\n/, address);
      assert.match(
        config,
        /kind: RegistryMirrorConfig\nname: registry\.k8s\.io\nendpoints:\n {4}- url: http:\/\/10\.5\.0\.254:5001\n/,
        address,
      );
      assert.match(config, /kind: TimeSyncConfig\nenabled: false\n/, address);
      const { errors } = validateMachineConfig(config, { mode: "container", strict: true });
      assert.deepEqual(errors, [], address);
    }
    assert.deepEqual(
      world.sent.filter((call) => call.startsWith("Meta")),
      [],
    );
  }));

describe("the same end after", () => {
  for (const when of ["before etcd is bootstrapped", "at the end"])
    test(`the status of every object is lost ${when}`, () =>
      tell(withoutKubelet, async (world) => {
        await begin(world);
        if (when === "at the end") await untilNodesNotReady(world);
        else await world.until("configured", async () => world.effects.includes("ApplyConfiguration 10.5.0.1"));
        await world.kill();
        for (const [type, name] of [
          [kinds.controlPlane, "demo"],
          [kinds.worker, "demo-workers"],
        ] as const)
          await world.client.resource(type).patchStatus({ namespace: "default", name }, { type: "merge", value: { status: null } });
        await world.start();
        await untilNodesNotReady(world);
        await assertEndState(world);
      }));
});
