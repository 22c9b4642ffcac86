import assert from "node:assert/strict";
import { test } from "node:test";
import { flatCluster, tellComposition } from "./composition.ts";
import type { CompositionStory } from "./composition.ts";
import { createOldLists } from "./old-lists.ts";
import type { OldLists } from "./old-lists.ts";
import { kinds } from "./story.ts";

const mode = "talos.alperen.cloud/reconcile-mode";
const demo = { namespace: "default", name: "demo" };

const pause = (world: CompositionStory, value: string | null): Promise<unknown> =>
  world.client.resource(kinds.kubernetesCluster).patch(demo, { type: "merge", value: { metadata: { annotations: { [mode]: value } } } });

const pausesOf = async (world: CompositionStory): Promise<readonly unknown[]> => {
  const pools = await Promise.all([kinds.controlPlane, kinds.worker].map(async (kind) => (await world.client.resource(kind).list()).items));
  return pools.flat().map(({ metadata }) => metadata?.annotations?.[mode]);
};

/** A cluster of one control plane and two pools of one worker. */
async function composed(world: CompositionStory): Promise<void> {
  await world.client.resource(kinds.kubernetesCluster).create(flatCluster(1, { a: 1, b: 1 }));
  await world.start();
  await world.untilComposed();
}

/** From now on an operator that starts hears of clusters as they are here. */
async function keepOld(world: CompositionStory, lists: OldLists): Promise<void> {
  lists.keep(kinds.kubernetesCluster.plural, (await world.client.resource(kinds.kubernetesCluster).list()).items);
}

test("a pause is handed on to the pools, and taken back from them", () =>
  tellComposition({}, async (world) => {
    await composed(world);
    await pause(world, "disable");
    await world.until("handed on", async () => (await pausesOf(world)).every((word) => word === "disable"), 60);
    await pause(world, null);
    await world.until("taken back", async () => (await pausesOf(world)).every((word) => word === undefined), 60);
  }));

test("an operator whose lists are behind takes no pause back that was handed on to the pools", () => {
  const lists = createOldLists();
  return tellComposition({ kube: (real) => lists.kube(real) }, async (world) => {
    await composed(world);
    await keepOld(world, lists);
    await pause(world, "disable");
    await world.until("handed on", async () => (await pausesOf(world)).every((word) => word === "disable"), 60);
    await world.kill();
    await world.start();
    await world.time.advance(60_000);
    assert.deepEqual(await pausesOf(world), ["disable", "disable", "disable"]);
    await pause(world, null);
    await world.until("taken back", async () => (await pausesOf(world)).every((word) => word === undefined), 60);
  });
});

for (const [edit, spec] of [
  [
    "adds a worker",
    {
      workers: [
        { name: "a", replicas: 2 },
        { name: "b", replicas: 1 },
      ],
    },
  ],
  ["takes a pool away", { workers: [{ name: "a", replicas: 1 }] }],
] as const)
  test(`an edit that ${edit} waits while its cluster is paused, also for an operator whose lists are behind`, () => {
    const lists = createOldLists();
    return tellComposition({ kube: (real) => lists.kube(real) }, async (world) => {
      await composed(world);
      await world.kill();
      const { spec: before } = (await world.cluster()) as unknown as {
        readonly spec: { readonly workers: readonly { readonly name: string }[] };
      };
      const workers = spec.workers.map((one) => ({ ...before.workers.find(({ name }) => name === one.name), ...one }));
      await world.client.resource(kinds.kubernetesCluster).patch(demo, { type: "merge", value: { spec: { workers } } });
      await keepOld(world, lists);
      await pause(world, "disable");
      const machines = await world.machineNames();
      const pools = (await world.client.resource(kinds.worker).list()).items.map(({ metadata }) => [metadata?.name, metadata?.generation]);
      await world.start();
      await world.time.advance(60_000);
      assert.deepEqual(await world.machineNames(), machines);
      assert.deepEqual(
        (await world.client.resource(kinds.worker).list()).items.map(({ metadata }) => [metadata?.name, metadata?.generation]),
        pools,
      );
      await pause(world, null);
      await world.until("carried out", async () => (await world.machineNames()).length !== machines.length, 900);
    });
  });

test("a cluster that is paused before anything was made of it gets nothing, not even a finalizer, also from an operator whose lists are behind", () => {
  const lists = createOldLists();
  return tellComposition({ kube: (real) => lists.kube(real) }, async (world) => {
    await world.client.resource(kinds.kubernetesCluster).create(flatCluster(1, { a: 1 }));
    await keepOld(world, lists);
    await pause(world, "disable");
    await world.start();
    await world.time.advance(60_000);
    assert.deepEqual([(await world.cluster())?.metadata?.finalizers ?? [], await world.machineNames()], [[], []]);
  });
});
