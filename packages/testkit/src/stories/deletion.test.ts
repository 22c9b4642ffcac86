import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations } from "@talos-operator/api";
import type { ClusterRecord, TalosCluster } from "@talos-operator/api";
import type { KubeRequest, KubeTransport, KubeWatchEvent } from "@talos-operator/ports";
import { databaseOf, isFull } from "./full-etcd.ts";
import { Interruption } from "./interruption.ts";
import { createOldLists } from "./old-lists.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];

async function ready(world: Story, over: Record<string, unknown> = {}, workerOver: Record<string, unknown> = {}): Promise<void> {
  const cluster = demoCluster(cps, workers, over);
  const spec = { ...cluster.spec, worker: { ...cluster.spec?.worker, ...workerOver } } as never;
  await world.client.resource<TalosCluster>(kinds.cluster).create({ ...cluster, spec });
  await world.start();
  await world.untilReady();
}

const isGone = (world: Story) => async (): Promise<boolean> => (await world.get(kinds.cluster)) === undefined;
const resets = (world: Story): readonly string[] => world.effects.filter((effect) => effect.startsWith("Reset"));

test("reset wipes workers first, then control planes one by one, and leaves nothing", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" });
    await world.until("gone", isGone(world), 600);
    assert.deepEqual(
      resets(world).slice(0, 2).toSorted(),
      workers.map((address) => `Reset ${address}`),
    );
    assert.deepEqual(
      resets(world).slice(2),
      cps.map((address) => `Reset ${address}`),
    );
    for (const type of [kinds.controlPlane, kinds.worker, kinds.machine, kinds.record])
      assert.deepEqual((await world.client.resource(type).list()).items, []);
    assert.equal(await world.get(kinds.secret, "demo-bundle-1"), undefined);
    for (const machine of world.datacenter.machines().filter((one) => [...cps, ...workers].includes(one.address)))
      assert.equal(machine.state.stage, "maintenance");
    assert.equal(world.effects.filter((effect) => effect.startsWith("ApplyConfiguration")).length, 5);
  }));

test("whatever is deleted is deleted by its UID: a call that comes late meets no successor of the same name", () => {
  const deletions: KubeRequest[] = [];
  const kube = (real: KubeTransport): KubeTransport => ({
    ...real,
    send(request, options) {
      if (request.method === "DELETE") deletions.push(request);
      return real.send(request, options);
    },
  });
  return tell({ kube }, async (world) => {
    await ready(world);
    deletions.length = 0;
    await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" });
    await world.until("gone", isGone(world), 600);
    const kindsDeleted = new Set(deletions.map(({ path }) => path.split("/").at(-2)));
    for (const kind of ["clusterrecords", "secrets", "taloscontrolplanes", "talosmachines", "talosworkers"])
      assert.ok(kindsDeleted.has(kind), kind);
    for (const { path, body } of deletions) {
      const { preconditions } = (body ?? {}) as { preconditions?: { uid?: string } };
      assert.ok(preconditions?.uid, path);
    }
  });
});

test("a cluster that is deleted with --cascade=orphan leaves its pools and machines as they are", () =>
  tell({}, async (world) => {
    await ready(world);
    const sent = world.sent.length;
    await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" }, { propagationPolicy: "Orphan" });
    await world.until("gone", isGone(world), 120);
    await world.time.advance(120_000);
    assert.equal(world.sent.length, sent);
    for (const type of [kinds.controlPlane, kinds.worker]) {
      const { ownerReferences = [], deletionTimestamp } = (await world.get(type))?.metadata ?? {};
      assert.deepEqual([ownerReferences, deletionTimestamp], [[], undefined]);
      assert.equal((await world.condition(type, "Ready"))?.status, "True");
    }
  }));

test("an operator whose lists are behind takes nothing back that was orphaned, and wipes nothing later", () => {
  const lists = createOldLists();
  return tell({ kube: (real) => lists.kube(real) }, async (world) => {
    await ready(world);
    await world.kill();
    for (const type of [kinds.cluster, kinds.controlPlane, kinds.worker])
      lists.keep(type.plural, (await world.client.resource(type).list()).items);
    const owners = async (): Promise<unknown> => (await world.get(kinds.controlPlane))?.metadata?.ownerReferences ?? [];
    await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" }, { propagationPolicy: "Orphan" });
    await world.until("orphaned", async () => JSON.stringify(await owners()) === "[]", 120);
    await world.start();
    await world.time.advance(30_000);
    assert.deepEqual(await owners(), []);
    lists.catchUp();
    await world.kill();
    await world.start();
    await world.until("gone", isGone(world), 300);
    await world.time.advance(120_000);
    assert.deepEqual(resets(world), []);
    assert.equal((await world.get(kinds.controlPlane))?.metadata?.deletionTimestamp, undefined);
  });
});

test("preserve leaves the machines running and keeps record and keys", () =>
  tell({}, async (world) => {
    await ready(world, { deletionPolicy: "preserve" }, { deletionPolicy: "preserve" });
    await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" });
    await world.until("gone", isGone(world), 600);
    assert.deepEqual(resets(world), []);
    assert.notEqual(await world.get(kinds.secret, "demo-bundle-1"), undefined);
    assert.notEqual(await world.get(kinds.record), undefined);
  }));

test("record and keys of a preserved cluster that somebody deletes say what they hold, and go by the word for exactly that cluster alone", () =>
  tell({}, async (world) => {
    const namespace = "default";
    await ready(world, { deletionPolicy: "preserve" }, { deletionPolicy: "preserve" });
    await world.client.resource(kinds.cluster).delete({ namespace, name: "demo" });
    await world.until("gone", isGone(world), 600);
    const clusterId = ((await world.get(kinds.record)) as unknown as ClusterRecord).spec.clusterId ?? "";
    // As the deletion of their namespace does.
    await world.client.resource(kinds.record).delete({ namespace, name: "demo" });
    await world.client.resource(kinds.secret).delete({ namespace, name: "demo-bundle-1" });
    await world.until("held", async () => (await world.condition(kinds.record, "DeletionHeld"))?.status === "True", 30);
    const message = (await world.condition(kinds.record, "DeletionHeld"))?.message ?? "";
    assert.match(message, new RegExp(`Secret demo-bundle-1 .* talos-operator\\.dev/release-keys: ${clusterId.replace(/[+]/g, "\\+")}\\.`));
    assert.ok(message.length <= 300, `${message.length} characters`);
    await world.annotate(kinds.record, annotations.releaseKeys, "another");
    await world.time.advance(60_000);
    assert.notEqual(await world.get(kinds.secret, "demo-bundle-1"), undefined);
    assert.notEqual(await world.get(kinds.record), undefined);
    await world.annotate(kinds.record, annotations.releaseKeys, clusterId);
    await world.until("let go", async () => (await world.get(kinds.record)) === undefined, 30);
    assert.equal(await world.get(kinds.secret, "demo-bundle-1"), undefined);
    assert.deepEqual(resets(world), []);
  }));

test("an object that never took over the preserved cluster of its name wipes nothing when it goes, nor does a pool of it", () =>
  tell({}, async (world) => {
    await ready(world, { deletionPolicy: "preserve" }, { deletionPolicy: "preserve" });
    await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" });
    await world.until("gone", isGone(world), 600);
    const record = await world.get(kinds.record);
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(cps, workers));
    await world.until("asked", async () => (await world.condition(kinds.controlPlane, "AdoptionRequired"))?.status === "True");
    await world.client.resource(kinds.worker).delete({ namespace: "default", name: "demo" });
    await world.time.advance(120_000);
    await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" });
    await world.time.advance(600_000);
    assert.deepEqual(resets(world), []);
    assert.deepEqual((await world.get(kinds.record))?.spec, record?.spec);
    assert.notEqual(await world.get(kinds.secret, "demo-bundle-1"), undefined);
  }));

test("an unreachable machine is waited for, and let go when a person names it", () =>
  tell({}, async (world) => {
    await ready(world);
    world.datacenter.machine("10.5.0.5").powerOff();
    await world.time.advance(60_000);
    await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" });
    await world.until(
      "missed",
      async () =>
        (await world.condition(kinds.controlPlane, "Ready")) !== undefined &&
        (await world.get(kinds.machine, "demo-10.5.0.4")) === undefined,
    );
    await world.time.advance(120_000);
    assert.notEqual(await world.get(kinds.machine, "demo-10.5.0.5"), undefined);
    const record = (await world.get(kinds.record))?.spec as {
      readonly knownWorkers: readonly { readonly name: string; readonly uuid: string }[];
    };
    await world.annotate(
      kinds.controlPlane,
      "talos-operator.dev/abandon-machine",
      record.knownWorkers.find((machine) => machine.name === "demo-10.5.0.5")?.uuid,
    );
    await world.until("gone", isGone(world), 600);
    assert.equal(resets(world).includes("Reset 10.5.0.5"), false);
  }));

test("a wipe goes to the machine that was written down, not to one that took its address, and another that waits there is no proof of it", () =>
  tell({}, async (world) => {
    await ready(world);
    world.reroute("10.5.0.4", "10.5.0.5");
    world.reroute("10.5.0.5", "10.5.0.6");
    await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" });
    await world.time.advance(300_000);
    assert.deepEqual(resets(world), []);
    assert.notEqual(await world.get(kinds.machine, "demo-10.5.0.4"), undefined);
    assert.notEqual(await world.get(kinds.machine, "demo-10.5.0.5"), undefined);
    world.reroute("10.5.0.4", undefined);
    world.reroute("10.5.0.5", undefined);
    await world.until("gone", isGone(world), 1_200);
    assert.equal(new Set(resets(world)).size, 5);
  }));

for (const isKilled of [false, true])
  test(`a worker that was about to leave leaves no TalosMachine behind when its cluster is deleted${isKilled ? " and the operator ends before it lets that one go" : ""}`, () => {
    const cut = new Interruption();
    return tell({ kube: cut.kube }, async (world) => {
      await ready(world);
      databaseOf(world).fill(0.99);
      await world.until("full", async () => isFull(world), 120);
      const machines = [{ address: "10.5.0.4" }];
      await world.client
        .resource(kinds.cluster)
        .patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec: { worker: { metalSpec: { machines } } } } });
      await world.until("it waits", async () => (await world.condition(kinds.worker, "Removing"))?.status === "True", 120);
      await world.time.advance(30_000);
      assert.deepEqual(resets(world), []);
      await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" });
      if (isKilled) {
        cut.begin({ call: /\/talosmachines\/demo-10\.5\.0\.5$/, side: "before", isKilled }, async () => {});
        await world.until("it is to go", async () => cut.metAt !== undefined, 600);
        await cut.tend(world);
      }
      await world.until("gone", isGone(world), 900);
      for (const type of [kinds.controlPlane, kinds.worker, kinds.machine, kinds.record])
        assert.deepEqual((await world.client.resource(type).list()).items, []);
      assert.equal(new Set(resets(world)).size, 5);
    });
  });

test("a paused cluster is not taken down", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.annotate(kinds.cluster, "talos.alperen.cloud/reconcile-mode", "disable");
    await world.time.advance(5_000);
    await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" });
    await world.time.advance(120_000);
    assert.deepEqual(resets(world), []);
    assert.notEqual(await world.get(kinds.cluster), undefined);
    await world.annotate(kinds.cluster, "talos.alperen.cloud/reconcile-mode", undefined);
    await world.until("gone", isGone(world), 600);
  }));

test("a deletion that was cut short by a crash is finished by the next operator", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" });
    for (let restarts = 0; restarts < 5; restarts += 1) {
      await world.time.advance(150);
      await world.start();
    }
    await world.until("gone", isGone(world), 600);
    assert.equal(new Set(resets(world)).size, 5);
  }));

test("a worker pool alone goes, and the control plane stays ready", () =>
  tell({}, async (world) => {
    const cluster = demoCluster(cps, workers);
    await world.client.resource(kinds.controlPlane).create({
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosControlPlane",
      metadata: { namespace: "default", name: "demo" },
      spec: cluster.spec?.controlPlane,
    } as object);
    const worker = {
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosWorker",
      metadata: { namespace: "default", name: "pool" },
      spec: { ...cluster.spec?.worker, controlPlaneRef: { name: "demo" } },
    };
    await world.client.resource(kinds.worker).create(worker);
    await world.start();
    await world.until(
      "both ready",
      async () =>
        (await world.condition(kinds.controlPlane, "Ready"))?.status === "True" &&
        (await world.condition(kinds.worker, "Ready", "pool"))?.status === "True",
    );
    await world.client.resource(kinds.worker).delete({ namespace: "default", name: "pool" });
    await world.until("the pool is gone", async () => (await world.get(kinds.worker, "pool")) === undefined);
    assert.deepEqual(
      [...resets(world)].toSorted(),
      workers.map((address) => `Reset ${address}`),
    );
    await world.until("ready", async () => (await world.condition(kinds.controlPlane, "Ready"))?.status === "True");
    await world.time.advance(60_000);
    assert.equal(world.effects.filter((effect) => effect.startsWith("ApplyConfiguration")).length, 5);
  }));

test("a pool that was taken away says what its dead machine waits for, and what gives that one up", () =>
  tell({}, async (world) => {
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(cps, workers));
    await world.start();
    await world.untilReady();
    const [, dead = ""] = workers;
    const edit = (value: Readonly<Record<string, unknown>>) =>
      world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value });
    world.datacenter.machine(dead).powerOff();
    await world.until("missed", async () => (await world.condition(kinds.machine, "Reachable", `demo-${dead}`))?.status === "False", 300);
    assert.equal((await world.get(kinds.machine, `demo-${dead}`))?.status?.state, "Unreachable");
    await edit({ spec: { worker: null } });
    await world.until("the other one left", async () => (await world.get(kinds.machine, `demo-${workers[0]}`)) === undefined, 600);
    await world.time.advance(60_000);
    const deleting = await world.condition(kinds.controlPlane, "Deleting");
    assert.equal(deleting?.reason, "MachineUnreachable");
    assert.match(deleting.message, new RegExp(`^demo-${dead} must be wiped and does not answer.*abandon-machine: `));
    assert.equal((await world.condition(kinds.worker, "Ready"))?.reason, "Deleting");
    assert.equal((await world.condition(kinds.cluster, "Ready"))?.reason, "WorkersNotReady");
    assert.equal((await world.condition(kinds.controlPlane, "Ready"))?.status, "True");
    const word = /abandon-machine: (\S+)\.$/.exec(deleting.message)?.[1] ?? "";
    await world.annotate(kinds.controlPlane, "talos-operator.dev/abandon-machine", word);
    await world.until("the pool is gone", async () => (await world.get(kinds.worker)) === undefined, 300);
    await world.untilReady();
    assert.equal(await world.condition(kinds.controlPlane, "Deleting"), undefined);
  }));

test("a cluster whose TalosMachines no list tells of leaves none of them behind", () => {
  async function* without(events: AsyncIterable<KubeWatchEvent>): AsyncIterable<KubeWatchEvent> {
    for await (const event of events) if (event.type === "BOOKMARK") yield event;
  }
  let tellsNothing = false;
  const kube = (real: KubeTransport): KubeTransport => ({
    ...real,
    async watch(request, options) {
      const answer = await real.watch(request, options);
      return tellsNothing && request.path.endsWith("/talosmachines") ? { ...answer, events: without(answer.events) } : answer;
    },
  });
  return tell({ kube }, async (world) => {
    await ready(world);
    await world.kill();
    tellsNothing = true;
    await world.start();
    await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" });
    await world.until("gone", isGone(world), 900);
    await world.time.advance(60_000);
    assert.deepEqual((await world.client.resource(kinds.machine).list()).items, []);
    assert.equal(resets(world).length, 5);
  });
});

test("a TalosMachine that is made late, when its cluster has ended, goes too", () =>
  tell({}, async (world) => {
    await ready(world);
    const made = await world.get(kinds.machine, "demo-10.5.0.4");
    assert.ok(made !== undefined);
    const { status: _told, metadata, ...rest } = made;
    const { name = "", finalizers = [], ownerReferences = [] } = metadata ?? {};
    await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" });
    await world.until("gone", isGone(world), 600);
    await world.client.resource(kinds.machine).create({ ...rest, metadata: { namespace: "default", name, finalizers, ownerReferences } });
    await world.until("it is gone", async () => (await world.get(kinds.machine, name)) === undefined, 120);
  }));
