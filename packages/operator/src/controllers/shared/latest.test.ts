import assert from "node:assert/strict";
import { test } from "node:test";
import { talosControlPlaneResource } from "@talos-operator/api";
import type { TalosControlPlane } from "@talos-operator/api";
import { createInformer, createKubeClient } from "@talos-operator/kube-runtime";
import { createFakeApi, createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { controlPlane } from "../../testing/builders.ts";
import { createLatest } from "./latest.ts";

const path = "/apis/talos.alperen.cloud/v1alpha1/taloscontrolplanes";
const saying = (word: string): TalosControlPlane => ({
  ...controlPlane(1),
  metadata: { ...controlPlane(1).metadata, annotations: { "talos.alperen.cloud/reconcile-mode": word } },
});

test("an object is taken from the cache while its watch moves, and read once it stands still", async () => {
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
  const latest = createLatest(informer, client, time.clock);
  const stop = new AbortController();
  void informer.run(stop.signal);
  await time.advance(100);
  const reads = (): number => api.requests.filter(({ method, path: asked }) => method === "GET" && asked.endsWith("/demo")).length;
  const word = async (): Promise<string | undefined> =>
    (await latest(controlPlane(1).metadata))?.metadata.annotations?.["talos.alperen.cloud/reconcile-mode"];

  // What a list or a watch tells after a pause may be old, and more be on its way.
  assert.equal(await word(), "reconcile");
  assert.equal(reads(), 1);
  for (const other of ["disable", "reconcile"]) {
    await time.advance(1_500);
    api.put(path, saying(other));
  }
  await time.advance(10);
  assert.equal(await word(), "reconcile");
  assert.equal(reads(), 1);

  await time.advance(2_000);
  assert.equal(await word(), "reconcile");
  assert.equal(reads(), 2);
  stop.abort();
});
