import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];
const mode = "talos.alperen.cloud/reconcile-mode";

const planned = async (world: Story, type = kinds.cluster): Promise<string> => (await world.condition(type, "DryRun"))?.message ?? "";

/** Writes that are more than words about the object: everything but status and events. */
function touched(world: Story, from = 0): readonly string[] {
  return world.writes.slice(from).filter((write) => !write.includes("/status") && !write.includes("/events"));
}

async function made(world: Story, annotations: Record<string, string> = {}): Promise<TalosCluster> {
  const cluster = demoCluster(cps, workers);
  return world.client.resource<TalosCluster>(kinds.cluster).create({ ...cluster, metadata: { ...cluster.metadata, annotations } });
}

async function ready(world: Story): Promise<void> {
  await made(world);
  await world.start();
  await world.untilReady();
}

/** What events tell of a dry run of an object of this kind. */
async function eventsOf(world: Story, kind: string): Promise<readonly { readonly text: string; readonly isRepeated: boolean }[]> {
  const { items } = await world.client.resource(kinds.event).list();
  return items
    .map((event) => JSON.stringify(event))
    .filter((text) => text.includes('"DryRun"') && text.includes(`"kind":"${kind}"`))
    .map((text) => ({ text, isRepeated: /"count":([2-9]|\d\d)/i.test(text) }));
}

test("a dry run of containers says that no disk is overwritten, and names none", () =>
  tell({ machines: [...cps, ...workers].map((address) => ({ address, platform: "container" as const })) }, async (world) => {
    await made(world, { [mode]: "dryrun" });
    await world.start();
    await world.until("planned", async () => (await world.condition(kinds.cluster, "DryRun"))?.status === "True");
    const plan = await planned(world);
    assert.match(
      plan,
      /\[live\] Send the configuration to containers, where nothing is installed and no disk is overwritten: demo-10\.5\.0\.1 \(10\.5\.0\.1, Talos v1\.13\.9\).*demo-10\.5\.0\.5/,
    );
    assert.doesNotMatch(plan, /\[installs\]|\/dev\//);
    assert.deepEqual(world.sent, []);
  }));

test("a dry run of a new cluster tells every step with its machines and effect, workers included, and touches nothing", () =>
  tell({}, async (world) => {
    await made(world, { [mode]: "dryrun" });
    await world.start();
    await world.until(
      "planned",
      async () => (await planned(world)) !== "" && (await world.condition(kinds.cluster, "DryRun"))?.status === "True",
    );
    const plan = await planned(world);
    const lines = plan.split("\n");
    const at = (pattern: RegExp): number => {
      const index = lines.findIndex((line) => pattern.test(line));
      assert.notEqual(index, -1, `${String(pattern)} in\n${plan}`);
      return index;
    };
    const order = [
      /\[stored\] Make TalosControlPlane\/demo/,
      /\[stored\] Make TalosMachine demo-10\.5\.0\.1, demo-10\.5\.0\.2, demo-10\.5\.0\.3/,
      /\[installs\].*demo-10\.5\.0\.1 \(10\.5\.0\.1, \/dev\/sda, Talos v1\.13\.9\).*demo-10\.5\.0\.4.*demo-10\.5\.0\.5/,
      /\[bootstraps etcd\] Bootstrap etcd on demo-10\.5\.0\.1/,
      /\[stored\] Write the kubeconfig: Secret demo-kubeconfig/,
    ].map(at);
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
    );
    assert.doesNotMatch(plan, /it waits/);
    await world.time.advance(120_000);
    assert.deepEqual(touched(world), []);
    assert.deepEqual(world.sent, []);
    for (const type of [kinds.controlPlane, kinds.worker, kinds.machine, kinds.record])
      assert.deepEqual((await world.client.resource(type).list()).items, []);
    const [event, ...more] = await eventsOf(world, "TalosCluster");
    assert.deepEqual([event?.isRepeated, more], [false, []]);
    assert.match(event?.text ?? "", /Make TalosControlPlane\/demo/);
    await world.annotate(kinds.cluster, mode, undefined);
    await world.untilReady();
    assert.equal(await world.condition(kinds.cluster, "DryRun"), undefined);
  }));

test("machines that do not answer stand in the plan as what is waited for", () =>
  tell({}, async (world) => {
    world.datacenter.machine("10.5.0.2").powerOff();
    await made(world, { [mode]: "dryrun" });
    await world.start();
    await world.until("planned", async () => (await world.condition(kinds.cluster, "DryRun"))?.status === "True");
    assert.match(await planned(world), /\[waits\] Wait until these answer in maintenance mode: demo-10\.5\.0\.2 \(10\.5\.0\.2, now: /);
  }));

test("a dry run of deletion tells what would be wiped and in which order, and wipes nothing, whether parent or children are deleted", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.annotate(kinds.cluster, mode, "DryRun");
    await world.until("planned", async () => (await world.condition(kinds.cluster, "DryRun"))?.reason === "NothingToDo");
    const before = world.writes.length;
    const calls = world.sent.length;
    await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" });
    await world.until("planned", async () => /destroys data/.test(await planned(world)));
    const wipes = [...(await planned(world)).matchAll(/\[destroys data\] (?:Wipe|Have) (.*?):/g)].map(([, names = ""]) => names);
    assert.deepEqual(wipes.length, 4, await planned(world));
    assert.match(wipes[0] ?? "", /demo-10\.5\.0\.4.*demo-10\.5\.0\.5/);
    assert.deepEqual(
      wipes.slice(1).map((names) => names.slice(0, 13)),
      cps.map((address) => `demo-${address}`),
    );
    await world.client.resource(kinds.controlPlane).delete({ namespace: "default", name: "demo" });
    await world.client.resource(kinds.worker).delete({ namespace: "default", name: "demo" });
    await world.time.advance(600_000);
    assert.deepEqual(touched(world, before), []);
    assert.deepEqual(world.sent.slice(calls), []);
    for (const machine of world.datacenter.machines().filter((one) => [...cps, ...workers].includes(one.address)))
      assert.equal(machine.state.stage, "running");
    await world.annotate(kinds.cluster, mode, undefined);
    await world.until("gone", async () => (await world.get(kinds.cluster)) === undefined, 600);
  }));

test("a dry run of a larger pool tells of the new machine alone", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.annotate(kinds.cluster, mode, "dryrun");
    await world.until("settled", async () => (await world.condition(kinds.cluster, "DryRun"))?.reason === "NothingToDo");
    const before = world.writes.length;
    const calls = world.sent.length;
    const patch = { type: "merge", value: { spec: demoCluster(cps, [...workers, "10.5.0.6"]).spec } } as const;
    await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, patch);
    await world.until("planned", async () => /\[installs\]/.test(await planned(world)));
    const plan = await planned(world);
    assert.match(plan, /Bring TalosWorker\/demo to the spec of the cluster/);
    assert.match(plan, /\[installs\] [^\n]*demo-10\.5\.0\.6/);
    assert.doesNotMatch(plan, /\[installs\] [^\n]*demo-10\.5\.0\.[1-5]/);
    await world.time.advance(120_000);
    assert.deepEqual(touched(world, before), []);
    assert.deepEqual(world.sent.slice(calls), []);
    assert.equal((await world.client.resource(kinds.machine).list()).items.length, 5);
  }));

test("a dry run of a replaced control plane tells who joins and who leaves, with what etcd keeps meanwhile", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.annotate(kinds.cluster, mode, "dryrun");
    await world.until("settled", async () => (await world.condition(kinds.cluster, "DryRun"))?.reason === "NothingToDo");
    const before = world.writes.length;
    const calls = world.sent.length;
    const patch = { type: "merge", value: { spec: demoCluster(["10.5.0.1", "10.5.0.2", "10.5.0.6"], workers).spec } } as const;
    await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, patch);
    await world.time.advance(60_000);
    const plan = await planned(world);
    const joins = plan.indexOf("[installs]");
    const leaves = plan.indexOf("[destroys data]");
    assert.ok(joins > 0 && leaves > joins, plan);
    assert.match(plan, /\[installs\] [^\n]*demo-10\.5\.0\.6/);
    const drained = plan.indexOf("Cordon and drain the Node of demo-10.5.0.3");
    assert.ok(drained > joins && drained < leaves && plan.indexOf("Delete the Node of demo-10.5.0.3") > leaves, plan);
    assert.match(
      plan,
      /\[destroys data\] Have demo-10\.5\.0\.3 \S+ leave etcd, then wipe it: [^\n]*etcd: 3 healthy of 4 voters would be left, and 3 are needed/,
    );
    await world.time.advance(120_000);
    assert.deepEqual(touched(world, before), []);
    assert.deepEqual(world.sent.slice(calls), []);
  }));

test("a dry run of a cluster whose workers cannot be foresees nothing for its control planes either: none of it would be done", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.annotate(kinds.cluster, mode, "dryrun");
    await world.until("settled", async () => (await world.condition(kinds.cluster, "DryRun"))?.reason === "NothingToDo");
    const { spec } = demoCluster(["10.5.0.1", "10.5.0.2", "10.5.0.6"], workers);
    const machineSpec = { ...spec?.worker?.metalSpec?.machineSpec, configPatches: [{ machine: { sysctlz: { a: "1" } } }] };
    const worker = { ...spec?.worker, metalSpec: { ...spec?.worker?.metalSpec, machineSpec } };
    const patch = { type: "merge", value: { spec: { ...spec, worker } } } as const;
    await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, patch);
    await world.until("told", async () => /SpecInvalid: .*sysctlz/.test(await planned(world)));
    await world.time.advance(60_000);
    assert.match(await planned(world), /^Nothing would be done\.\nSpecInvalid: [^\n]*sysctlz[^\n]*$/);
    const before = world.writes.length;
    const calls = world.sent.length;
    await world.annotate(kinds.cluster, mode, undefined);
    await world.time.advance(60_000);
    assert.deepEqual(world.sent.slice(calls), []);
    assert.deepEqual(touched(world, before), []);
  }));

test("a dry run of a changed setting tells the paths with their effect classes, machine by machine", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.annotate(kinds.cluster, mode, "dryrun");
    await world.until("settled", async () => (await world.condition(kinds.cluster, "DryRun"))?.reason === "NothingToDo");
    const before = world.writes.length;
    const calls = world.sent.length;
    const { spec } = demoCluster(cps, workers);
    const machineSpec = { installDisk: "/dev/sda", configPatches: [{ machine: { sysctls: { "net.core.somaxconn": "4096" } } }] };
    const controlPlane = { ...spec?.controlPlane, metalSpec: { ...spec?.controlPlane?.metalSpec, machineSpec } };
    const patch = { type: "merge", value: { spec: { ...spec, controlPlane } } } as const;
    await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, patch);
    await world.until("planned", async () => /sysctls/.test(await planned(world)), 600);
    const plan = await planned(world);
    for (const address of cps)
      assert.match(plan, new RegExp(`\\[live\\] [^\\n]*demo-${address.replaceAll(".", "\\.")}: machine\\.sysctls[^\\n]*\\(live\\)`), plan);
    await world.time.advance(120_000);
    assert.deepEqual(touched(world, before), []);
    assert.deepEqual(world.sent.slice(calls), []);
  }));

test("W43: a dry run of one pool tells what would be done with its machines, while the rest goes on", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.annotate(kinds.worker, mode, "dryrun");
    const told = async (): Promise<string> => (await world.condition(kinds.worker, "DryRun"))?.message ?? "";
    await world.until("told", async () => (await world.condition(kinds.worker, "DryRun"))?.reason === "NothingToDo");
    await world.until("told in an event", async () => (await eventsOf(world, "TalosWorker")).length > 0, 60);
    const calls = world.sent.length;
    const patches = [{ machine: { nodeLabels: { "example.org/rack": "r1" } } }];
    const worker = { metalSpec: { machineSpec: { configPatches: patches } } };
    await world.client
      .resource(kinds.cluster)
      .patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec: { worker } } });
    await world.until("planned", async () => /\[live\] [^\n]*demo-10\.5\.0\.4: machine\.nodeLabels/.test(await told()), 120);
    assert.match(await told(), /demo-10\.5\.0\.5/);
    await world.time.advance(120_000);
    assert.deepEqual(world.sent.slice(calls), []);
    assert.equal((await world.condition(kinds.controlPlane, "DryRun"))?.message, undefined);
    await world.annotate(kinds.worker, mode, undefined);
    await world.until("done", async () => world.sent.length > calls, 300);
    await world.until("not told any more", async () => (await world.condition(kinds.worker, "DryRun")) === undefined);
  }));
