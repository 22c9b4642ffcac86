import assert from "node:assert/strict";
import { test } from "node:test";
import { talosControlPlaneResource } from "@talos-operator/api";
import type { TalosControlPlane } from "@talos-operator/api";
import { createInformer, createKubeClient } from "@talos-operator/kube-runtime";
import { createFakeApi, createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { controlPlane } from "../../testing/builders.ts";
import { createLatest, sharedWords } from "./latest.ts";
import type { LatestWords } from "./latest.ts";
import type { OwnWrite } from "./own-writes.ts";

const path = "/apis/talos.alperen.cloud/v1alpha1/taloscontrolplanes";
const saying = (word: string): TalosControlPlane => ({
  ...controlPlane(1),
  metadata: { ...controlPlane(1).metadata, annotations: { "talos.alperen.cloud/reconcile-mode": word } },
});

/** An informer that has listed one control plane, asked through {@link createLatest}. */
async function begin() {
  const time = createVirtualTime();
  const api = createFakeApi();
  api.put(path, saying("reconcile"));
  const client = createKubeClient(api.transport());
  const informer = createInformer<TalosControlPlane>({
    client,
    type: talosControlPlaneResource,
    timers: time.timers,
    random: createSeededRandom(1),
  });
  let own: OwnWrite | undefined;
  const latest = createLatest(informer, client, time.clock, { last: () => own });
  const stop = new AbortController();
  void informer.run(stop.signal);
  await time.advance(100);
  return {
    time,
    stop: () => stop.abort(),
    put: (word: string) => api.put(path, saying(word)),
    /** Writes, as this process, what the cache shows `after` so many versions more. */
    wrote: (word: string, after = 0) => {
      const { metadata } = api.put(path, saying(word));
      own = { sentAt: time.clock.now(), resourceVersion: String(Number(metadata?.resourceVersion) + after) };
    },
    reads: () => api.requests.filter(({ method, path: asked }) => method === "GET" && asked.endsWith("/demo")).length,
    latest,
    word: async () => (await latest(controlPlane(1).metadata))?.metadata.annotations?.["talos.alperen.cloud/reconcile-mode"],
  };
}

type World = Awaited<ReturnType<typeof begin>>;

async function moveOn({ time, put }: World): Promise<void> {
  for (const word of ["disable", "reconcile"]) {
    await time.advance(1_500);
    put(word);
  }
  await time.advance(10);
}

test("an object is taken from the cache while its watch moves, and read once it stands still", async () => {
  const world = await begin();
  await moveOn(world);
  assert.equal(await world.word(), "reconcile");
  assert.equal(world.reads(), 0);

  await world.time.advance(2_000);
  assert.equal(await world.word(), "reconcile");
  assert.equal(world.reads(), 1);
  world.stop();
});

test("what a list or a watch tells after a pause may be old, and more be on its way: the object is read", async () => {
  const world = await begin();
  assert.equal(await world.word(), "reconcile");
  assert.equal(world.reads(), 1);
  await moveOn(world);
  await world.time.advance(60_000);
  world.put("disable");
  await world.time.advance(10);
  assert.equal(await world.word(), "disable");
  assert.equal(world.reads(), 2);
  world.stop();
});

test("a cache that shows what this process just wrote is as new as that, for two seconds", async () => {
  const world = await begin();
  await world.time.advance(60_000);
  world.wrote("disable");
  await world.time.advance(1_999);
  assert.equal(await world.word(), "disable");
  assert.equal(world.reads(), 0);
  await world.time.advance(1);
  assert.equal(await world.word(), "disable");
  assert.equal(world.reads(), 1);
  world.stop();
});

test("a cache that does not show yet what this process wrote proves nothing", async () => {
  const world = await begin();
  await world.time.advance(60_000);
  world.wrote("disable", 1);
  await world.time.advance(10);
  assert.equal(await world.word(), "disable");
  assert.equal(world.reads(), 1);
  world.stop();
});

test("those who ask for an object while it is being read share the answer, and nobody else", async () => {
  const world = await begin();
  await world.time.advance(60_000);
  const { controlPlane: latest } = sharedWords({ controlPlane: world.latest } as unknown as LatestWords);
  const asked = await Promise.all([1, 2, 3].map(() => latest(controlPlane(1).metadata)));
  assert.deepEqual(
    asked.map((one) => one?.metadata.name),
    ["demo", "demo", "demo"],
  );
  assert.equal(world.reads(), 1);
  await latest(controlPlane(1).metadata);
  assert.equal(world.reads(), 2);
  world.stop();
});
