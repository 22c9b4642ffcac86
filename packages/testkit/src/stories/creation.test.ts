import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import { assertQuiet } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];

async function make(world: Story, cluster = demoCluster(cps, workers)): Promise<void> {
  await world.client.resource(kinds.cluster).create(cluster);
  await world.start();
}

test("a cluster is bootstrapped once, its machines are configured once, and idleness changes nothing", () =>
  tell({}, async (world) => {
    await make(world);
    await world.untilReady();
    assert.deepEqual([...world.effects].toSorted(), [
      ...[...cps, ...workers].map((address) => `ApplyConfiguration ${address}`),
      "Bootstrap 10.5.0.1",
    ]);
    const before = await world.client.resource(kinds.controlPlane).list();
    await world.time.advance(600_000);
    const after = await world.client.resource(kinds.controlPlane).list();
    assert.deepEqual(after.items, before.items);
    assert.equal(world.effects.length, 6);
  }));

test("an operator that starts anew tells no news of a cluster that is as it was", () =>
  tell({}, async (world) => {
    await make(world);
    await world.untilReady();
    await world.time.advance(60_000);
    await world.kill();
    await world.start();
    await assertQuiet(world, 2);
  }));

test("control plane and worker of a paused cluster hear one word, and go on when it is taken back", () =>
  tell({}, async (world) => {
    const cluster = demoCluster(cps);
    await make(world, { ...cluster, metadata: { ...cluster.metadata, annotations: { "talos.alperen.cloud/reconcile-mode": "Disable" } } });
    await world.until("Paused", async () => (await world.condition(kinds.cluster, "Paused"))?.status === "True");
    const paused = await world.get(kinds.cluster);
    await world.time.advance(60_000);
    assert.deepEqual(await world.get(kinds.cluster), paused);
    assert.equal(await world.get(kinds.controlPlane), undefined);
    await world.annotate(kinds.cluster, "talos.alperen.cloud/reconcile-mode", undefined);
    await world.untilReady();
    assert.equal(await world.condition(kinds.cluster, "Paused"), undefined);
  }));

test("a cluster paused while it runs is not touched, although its machines change", () =>
  tell({}, async (world) => {
    await make(world);
    await world.untilReady();
    await world.annotate(kinds.cluster, "talos.alperen.cloud/reconcile-mode", "disable");
    await world.until("Paused", async () => (await world.condition(kinds.controlPlane, "Paused"))?.status === "True");
    const before = await Promise.all([kinds.controlPlane, kinds.worker].map((type) => world.get(type)));
    world.datacenter.machine("10.5.0.2").powerOff();
    await world.time.advance(120_000);
    assert.deepEqual(await Promise.all([kinds.controlPlane, kinds.worker].map((type) => world.get(type))), before);
  }));

for (const paused of [kinds.cluster, kinds.controlPlane, kinds.worker])
  test(`a machine that came back while its ${paused.kind} was paused is reported as ready when it goes on`, () =>
    tell({}, async (world) => {
      await make(world);
      await world.untilReady();
      const isReady = async (): Promise<boolean> => (await world.condition(kinds.cluster, "Ready"))?.status === "True";
      const address = paused === kinds.controlPlane ? "10.5.0.3" : "10.5.0.5";
      world.datacenter.machine(address).powerOff();
      const told = async (): Promise<string | undefined> => (await world.condition(kinds.machine, "Reachable", `demo-${address}`))?.status;
      await world.until("missed", async () => (await told()) === "False");
      await world.annotate(paused, "talos.alperen.cloud/reconcile-mode", "disable");
      await world.time.advance(1_000);
      world.datacenter.machine(address).powerOn();
      await world.time.advance(10 * 60_000);
      await world.annotate(paused, "talos.alperen.cloud/reconcile-mode", undefined);
      await world.time.advance(2 * 60_000);
      assert.ok(await isReady(), JSON.stringify(await world.condition(kinds.cluster, "Ready")));
    }));

test("container nodes get no install section, no disk, and name what keeps them from being ready", () =>
  tell({ machines: [...cps, ...workers].map((address) => ({ address, platform: "container" })) }, async (world) => {
    await make(world);
    await world.until("etcd healthy", async () => (await world.condition(kinds.controlPlane, "EtcdHealthy"))?.status === "True");
    const record = await world.get(kinds.record);
    const { knownControlPlanes: known } = (record?.spec ?? {}) as {
      readonly knownControlPlanes: readonly { readonly platform: string; readonly installDisk?: string }[];
    };
    assert.deepEqual(
      known.map(({ platform, installDisk }) => [platform, installDisk]),
      cps.map(() => ["container", undefined]),
    );
    await world.until(
      "access",
      async () =>
        (await world.get(kinds.secret, "demo-talosconfig")) !== undefined &&
        (await world.get(kinds.secret, "demo-kubeconfig")) !== undefined,
    );
    await world.untilReady();
    const value = { spec: { controlPlane: { version: "v1.13.8" } } };
    await world.client.resource<TalosCluster>(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value });
    await world.until("told", async () => (await world.condition(kinds.controlPlane, "UpgradePending"))?.status === "True");
    const { message = "" } = (await world.condition(kinds.controlPlane, "UpgradePending")) ?? {};
    assert.match(message, /in a container, the spec asks for v1\.13\.8\. A container keeps the Talos of its image/);
    await world.time.advance(10 * 60_000);
    assert.deepEqual(
      world.sent.filter((call) => /Upgrade|ImagePull|Reboot/.test(call)),
      [],
      "no container is upgraded",
    );
  }));

test("without spec.endpoint the first control plane's address serves", () =>
  tell({}, async (world) => {
    const cluster = demoCluster(["10.5.0.1"]);
    const { endpoint: _endpoint, ...controlPlane } = cluster.spec?.controlPlane ?? ({} as never);
    await make(world, { ...cluster, spec: { controlPlane } });
    await world.untilReady();
    assert.equal((await world.get(kinds.record))?.spec?.["endpoint"], "https://10.5.0.1:6443");
  }));

test("a machine that boots late joins a cluster that is already founded", () =>
  tell({}, async (world) => {
    world.datacenter.machine("10.5.0.3").powerOff();
    await make(world);
    await world.until("bootstrapped", async () => (await world.condition(kinds.controlPlane, "Bootstrapped"))?.status === "True");
    assert.equal((await world.condition(kinds.controlPlane, "Ready"))?.reason, "EtcdUnhealthy");
    world.datacenter.machine("10.5.0.3").powerOn();
    await world.untilReady();
    assert.equal(world.effects.filter((effect) => effect.startsWith("Bootstrap")).length, 1);
  }));

test("events say what was done, with published reasons", () =>
  tell({}, async (world) => {
    await make(world);
    await world.untilReady();
    await world.time.advance(5_000);
    const events = await world.client
      .resource<{ readonly metadata?: object; readonly reason?: string; readonly action?: string }>(kinds.event)
      .list();
    const said = events.items.map(({ reason, action }) => `${reason} ${action}`);
    assert.deepEqual(
      said.filter((words) => words.startsWith("Created ")).toSorted(),
      ["Created CreateBundle", "Created WriteKubeconfig"],
      said.join(", "),
    );
  }));
