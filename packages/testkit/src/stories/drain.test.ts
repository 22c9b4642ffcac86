import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import { attachedVolumes, cordonAt, inside, keepAvailable, nodeAt, podNames, provideVolume, runPod } from "./cluster-pods.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];
const leaving = "10.5.0.5";

async function ready(world: Story): Promise<void> {
  await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(cps, workers));
  await world.start();
  await world.untilReady();
}

/** Takes the last worker out of the list. */
async function dropWorker(world: Story): Promise<void> {
  const value = { spec: demoCluster(cps, workers.slice(0, 1)).spec } as Record<string, unknown>;
  await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value });
}

const wasReset = (world: Story) => (): Promise<boolean> => Promise.resolve(world.sent.includes(`Reset ${leaving}`));
const draining = async (world: Story): Promise<string | undefined> => (await world.condition(kinds.controlPlane, "Draining"))?.reason;
const isBlocked = (world: Story) => async (): Promise<boolean> => (await draining(world)) === "BudgetBlocks";

test("a worker that is taken out is cordoned and drained before it is wiped, and its Node goes", () =>
  tell({}, async (world) => {
    await ready(world);
    await runPod(world, leaving, "web");
    await runPod(world, leaving, "agent", { owner: "DaemonSet" });
    await runPod(world, leaving, "static", { annotations: { "kubernetes.io/config.mirror": "x" } });
    await runPod(world, "10.5.0.4", "stays");
    await world.time.advance(2_000);
    await dropWorker(world);
    await world.until("reset", wasReset(world));
    assert.deepEqual(await podNames(world), ["agent", "static", "stays"], "only what has to leave has left, and it is gone, not leaving");
    assert.equal(await cordonAt(world, leaving), "ours");
    await world.until("Node gone", async () => (await nodeAt(world, leaving)) === undefined);
    await world.untilReady();
    assert.deepEqual(await Promise.all([...cps, "10.5.0.4"].map((address) => cordonAt(world, address))), ["none", "none", "none", "none"]);
    assert.equal(await draining(world), undefined);
  }));

test("a budget without room holds the wipe up and is named; more replicas elsewhere release it", () =>
  tell({}, async (world) => {
    await ready(world);
    await runPod(world, leaving, "web-1", { labels: { app: "web" } });
    await keepAvailable(world.workload(), "web", 1);
    await world.time.advance(2_000);
    await dropWorker(world);
    await world.until("blocked", isBlocked(world));
    await world.time.advance(15 * 60_000);
    assert.equal(await wasReset(world)(), false, "the default is to wait");
    const message = (await world.condition(kinds.controlPlane, "Draining"))?.message ?? "";
    assert.match(message, /default\/web-1 \(PodDisruptionBudget default\/web-budget\)/);
    assert.match(message, /proceed-without-drain: /);
    assert.deepEqual(await podNames(world), ["web-1"]);
    await runPod(world, "10.5.0.4", "web-2", { labels: { app: "web" } });
    await world.until("reset", wasReset(world));
    assert.deepEqual(await podNames(world), ["web-2"]);
  }));

test("a machine is not wiped while a volume of a pod that left is attached to it", () =>
  tell({}, async (world) => {
    await ready(world);
    for (const claim of ["web", "agent"]) await provideVolume(world, claim);
    await runPod(world, leaving, "web", { claim: "web" });
    await runPod(world, leaving, "agent", { owner: "DaemonSet", claim: "agent" });
    await world.time.advance(2_000);
    assert.deepEqual(await attachedVolumes(world), ["pv-agent", "pv-web"]);
    await dropWorker(world);
    await world.until("volumes", async () => (await draining(world)) === "VolumesAttached");
    assert.deepEqual(await podNames(world), ["agent"]);
    assert.match((await world.condition(kinds.controlPlane, "Draining"))?.message ?? "", /its Node still has 1 volume attached: pv-web\./);
    await world.until("reset", wasReset(world));
    assert.deepEqual(await attachedVolumes(world), ["pv-agent"], "what stays on the machine keeps its volume");
  }));

test("a volume that nobody detaches holds the wipe up as a budget does, and a person's word goes past it", () =>
  tell({}, async (world) => {
    await ready(world);
    await provideVolume(world, "web");
    await runPod(world, leaving, "web", { claim: "web" });
    await world.time.advance(2_000);
    const attachments = world.workload().resource(inside.attachment);
    const [attachment] = (await attachments.list()).items;
    const value = { metadata: { finalizers: ["external-attacher/csi-example-com"] } };
    await attachments.patch({ name: attachment?.metadata?.name ?? "" }, { type: "merge", value });
    await dropWorker(world);
    await world.until("volumes", async () => (await draining(world)) === "VolumesAttached");
    await world.time.advance(15 * 60_000);
    assert.equal(await wasReset(world)(), false, "the default is to wait");
    const message = (await world.condition(kinds.controlPlane, "Draining"))?.message ?? "";
    const word = /proceed-without-drain: (\S+)\./.exec(message)?.[1] ?? "";
    await world.annotate(kinds.controlPlane, "talos-operator.dev/proceed-without-drain", word);
    await world.until("reset", wasReset(world));
  }));

test("a new operator finds the drain of the one before, and ends it", () =>
  tell({}, async (world) => {
    await ready(world);
    await runPod(world, leaving, "web-1", { labels: { app: "web" } });
    await keepAvailable(world.workload(), "web", 1);
    await dropWorker(world);
    await world.until("blocked", isBlocked(world));
    await world.kill();
    await world.time.advance(30_000);
    await world.start();
    await world.time.advance(120_000);
    assert.equal(await cordonAt(world, leaving), "ours");
    assert.equal(await wasReset(world)(), false);
    await world.workload().resource(inside.budget).delete({ namespace: "default", name: "web-budget" });
    await world.until("reset", wasReset(world));
    await world.until("Node gone", async () => (await nodeAt(world, leaving)) === undefined);
  }));

test("a drain that nobody wants any more is given up and its cordon taken off, by a new operator too", () =>
  tell({}, async (world) => {
    await ready(world);
    await runPod(world, leaving, "web-1", { labels: { app: "web" } });
    await keepAvailable(world.workload(), "web", 1);
    await dropWorker(world);
    await world.until("blocked", isBlocked(world));
    await world.kill();
    const value = { spec: demoCluster(cps, workers).spec } as Record<string, unknown>;
    await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value });
    await world.start();
    await world.until("uncordoned", async () => (await cordonAt(world, leaving)) === "none");
    await world.untilReady();
    assert.deepEqual(await podNames(world), ["web-1"]);
    assert.equal(await wasReset(world)(), false);
  }));

test("a cordon of a person stays", () =>
  tell({}, async (world) => {
    await ready(world);
    const node = await nodeAt(world, "10.5.0.4");
    await world
      .workload()
      .resource(inside.node)
      .patch({ name: node?.metadata?.name ?? "" }, { type: "merge", value: { spec: { unschedulable: true } } });
    await dropWorker(world);
    await world.until("Node gone", async () => (await nodeAt(world, leaving)) === undefined);
    await world.time.advance(600_000);
    assert.equal(await cordonAt(world, "10.5.0.4"), "theirs");
    assert.equal(world.workloadWrites.filter((write) => write.includes(node?.metadata?.name ?? "-")).length, 0);
  }));

test("a person's word lets the wipe go on past a budget", () =>
  tell({}, async (world) => {
    await ready(world);
    await runPod(world, leaving, "web-1", { labels: { app: "web" } });
    await keepAvailable(world.workload(), "web", 1);
    await dropWorker(world);
    await world.until("blocked", isBlocked(world));
    const word = /proceed-without-drain: (\S+)\./.exec((await world.condition(kinds.controlPlane, "Draining"))?.message ?? "")?.[1] ?? "";
    await world.annotate(kinds.controlPlane, "talos-operator.dev/proceed-without-drain", word);
    await world.until("reset", wasReset(world));
    await world.until(
      "answered",
      async () => (await world.get(kinds.controlPlane))?.metadata?.annotations?.["talos-operator.dev/proceed-without-drain"] === undefined,
    );
  }));

test("the policy Proceed goes on after its time", () =>
  tell({}, async (world) => {
    await ready(world);
    await runPod(world, leaving, "web-1", { labels: { app: "web" } });
    await keepAvailable(world.workload(), "web", 1);
    await world.annotate(kinds.controlPlane, "talos-operator.dev/drain-policy", "Proceed");
    await world.annotate(kinds.controlPlane, "talos-operator.dev/drain-timeout", "20m");
    await dropWorker(world);
    await world.until("blocked", isBlocked(world));
    await world.time.advance(15 * 60_000);
    assert.equal(await wasReset(world)(), false);
    await world.until("reset", wasReset(world), 600);
  }));

test("a pause in the middle of a drain ends it: nothing is evicted any more", () =>
  tell({}, async (world) => {
    await ready(world);
    await runPod(world, leaving, "web-1", { labels: { app: "web" } });
    await keepAvailable(world.workload(), "web", 1);
    await dropWorker(world);
    await world.until("blocked", isBlocked(world));
    await world.annotate(kinds.cluster, "talos.alperen.cloud/reconcile-mode", "disable");
    await world.time.advance(60_000);
    const before = world.workloadWrites.length;
    await world.workload().resource(inside.budget).delete({ namespace: "default", name: "web-budget" });
    await world.time.advance(600_000);
    assert.deepEqual(world.workloadWrites.slice(before), []);
    assert.deepEqual(await podNames(world), ["web-1"]);
  }));

test("a dead worker is replaced without a drain, and its Node goes", () =>
  tell({}, async (world) => {
    await ready(world);
    await runPod(world, leaving, "web");
    world.datacenter.machine(leaving).powerOff();
    await world.time.advance(120_000);
    await dropWorker(world);
    await world.time.advance(120_000);
    assert.equal(await cordonAt(world, leaving), "none", "there is nobody to be evicted by");
    const record = (await world.get(kinds.record))?.spec as { knownWorkers?: readonly { address: string; uuid?: string }[] };
    const uuid = record.knownWorkers?.find((one) => one.address === leaving)?.uuid ?? "";
    assert.notEqual(uuid, "");
    await world.annotate(kinds.controlPlane, "talos-operator.dev/abandon-machine", uuid);
    await world.until("Node gone", async () => (await nodeAt(world, leaving)) === undefined, 600);
  }));

test("a worker pool that is deleted is drained first, a whole cluster is not", () =>
  tell({}, async (world) => {
    await ready(world);
    await runPod(world, leaving, "web-1", { labels: { app: "web" } });
    await keepAvailable(world.workload(), "web", 1);
    await world.client.resource(kinds.worker).delete({ namespace: "default", name: "demo" });
    await world.until("blocked", isBlocked(world));
    await world.time.advance(60_000);
    assert.equal(await wasReset(world)(), false);
    assert.ok(world.sent.includes("Reset 10.5.0.4"), "the empty one does not wait for the other");
    await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" });
    await world.until("gone", async () => (await world.get(kinds.cluster)) === undefined, 600);
  }));

test("the Node of a control plane that was released goes though leaders change before they may disturb anything", () =>
  tell({ operator: { leaderElection: {} } }, async (world) => {
    await ready(world);
    const value = { spec: demoCluster([...cps.slice(0, 2), "10.5.0.6"], workers).spec } as Record<string, unknown>;
    const [, , left = ""] = cps;
    await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value });
    const released = async (): Promise<boolean> => {
      const known = (await world.get(kinds.record))?.spec?.["knownControlPlanes"] as
        readonly { name: string; releasedAt?: string }[] | undefined;
      return known?.some(({ name, releasedAt }) => name === `demo-${left}` && releasedAt !== undefined) === true;
    };
    await world.until("released", released, 600);
    assert.notEqual(await nodeAt(world, left), undefined);
    for (let leader = 0; leader < 6; leader += 1) {
      await world.kill();
      await world.start();
      await world.time.advance(40_000);
    }
    assert.equal(await nodeAt(world, left), undefined);
  }));
