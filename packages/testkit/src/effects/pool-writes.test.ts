// What is written for a worker pool, at the last moment before it is: by the objects as they are then.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations, clusterRecordResource, labels } from "@talos-operator/api";
import type { ClusterRecord, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { createSeededRandom } from "@talos-operator/kube-runtime/testing";
import { configured, controlPlane, decidedPass, facts, machinesOf, observed, printRecord, worker } from "@talos-operator/operator/testing";
import type { Action, DecidedPass, Observed } from "@talos-operator/operator/testing";
import { createStory, kinds } from "../stories/story.ts";
import type { Story } from "../stories/story.ts";

const key = { namespace: "default", name: "demo-workers" };
const machineKey = { ...key, name: "demo-workers-10.0.1.1" };

interface World {
  readonly story: Story;
  readonly seen: Observed;
  readonly pass: (seen?: Observed) => Promise<DecidedPass>;
}

/** An API server with a control plane and a pool of one machine, and no operator. */
async function within(use: (world: World) => Promise<void>): Promise<void> {
  const story = await createStory({ machines: [] });
  const { client, keys, time } = story;
  const passes: DecidedPass[] = [];
  try {
    const { uid: _a, generation: _b, ...ofPlane } = controlPlane(1).metadata;
    const { uid: _c, generation: _d, ...ofPool } = worker(1).metadata;
    const plane = await client.resource<TalosControlPlane>(kinds.controlPlane).create({ ...controlPlane(1), metadata: ofPlane });
    const pool = await client.resource<TalosWorker>(kinds.worker).create({ ...worker(1), metadata: ofPool });
    const seen = observed({ controlPlane: plane, workers: [pool], hasObjects: false });
    const pass = async (of: Observed = seen): Promise<DecidedPass> => {
      const place = {
        client,
        dialer: story.datacenter.dialer(time.clock),
        keys,
        clock: time.clock,
        timers: time.timers,
        random: createSeededRandom(5),
      };
      const made = await decidedPass(place, of, {});
      passes.push(made);
      return made;
    };
    await use({ story, seen, pass });
  } finally {
    for (const pass of passes) pass.close();
    await story.end();
  }
}

const pause = (story: Story): Promise<unknown> => {
  const value = { metadata: { annotations: { [annotations.reconcileMode]: "disable" } } };
  return story.client.resource(kinds.worker).patch(key, { type: "merge", value });
};

const create = (seen: Observed): Action => {
  const [machine] = seen.workers.flatMap((pool) => machinesOf(pool));
  assert.ok(machine);
  return { kind: "CreateMachine", machine };
};

test("a word of a person on a pool is taken off there, and stays elsewhere", () =>
  within(async ({ story, seen, pass }) => {
    const word = "example.org/word";
    const wordOn = async (kind: typeof kinds.worker, name: string): Promise<unknown> =>
      (await story.get(kind, name))?.metadata?.annotations?.[word];
    for (const [kind, name] of [
      [kinds.worker, "demo-workers"],
      [kinds.controlPlane, "demo"],
    ] as const)
      await story.client
        .resource(kind)
        .patch({ namespace: "default", name }, { type: "merge", value: { metadata: { annotations: { [word]: "a" } } } });
    const action: Action = { kind: "AnswerAnnotation", annotation: word, value: "a", answer: "done", pool: "demo-workers" };
    assert.equal(await (await pass(seen)).carryOut([action]), undefined);
    assert.deepEqual([await wordOn(kinds.worker, "demo-workers"), await wordOn(kinds.controlPlane, "demo")], [undefined, "a"]);
  }));

describe("the TalosMachine of a worker pool", () => {
  test("belongs to the pool, and to its cluster by its labels", () =>
    within(async ({ story, seen, pass }) => {
      assert.equal(await (await pass()).carryOut([create(seen)]), undefined);
      const made = await story.client.resource<TalosMachine>(kinds.machine).get(machineKey);
      assert.deepEqual(
        made.metadata.ownerReferences?.map(({ kind, name, uid }) => [kind, name, uid]),
        [["TalosWorker", "demo-workers", seen.workers[0]?.metadata.uid]],
      );
      assert.equal(made.spec?.workerRef?.name, "demo-workers");
      assert.equal(made.spec?.controlPlaneRef, undefined);
      assert.equal(made.metadata.labels?.[labels.cluster], "demo");
    }));

  test("is not made when the pool is paused by now; that is noted, and the rest of the pass goes on", () =>
    within(async ({ story, seen, pass }) => {
      await pause(story);
      const begun = await pass();
      const [own] = machinesOf(seen.controlPlane);
      assert.ok(own);
      assert.equal(await begun.carryOut([create(seen), { kind: "CreateMachine", machine: own }]), undefined);
      const { items } = await story.client.resource<TalosMachine>(kinds.machine).list();
      assert.deepEqual(
        items.map(({ metadata }) => metadata.name),
        ["demo-10.0.0.1"],
      );
      assert.equal(begun.effects.session.sent().get("Compose/demo-workers")?.outcome, "unknown");
    }));

  test("that the API server refuses is noted for the pool, and holds up nobody else", () =>
    within(async ({ seen, pass }) => {
      const begun = await pass();
      const [declared] = seen.workers.flatMap((pool) => machinesOf(pool));
      assert.ok(declared);
      const machine = { ...declared, name: "No Name" };
      assert.equal(await begun.carryOut([{ kind: "CreateMachine", machine }]), undefined);
      const note = begun.effects.session.sent().get("Compose/demo-workers");
      assert.equal(note?.outcome, "refused");
      assert.match(note.detail, /INVALID/);
    }));
});

describe("the finalizer of a worker pool", () => {
  const release: Action = { kind: "RemoveFinalizer", object: { kind: "TalosWorker", name: "demo-workers" } };
  /** The pool is deleted, and waits for its finalizer. */
  const deleted = async ({ story, seen }: World): Promise<Observed> => {
    await story.client.resource<TalosWorker>(kinds.worker).delete(key);
    return { ...seen, workers: [await story.client.resource<TalosWorker>(kinds.worker).get(key)] };
  };
  const isThere = async ({ story }: World): Promise<boolean> => (await story.get(kinds.worker, "demo-workers")) !== undefined;

  test("goes when nothing is left, and what no list told of goes with it", () =>
    within(async (world) => {
      const { story, seen, pass } = world;
      await (await pass()).carryOut([create(seen)]);
      assert.equal(await (await pass(await deleted(world))).carryOut([release]), undefined);
      assert.equal(await isThere(world), false);
      assert.equal(await story.get(kinds.machine, machineKey.name), undefined);
    }));

  test("stays when the record says by now that a machine may be configured", () =>
    within(async (world) => {
      const going = await deleted(world);
      const machines = [configured("10.0.1.1", "worker", "demo-workers")];
      const record = printRecord({ ...key, name: "demo" }, facts({ machines }), undefined, { identity: "one", fencingToken: "1/1" });
      const begun = await world.pass(going);
      await world.story.client.resource<ClusterRecord>(clusterRecordResource).create(record);
      assert.equal(await begun.carryOut([release]), undefined);
      assert.equal(await isThere(world), true);
      assert.equal(begun.effects.session.sent().get("Compose/demo-workers")?.outcome, "unknown");
    }));

  test("stays when the pool is paused by now", () =>
    within(async (world) => {
      const going = await deleted(world);
      await pause(world.story);
      await (await world.pass(going)).carryOut([release]);
      assert.equal(await isThere(world), true);
    }));
});
