import assert from "node:assert/strict";
import { test } from "node:test";
import { flatCluster, tellComposition } from "./composition.ts";
import type { CompositionStory } from "./composition.ts";
import { createOldLists } from "./old-lists.ts";
import { kinds } from "./story.ts";

/** What a KubernetesCluster makes. */
const makings = [kinds.controlPlane, kinds.worker, kinds.vitistackMachine];

async function composed(world: CompositionStory): Promise<void> {
  await world.client.resource(kinds.kubernetesCluster).create(flatCluster(1, { workers: 1 }));
  await world.start();
  await world.untilComposed();
}

async function orphan(world: CompositionStory): Promise<void> {
  await world.client.resource(kinds.kubernetesCluster).delete({ namespace: "default", name: "demo" }, { propagationPolicy: "Orphan" });
  await world.until("orphaned", async () => (await owners(world.client)).length === 0, 120);
}

/** References to a KubernetesCluster in all that it made. */
async function owners(client: CompositionStory["client"]): Promise<readonly unknown[]> {
  const made = await Promise.all(makings.map(async (kind) => (await client.resource(kind).list()).items));
  return made.flat().flatMap(({ metadata }) => (metadata?.ownerReferences ?? []).filter(({ kind }) => kind === "KubernetesCluster"));
}

async function assertLeftAlone(world: CompositionStory, machines: readonly string[]): Promise<void> {
  await world.time.advance(600_000);
  assert.deepEqual(await owners(world.client), []);
  assert.deepEqual(await world.machineNames(), machines);
  assert.deepEqual(
    world.effects.filter((effect) => effect.startsWith("Reset")),
    [],
  );
}

test("a KubernetesCluster that is deleted with --cascade=orphan leaves its pools and Machines as they are", () =>
  tellComposition({}, async (world) => {
    await composed(world);
    const machines = await world.machineNames();
    await orphan(world);
    await assertLeftAlone(world, machines);
    assert.equal(await world.cluster(), undefined);
  }));

test("an operator whose lists are behind takes nothing back of a KubernetesCluster that was deleted with --cascade=orphan", () => {
  const lists = createOldLists();
  return tellComposition({ kube: (real) => lists.kube(real) }, async (world) => {
    await composed(world);
    const machines = await world.machineNames();
    await world.kill();
    for (const kind of [kinds.kubernetesCluster, ...makings]) lists.keep(kind.plural, (await world.client.resource(kind).list()).items);
    await orphan(world);
    await world.start();
    await world.time.advance(60_000);
    assert.deepEqual(await owners(world.client), []);
    lists.catchUp();
    await world.kill();
    await world.start();
    await assertLeftAlone(world, machines);
  });
});
