import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import { printPlan, whatIf } from "@talos-operator/operator";
import type { PlanStep, WhatIf } from "@talos-operator/operator";
import { nodeAt } from "./cluster-pods.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3", "10.5.0.6", "10.5.0.7"];
const workers = ["10.5.0.4", "10.5.0.5"];
const machines = Array.from({ length: 8 }, (_, index) => ({ address: `10.5.0.${index + 1}`, talosVersion: "v1.13.9" }));

async function ready(world: Story, controlPlanes: readonly string[] = cps, pool: readonly string[] = workers): Promise<void> {
  await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(controlPlanes, pool));
  await world.start();
  await world.untilReady();
  await world.time.advance(60_000);
}

async function plan(world: Story, edited: TalosCluster, isDeletion = false): Promise<WhatIf> {
  const hosts = { allowLoopback: false };
  const [found] = await whatIf([edited], { client: world.client, now: world.time.now(), hosts, isDeletion });
  assert.ok(found !== undefined);
  return found;
}

const apply = async (world: Story, edited: TalosCluster): Promise<void> => {
  const value = { spec: { worker: null, ...edited.spec } } as Record<string, unknown>;
  await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value });
};

/** Steps that leave the management cluster, machine by machine, in the order of each machine. */
function stepsOf({ plan: { steps } }: WhatIf): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const step of steps)
    for (const machine of step.effect === "stored" || step.effect === "waits" ? [] : step.machines)
      found.set(machine, [...(found.get(machine) ?? []), ...wordsOf(step)]);
  return found;
}

/** A graceful reset of a control plane is one call that does two things. */
function wordsOf({ action, says }: PlanStep): readonly string[] {
  if (action === "ResetMachine") return says.startsWith("Have ") ? ["leaves etcd", "reset"] : ["reset"];
  return [action];
}

/** What was really sent about a machine, in order, in the words of the plan; `since` is how much had been sent before. */
async function reallyOn(
  world: Story,
  address: string,
  node: string,
  since: { readonly calls: number; readonly writes: number },
): Promise<readonly string[]> {
  const calls = world.effects.slice(since.calls).filter((call) => call.endsWith(` ${address}`));
  const writes = world.workloadWrites.slice(since.writes).filter((write) => write.includes(`/nodes/${node}`));
  const [first] = writes;
  assert.ok(first === undefined || first.startsWith("PATCH"), String(first));
  return [
    ...(first === undefined ? [] : ["CordonAndDrain"]),
    ...(calls.some((call) => call.startsWith("EtcdForfeitLeadership")) ? ["ForfeitLeadership"] : []),
    ...(calls.some((call) => call.startsWith("Reset")) ? ["reset"] : []),
    ...(writes.some((write) => write.startsWith("DELETE")) ? ["DeleteNode"] : []),
  ];
}

const nameAt = async (world: Story, address: string): Promise<string> => (await nodeAt(world, address))?.metadata?.name ?? "";
const isWaiting = (world: Story, address: string) => async (): Promise<boolean> =>
  Promise.resolve(world.datacenter.machine(address).state.api.kind === "maintenance");

test("the plan of a worker taken off the list has the steps that follow: cordon and drain, reset, deletion of its Node", () =>
  tell({ machines }, async (world) => {
    await ready(world);
    const edited = demoCluster(cps, ["10.5.0.4"]);
    const foreseen = await plan(world, edited);
    assert.deepEqual([...stepsOf(foreseen)], [["demo-10.5.0.5", ["CordonAndDrain", "reset", "DeleteNode"]]], printPlan(foreseen.plan));
    const since = { calls: world.effects.length, writes: world.workloadWrites.length };
    const node = await nameAt(world, "10.5.0.5");
    await apply(world, edited);
    await world.until("its Node is gone", async () => (await nodeAt(world, "10.5.0.5")) === undefined, 600);
    assert.deepEqual(await reallyOn(world, "10.5.0.5", node, since), stepsOf(foreseen).get("demo-10.5.0.5"));
  }));

test("the plan of three workers taken off a list of five has all of them, one after the other", () =>
  tell({ machines }, async (world) => {
    const three = cps.slice(0, 3);
    const five = ["10.5.0.4", "10.5.0.5", "10.5.0.6", "10.5.0.7", "10.5.0.8"];
    await ready(world, three, five);
    const foreseen = await plan(world, demoCluster(three, five.slice(0, 2)));
    const text = printPlan(foreseen.plan);
    const words = ["CordonAndDrain", "reset", "DeleteNode"];
    assert.deepEqual(
      [...stepsOf(foreseen)],
      five.slice(2).map((address) => [`demo-${address}`, words]),
      text,
    );
    const resets = foreseen.plan.steps.filter(({ action }) => action === "ResetMachine");
    assert.deepEqual(
      resets.map((step) => step.machines.length),
      [1, 1, 1],
      text,
    );
    assert.deepEqual([foreseen.plan.waiting, foreseen.plan.isWhole], [undefined, true], text);
  }));

test("the plan of control planes taken off the list has them drain, leave etcd, be reset and their Nodes deleted, one after the other", () =>
  tell({ machines }, async (world) => {
    await ready(world);
    const edited = demoCluster(cps.slice(0, 3), workers);
    const foreseen = await plan(world, edited);
    const steps = stepsOf(foreseen);
    const text = printPlan(foreseen.plan);
    assert.deepEqual([...steps.keys()], ["demo-10.5.0.6", "demo-10.5.0.7"], text);
    for (const words of steps.values())
      assert.deepEqual(
        words.filter((word) => word !== "ForfeitLeadership"),
        ["CordonAndDrain", "leaves etcd", "reset", "DeleteNode"],
        text,
      );
    const resets = foreseen.plan.steps.filter(({ action }) => action === "ResetMachine");
    assert.deepEqual(
      resets.map(({ machines }) => machines.length),
      [1, 1],
      "one after the other",
    );
    const since = { calls: world.effects.length, writes: world.workloadWrites.length };
    const nodes = await Promise.all(["10.5.0.6", "10.5.0.7"].map(async (address) => [address, await nameAt(world, address)] as const));
    await apply(world, edited);
    await world.until(
      "their Nodes are gone",
      async () => (await nodeAt(world, "10.5.0.6")) === undefined && (await nodeAt(world, "10.5.0.7")) === undefined,
      900,
    );
    for (const [address, node] of nodes) {
      const really = await reallyOn(world, address, node, since);
      const words = steps.get(`demo-${address}`)?.filter((word) => word !== "ForfeitLeadership" && word !== "leaves etcd");
      assert.deepEqual(
        really.filter((word) => word !== "ForfeitLeadership"),
        words,
      );
    }
  }));

test("the plan of a pool taken out of the cluster drains each of its machines", () =>
  tell({ machines }, async (world) => {
    await ready(world);
    const edited = demoCluster(cps);
    const foreseen = await plan(world, edited);
    const steps = stepsOf(foreseen);
    assert.deepEqual([...steps.keys()].toSorted(), ["demo-10.5.0.4", "demo-10.5.0.5"], printPlan(foreseen.plan));
    const since = { calls: world.effects.length, writes: world.workloadWrites.length };
    const nodes = await Promise.all(workers.map(async (address) => [address, await nameAt(world, address)] as const));
    await apply(world, edited);
    await world.until("both wait", async () => (await isWaiting(world, "10.5.0.4")()) && isWaiting(world, "10.5.0.5")(), 900);
    await world.time.advance(120_000);
    for (const [address, node] of nodes)
      assert.deepEqual(await reallyOn(world, address, node, since), steps.get(`demo-${address}`), printPlan(foreseen.plan));
  }));

test("the plan of a deleted cluster wipes workers first and drains nothing", () =>
  tell({ machines }, async (world) => {
    const three = cps.slice(0, 3);
    await ready(world, three);
    const foreseen = await plan(world, demoCluster(three, workers), true);
    const text = printPlan(foreseen.plan);
    const resets = foreseen.plan.steps.filter(({ action }) => action === "ResetMachine").flatMap(({ machines }) => machines);
    const since = { calls: world.effects.length, writes: world.workloadWrites.length };
    await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" });
    await world.until("gone", async () => (await world.get(kinds.cluster)) === undefined, 1_800);
    const really = world.effects
      .slice(since.calls)
      .flatMap((call) => (call.startsWith("Reset ") ? [`demo-${call.slice("Reset ".length)}`] : []));
    assert.deepEqual(new Set(resets.slice(0, 2)), new Set(really.slice(0, 2)), text);
    assert.deepEqual(new Set(resets), new Set(really), text);
    assert.equal(resets.length, 5, text);
    assert.doesNotMatch(text, /drain|Delete the Node/i);
    assert.deepEqual(
      world.workloadWrites.slice(since.writes).filter((write) => write.startsWith("DELETE")),
      [],
    );
    assert.match(text, /Remove the cluster's keys[^]*finalizer/);
  }));

test("nothing is planned for the deletion of what is not there", () =>
  tell({ machines }, async (world) => {
    assert.deepEqual(
      await whatIf([demoCluster(cps)], { client: world.client, now: world.time.now(), hosts: { allowLoopback: false }, isDeletion: true }),
      [],
    );
  }));
