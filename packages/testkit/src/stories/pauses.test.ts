import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import { HeldWatch } from "./held-watch.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];
const mode = "talos.alperen.cloud/reconcile-mode";

/** A control plane and a pool with a name of its own, each paused or not. */
async function made(world: Story, poolAnnotations: Record<string, string> = {}): Promise<void> {
  const { spec } = demoCluster(cps, workers);
  const object = (kind: string, name: string, of: object, annotations: Record<string, string> = {}): KubeObject =>
    ({ apiVersion: "talos.alperen.cloud/v1alpha1", kind, metadata: { namespace: "default", name, annotations }, spec: of }) as KubeObject;
  await world.client.resource(kinds.controlPlane).create(object("TalosControlPlane", "demo", { ...spec?.controlPlane }));
  await world.client
    .resource(kinds.worker)
    .create(object("TalosWorker", "pool", { ...spec?.worker, controlPlaneRef: { name: "demo" } }, poolAnnotations));
  await world.start();
}

/** Writes the word on an object, or takes it off. */
const pause = (world: Story, type: ResourceType, name: string, value: string | null): Promise<unknown> =>
  world.client
    .resource(type)
    .patch({ namespace: "default", name }, { type: "merge", value: { metadata: { annotations: { [mode]: value } } } });

const pausePool = (world: Story, value: string | null): Promise<unknown> => pause(world, kinds.worker, "pool", value);

const isReady = (world: Story) => async (): Promise<boolean> => (await world.condition(kinds.controlPlane, "Ready"))?.status === "True";

for (const word of ["disable", "dryrun"])
  test(`a pool that says ${word} by itself: its machines get nothing while the control plane is made; without the word they join at once`, () =>
    tell({}, async (world) => {
      await made(world, { [mode]: word });
      await world.until("founded", async () => (await world.condition(kinds.controlPlane, "EtcdHealthy"))?.status === "True");
      await world.time.advance(120_000);
      assert.deepEqual(
        world.sent.filter((call) => workers.some((address) => call.endsWith(address))),
        [],
      );
      await pausePool(world, null);
      await world.until("ready", isReady(world), 120);
    }));

test("a paused pool that is deleted is not wiped, also when the whole cluster goes; without the word it is", () =>
  tell({}, async (world) => {
    await made(world);
    await world.until("ready", isReady(world));
    await pausePool(world, "disable");
    await world.time.advance(5_000);
    const before = world.sent.length;
    await world.client.resource(kinds.worker).delete({ namespace: "default", name: "pool" });
    await world.client.resource(kinds.controlPlane).delete({ namespace: "default", name: "demo" });
    await world.time.advance(600_000);
    assert.deepEqual(world.sent.slice(before), []);
    assert.equal((await world.client.resource(kinds.machine).list()).items.length, 5);
    assert.equal((await world.condition(kinds.controlPlane, "Deleting"))?.reason, "WaitingForWorkers");
    await pausePool(world, null);
    await world.until("gone", async () => (await world.get(kinds.controlPlane)) === undefined, 900);
  }));

test("a machine that is paused by itself is not wiped with its pool", () =>
  tell({}, async (world) => {
    await made(world);
    await world.until("ready", isReady(world));
    const patch = { type: "merge", value: { metadata: { annotations: { [mode]: "disable" } } } } as const;
    await world.client.resource(kinds.machine).patch({ namespace: "default", name: "pool-10.5.0.4" }, patch);
    await world.time.advance(5_000);
    await world.client.resource(kinds.worker).delete({ namespace: "default", name: "pool" });
    await world.until("the other one is wiped", () => Promise.resolve(world.effects.includes("Reset 10.5.0.5")), 300);
    await world.time.advance(300_000);
    assert.equal(world.sent.includes("Reset 10.5.0.4"), false);
  }));

for (const [who, type, name] of [
  ["a pool", kinds.worker, "pool"],
  ["the control plane of a pool", kinds.controlPlane, "demo"],
] as const)
  test(`${who} was paused: the pool gets none of its objects back while the watch has not told of the pause`, () => {
    const watch = new HeldWatch(`/${type.plural}`);
    return tell({ kube: (real) => watch.kube(real) }, async (world) => {
      await made(world);
      await world.until("ready", isReady(world));
      watch.hold();
      await pause(world, type, name, "disable");
      await world.time.advance(10_000);
      const before = world.writes.length;
      const machine = { namespace: "default", name: "pool-10.5.0.4" };
      await world.client.resource(kinds.machine).patch(machine, { type: "merge", value: { metadata: { finalizers: null } } });
      await world.client.resource(kinds.machine).delete(machine);
      await world.time.advance(20_000);
      watch.goOn();
      assert.deepEqual(
        world.writes.slice(before).filter((write) => write.startsWith("POST") && write.endsWith("/talosmachines")),
        [],
      );
      await pause(world, type, name, null);
      await world.until("it is back", async () => (await world.get(kinds.machine, machine.name)) !== undefined, 60);
    });
  });

for (const [who, type, name] of [
  ["a pool", kinds.worker, "pool"],
  ["a machine", kinds.machine, "pool-10.5.0.5"],
] as const)
  test(`${who} that is paused in the middle of a rollout gets nothing more while the watch has not told of the pause`, () => {
    const watch = new HeldWatch(`/${type.plural}`);
    return tell({ kube: (real) => watch.kube(real) }, async (world) => {
      await made(world);
      await world.until("ready", isReady(world));
      const configPatches = [{ machine: { sysctls: { "net.core.somaxconn": "1024" } } }];
      const value = { spec: { metalSpec: { machineSpec: { configPatches } } } };
      const toLast = (): readonly string[] => world.sent.filter((call) => call.endsWith(" 10.5.0.5"));
      const [sent, before] = [world.sent.length, toLast().length];
      await world.client.resource(kinds.worker).patch({ namespace: "default", name: "pool" }, { type: "merge", value });
      await world.until(
        "the first one gets it",
        () => Promise.resolve(world.sent.slice(sent).includes("ApplyConfiguration 10.5.0.4")),
        120,
      );
      watch.hold();
      await pause(world, type, name, "disable");
      await world.time.advance(300_000);
      const meanwhile = toLast().slice(before);
      watch.goOn();
      assert.deepEqual(meanwhile, []);
      await pause(world, type, name, null);
      await world.until("the last one gets it", () => Promise.resolve(toLast().length > before), 300);
    });
  });
