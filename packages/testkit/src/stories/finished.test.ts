// What GitOps tools read: while machines of an object are changed it is never finished, and an edit is answered before the first call.
import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations } from "@talos-operator/api";
import { kstatus } from "@talos-operator/operator/testing";
import type { ReadObject } from "@talos-operator/operator/testing";
import type { KubeTransport } from "@talos-operator/ports";
import { flatCluster, tellComposition } from "./composition.ts";
import { sentTo } from "./full-etcd.ts";
import { watchFinished } from "./finished.ts";
import type { CalledFinished } from "./finished.ts";
import { apply, assertQuiet } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];

const label = (value: string): object => ({
  metalSpec: { machineSpec: { configPatches: [{ machine: { nodeLabels: { "example.org/rack": value } } }] } },
});
const pool = (addresses: readonly string[]): object => ({ metalSpec: { machines: addresses.map((address) => ({ address })) } });

const readAs = async (world: Story, kind: keyof typeof kinds, name = "demo"): Promise<string> =>
  kstatus((await world.get(kinds[kind], name)) as ReadObject);

/** Every kind reads as finished. */
async function untilFinished(world: Story, seconds = 900): Promise<void> {
  await world.until(
    "finished",
    async () => {
      const read = await Promise.all((["cluster", "controlPlane", "worker"] as const).map((kind) => readAs(world, kind)));
      return read.every((one) => one === "Current");
    },
    seconds,
  );
}

async function edit(world: Story, kind: "cluster" | "controlPlane" | "worker", spec: unknown): Promise<void> {
  await world.client.resource(kinds[kind]).patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec } });
}

/** Tells a story of a finished cluster of 3 + 2 machines, and demands that no machine was changed while an object read as finished. */
function tellFinished(
  makes: "children" | "objects",
  story: (world: Story, slow: SlowStatuses, found: readonly CalledFinished[]) => Promise<void>,
): Promise<void> {
  const found: CalledFinished[] = [];
  const slow: SlowStatuses = { byMs: 0, isRefused: false, failing: 0, isHopeless: false };
  let told: Story | undefined;
  const worldOf = (): Story => told as Story;
  const kube = (real: KubeTransport): KubeTransport => slowed(real, slow, worldOf);
  return tell({ dialer: (real) => watchFinished(worldOf, found)(real), kube }, async (world) => {
    told = world;
    const cluster = demoCluster(cps, workers);
    if (makes === "children") await apply(world, kinds.cluster, cluster);
    else await applyReferred(world, cluster);
    assert.equal(await readAs(world, "cluster"), "InProgress", "before anybody wrote a status");
    await world.start();
    await untilFinished(world);
    await story(world, slow, found);
    if (!slow.isHopeless) assert.deepEqual(found, []);
  });
}

/** How long the statuses of pools and clusters take to be written. */
interface SlowStatuses {
  byMs: number;
  /** Longer than a change waits for them. */
  isHopeless: boolean;
  /** Those of control planes are refused. */
  isRefused: boolean;
  /** So many of those of control planes fail. */
  failing: number;
}

function slowed(real: KubeTransport, slow: SlowStatuses, worldOf: () => Story): KubeTransport {
  return {
    ...real,
    async send(request, options) {
      if (slow.byMs > 0 && /\/(talosclusters|talosworkers)\/[^/]+\/status$/.test(request.path))
        await new Promise<void>((done) => void worldOf().time.timers.schedule(slow.byMs, done));
      if (/\/taloscontrolplanes\/[^/]+\/status$/.test(request.path)) {
        if (slow.isRefused) return forbidden;
        if (slow.failing > 0) {
          slow.failing -= 1;
          return failed;
        }
      }
      return real.send(request, options);
    },
  };
}

const forbidden = {
  status: 403,
  headers: {},
  body: { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Forbidden", message: "no statuses today", code: 403 },
};

const failed = {
  status: 500,
  headers: {},
  body: { kind: "Status", apiVersion: "v1", status: "Failure", reason: "InternalError", message: "once more, please", code: 500 },
};

/** The same cluster, whose children a person made. */
async function applyReferred(world: Story, { spec, ...cluster }: ReturnType<typeof demoCluster>): Promise<void> {
  const { controlPlane, worker } = spec ?? {};
  const named = { apiVersion: cluster.apiVersion, metadata: cluster.metadata };
  await apply(world, kinds.controlPlane, { ...named, kind: "TalosControlPlane", spec: controlPlane });
  await apply(world, kinds.worker, { ...named, kind: "TalosWorker", spec: { ...worker, controlPlaneRef: { name: "demo" } } });
  await apply(world, kinds.cluster, { ...cluster, spec: { controlPlaneRef: { name: "demo" }, workerRef: { name: "demo" } } });
}

test("an edit of a TalosCluster's pool is answered on it and on the pool before a machine is changed", () =>
  tellFinished("children", async (world) => {
    await edit(world, "cluster", { worker: label("r1") });
    await world.until("answered", async () => (await readAs(world, "worker")) === "InProgress", 2);
    await untilFinished(world);
    await assertQuiet(world);
  }));

test("an edit of a TalosCluster's control plane is, too", () =>
  tellFinished("children", async (world) => {
    await edit(world, "cluster", { controlPlane: label("r1") });
    await untilFinished(world);
  }));

test("an edit of a pool, or of a control plane, is answered on the cluster that refers to it", () =>
  tellFinished("objects", async (world) => {
    await edit(world, "worker", label("r1"));
    await untilFinished(world);
    await edit(world, "controlPlane", label("r2"));
    await untilFinished(world);
  }));

test("a change waits for statuses that are slow to be written", () =>
  tellFinished("objects", async (world, slow) => {
    slow.byMs = 1_000;
    await edit(world, "worker", label("r1"));
    await world.time.advance(10_000);
    await untilFinished(world);
    slow.byMs = 0;
    await world.time.advance(10_000);
  }));

test("a change does not wait for statuses that nobody writes", () =>
  tellFinished("objects", async (world, slow, found) => {
    slow.byMs = 20_000;
    slow.isHopeless = true;
    const sent = world.sent.length;
    await edit(world, "worker", label("r1"));
    await world.time.advance(10_000);
    assert.ok(world.sent.slice(sent).includes("ApplyConfiguration 10.5.0.4"));
    assert.match(found[0]?.objects.join() ?? "", /TalosCluster demo: Current/);
    // What is on its way to the API arrives, or the operator would wait for it when it is stopped.
    await world.time.advance(60_000);
    slow.byMs = 0;
    await world.time.advance(60_000);
  }));

test("a change waits for statuses though one before it did so in vain", () =>
  tellFinished("objects", async (world, slow, found) => {
    slow.byMs = 600_000;
    slow.isHopeless = true;
    await edit(world, "worker", label("r1"));
    await world.time.advance(120_000);
    slow.byMs = 0;
    await untilFinished(world);
    const before = found.length;
    assert.ok(before > 0);
    slow.failing = 1;
    const value = { metadata: { annotations: { [annotations.defragment]: "demo-10.5.0.1" } } };
    await world.client.resource(kinds.controlPlane).patch({ namespace: "default", name: "demo" }, { type: "merge", value });
    await world.until("defragmented", async () => sentTo(world, "EtcdDefragment").length > 0, 300);
    assert.equal(slow.failing, 0);
    assert.deepEqual(found.slice(before), []);
    await untilFinished(world);
  }));

test("a change does not wait for a status that the API server refuses", () =>
  tellFinished("objects", async (world, slow) => {
    slow.isRefused = true;
    slow.isHopeless = true;
    const sent = world.sent.length;
    await edit(world, "controlPlane", label("r1"));
    await world.time.advance(60_000);
    assert.ok(world.sent.slice(sent).includes("ApplyConfiguration 10.5.0.1"));
    slow.isRefused = false;
    await untilFinished(world);
  }));

test("a worker that leaves and comes back leaves nobody finished while it goes", () =>
  tellFinished("children", async (world) => {
    await edit(world, "cluster", { worker: pool(workers.slice(0, 1)) });
    await world.until("gone", async () => (await world.get(kinds.machine, "demo-10.5.0.5")) === undefined);
    await untilFinished(world);
    await edit(world, "cluster", { worker: pool(workers) });
    await world.until("there", async () => (await world.condition(kinds.machine, "Ready", "demo-10.5.0.5"))?.status === "True");
    await untilFinished(world);
  }));

test("a control plane that grows and shrinks leaves nobody finished meanwhile", () =>
  tellFinished("children", async (world) => {
    await edit(world, "cluster", { controlPlane: pool(cps.slice(0, 1)) });
    await world.until("one left", async () => (await world.get(kinds.machine, "demo-10.5.0.3")) === undefined, 900);
    await untilFinished(world);
    await edit(world, "cluster", { controlPlane: pool(cps) });
    await world.until("three", async () => (await world.condition(kinds.machine, "Ready", "demo-10.5.0.3"))?.status === "True", 900);
    await untilFinished(world);
  }));

test("a KubernetesCluster is not finished while a machine of it is added", () => {
  const found: CalledFinished[] = [];
  let told: Story | undefined;
  return tellComposition({ dialer: (real) => watchFinished(() => told as Story, found)(real) }, async (world) => {
    told = world;
    await apply(world, kinds.kubernetesCluster, flatCluster(1, { general: 1 }));
    await world.start();
    await world.untilComposed();
    await world.until("finished", async () => (await readAs(world, "kubernetesCluster")) === "Current");
    await world.scale("general", 2);
    await world.until("two", async () => (await world.client.resource(kinds.vitistackMachine).list()).items.length === 3);
    await world.until("finished again", async () => (await readAs(world, "kubernetesCluster")) === "Current", 900);
    assert.deepEqual(found, []);
  });
});
