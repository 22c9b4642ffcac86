// What GitOps tools make of objects in the states that people meet. The objects are recorded: a real test has genuine kstatus and Argo CD's script judge them.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { after, test } from "node:test";
import type { ResourceType } from "@talos-operator/kube-runtime";
import { kstatus } from "@talos-operator/operator/testing";
import type { ReadObject } from "@talos-operator/operator/testing";
import { demoTimings } from "@talos-operator/simulator";
import { flatCluster } from "./composition.ts";
import { leaveBehind, leaveObjects } from "./left-behind.ts";
import { apply } from "./quiet.ts";
import { recordedObject, recordedStates, recordedStatesFile, wantedVerdicts } from "./recorded-objects.ts";
import type { RecordedState } from "./recorded-objects.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Conditioned, Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];
const demo = { namespace: "default", name: "demo" };
const mode = "talos.alperen.cloud/reconcile-mode";
const isUpdating = process.env["UPDATE_GOLDENS"] === "1";

const recorded: RecordedState[] = [];

/** Takes the first object of each kind that the state is about, and holds each to what tools have to make of it. */
async function record(world: Story, state: string): Promise<void> {
  const wanted = wantedVerdicts[state] ?? {};
  const objects = await Promise.all(Object.keys(wanted).map((kind) => firstOf(world, kind)));
  for (const object of objects) {
    const [want] = wanted[object.kind ?? ""] ?? [];
    assert.equal(kstatus(object as ReadObject), want, `${state}: ${object.kind ?? ""}: ${JSON.stringify(object.status?.conditions)}`);
  }
  const told = { state, objects: objects.map((object) => recordedObject(object)) };
  recorded.push(told);
  if (!isUpdating)
    assert.deepEqual(
      told,
      recordedStates(readFileSync(recordedStatesFile, "utf8")).find((one) => one.state === state),
      "recorded otherwise: UPDATE_GOLDENS=1",
    );
}

async function firstOf(world: Story, kind: string): Promise<Conditioned> {
  const type = Object.values(kinds).find((one) => one.kind === kind) as ResourceType;
  const [first] = (await world.client.resource<Conditioned>(type).list()).items;
  assert.ok(first, `no ${kind}`);
  return first;
}

async function finished(world: Story): Promise<void> {
  const isFinished = async (): Promise<boolean> =>
    (await Promise.all(["TalosCluster", "TalosControlPlane", "TalosWorker", "TalosMachine"].map((kind) => firstOf(world, kind)))).every(
      (object) => kstatus(object as ReadObject) === "Current",
    );
  await world.until("finished", isFinished, 900);
  await world.time.advance(10_000);
}

const edit = (world: Story, spec: unknown): Promise<unknown> =>
  world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec } });
const label = (value: string): object => ({
  worker: { metalSpec: { machineSpec: { configPatches: [{ machine: { nodeLabels: { "example.org/rack": value } } }] } } },
});

test("tools follow a cluster that is made, changed, paused and deleted", () =>
  tell({ timings: demoTimings }, async (world) => {
    await apply(world, kinds.cluster, demoCluster(cps, workers));
    await apply(world, kinds.kubernetesCluster, { ...flatCluster(1), metadata: { namespace: "default", name: "other" } });
    await record(world, "nobody wrote a status");
    await world.client.resource(kinds.kubernetesCluster).delete({ namespace: "default", name: "other" });
    await world.start();
    await world.until("told", async () => (await world.condition(kinds.worker, "Ready"))?.reason === "WaitingForMachines");
    await world.until("machines told", async () => (await firstOf(world, "TalosMachine")).status?.conditions !== undefined);
    await world.until("the cluster told", async () => (await world.condition(kinds.cluster, "Ready")) !== undefined);
    await record(world, "creating");
    await finished(world);
    await record(world, "finished");
    await edit(world, label("r1"));
    await world.until("begun", async () => (await world.condition(kinds.worker, "ConfigUpToDate"))?.reason === "RollingOut", 20);
    await world.time.advance(5_000);
    await record(world, "settings are rolled out to the workers");
    await world.annotate(kinds.cluster, mode, "disable");
    await world.time.advance(5_000);
    await record(world, "paused in the middle of it");
    await world.annotate(kinds.cluster, mode, undefined);
    await finished(world);
    await world.annotate(kinds.cluster, mode, "disable");
    await world.time.advance(5_000);
    await record(world, "paused when it was finished");
    await world.annotate(kinds.cluster, mode, undefined);
    await finished(world);
    await edit(world, { controlPlane: { version: "v1.13.8" } });
    await world.until("asked for", async () => (await world.condition(kinds.cluster, "UpgradePending"))?.status === "True", 60);
    await world.time.advance(10_000);
    await record(world, "another version is asked for");
    await world.client.resource(kinds.cluster).delete(demo);
    await world.time.advance(2_000);
    await record(world, "being deleted");
  }));

test("tools follow a cluster whose worker has no disk of the name", () =>
  tell({}, async (world) => {
    const cluster = demoCluster(cps, workers.slice(0, 1));
    const machineSpec = { installDisk: "/dev/sdz" };
    const worker = { ...cluster.spec?.worker, metalSpec: { machines: [{ address: workers[0] }], machineSpec } };
    await apply(world, kinds.cluster, { ...cluster, spec: { ...cluster.spec, worker } });
    await world.start();
    await world.until("told", async () => (await world.condition(kinds.worker, "Ready"))?.reason === "InstallDiskUnclear");
    await world.time.advance(60_000);
    await record(world, "a worker has no such disk");
  }));

test("tools follow a cluster that is taken over, its pool too", () =>
  tell({}, async (world) => {
    const bundle = await leaveBehind(world);
    const manifest = readFileSync(new URL("../../testdata/peers/talos-alperen-cloud.yaml", import.meta.url), "utf8");
    await leaveObjects(world, manifest, bundle, (object) => {
      const metadata = object.metadata as { readonly annotations?: object } | undefined;
      const isPool = object.kind === "TalosControlPlane" || object.kind === "TalosWorker";
      const spec = object.kind === "TalosControlPlane" ? { ...(object["spec"] as object), cni: { name: "none" } } : object["spec"];
      return isPool ? { ...object, metadata: { ...metadata, annotations: { ...metadata?.annotations, [mode]: "import" } }, spec } : object;
    });
    await world.time.advance(11 * 60_000);
    await world.start();
    const imported = (): ReturnType<Story["condition"]> => world.condition(kinds.controlPlane, "Imported");
    await world.until("told", async () => (await imported())?.reason === "ApprovalRequired", 120);
    await world.time.advance(30_000);
    await record(world, "an import waits for a person");
    const [, hash = ""] = /import-approve: ([0-9a-f]{10})/.exec((await imported())?.message ?? "") ?? [];
    await world.annotate(kinds.controlPlane, "talos-operator.dev/import-approve", hash);
    await world.until("taken over", async () => (await imported())?.status === "True", 60);
    await world.time.advance(120_000);
    await record(world, "imported");
  }));

test("a pool whose control plane nobody made waits for it, and says so", () =>
  tell({}, async (world) => {
    const { spec, ...cluster } = demoCluster(cps, workers);
    await apply(world, kinds.worker, { ...cluster, kind: "TalosWorker", spec: { ...spec?.worker, controlPlaneRef: { name: "demo" } } });
    await world.start();
    await world.time.advance(10_000);
    assert.equal((await world.condition(kinds.worker, "Ready"))?.reason, "ControlPlaneNotFound");
    await record(world, "a pool without a control plane");
  }));

after(() => {
  if (!isUpdating) return;
  mkdirSync(new URL(".", recordedStatesFile), { recursive: true });
  writeFileSync(recordedStatesFile, `${JSON.stringify(recorded, undefined, 1)}\n`);
});
