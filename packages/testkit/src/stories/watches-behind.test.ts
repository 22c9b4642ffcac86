import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeTransport, KubeWatchEvent } from "@talos-operator/ports";
import { HeldWatch } from "./held-watch.ts";
import { demoCluster, kinds, tell } from "./story.ts";

/** Far more than a minute of passes needs. */
const MOST_READS = 500;

/** Watches that can be held, and how often a machine's object is read meanwhile. */
function heldWatches(pathEnd = "/talosmachines"): {
  readonly kube: (real: KubeTransport) => KubeTransport;
  hold(): void;
  goOn(): void;
  reads(): number;
} {
  const watch = new HeldWatch(pathEnd);
  let reads = 0;
  return {
    hold: () => watch.hold(),
    goOn: () => watch.goOn(),
    reads: () => reads,
    kube: (real) => ({
      ...watch.kube(real),
      async send(request, options) {
        if (watch.isHeld && request.method === "GET" && request.path.includes("/talosmachines/")) reads += 1;
        // Virtual time would stand still for ever.
        if (reads > MOST_READS) watch.goOn();
        return real.send(request, options);
      },
    }),
  };
}

for (const pathEnd of ["/talosworkers", "/taloscontrolplanes"])
  test(`a watch of ${pathEnd} that is behind makes nobody delete what a deletion with --cascade=orphan left`, () => {
    const watches = heldWatches(pathEnd);
    return tell({ kube: watches.kube }, async (world) => {
      await world.client.resource(kinds.cluster).create(demoCluster(["10.5.0.1"], ["10.5.0.2"]));
      await world.start();
      await world.untilReady();
      const sent = world.sent.length;
      watches.hold();
      await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" }, { propagationPolicy: "Orphan" });
      await world.time.advance(60_000);
      watches.goOn();
      await world.until("gone", async () => (await world.get(kinds.cluster)) === undefined, 120);
      await world.time.advance(60_000);
      assert.equal(world.sent.length, sent);
      for (const type of [kinds.controlPlane, kinds.worker]) assert.equal((await world.condition(type, "Ready"))?.status, "True");
    });
  });

test("a watch that is behind makes nobody ask for a machine's object again and again", () => {
  const watches = heldWatches();
  return tell({ kube: watches.kube }, async (world) => {
    await world.client.resource(kinds.cluster).create(demoCluster(["10.5.0.1"], ["10.5.0.2", "10.5.0.3"]));
    await world.start();
    await world.untilReady();
    watches.hold();
    const spec = { worker: { metalSpec: { machines: [{ address: "10.5.0.2" }] } } };
    await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec } });
    await world.until("its object is gone", async () => (await world.get(kinds.machine, "demo-10.5.0.3")) === undefined);
    await world.time.advance(60_000);
    watches.goOn();
    assert.ok(watches.reads() < 100, `${watches.reads()} reads in a minute`);
    await world.untilReady();
  });
});

/** The watch of TalosMachines never tells of one of them; `posts` counts how often it is made. */
function watchThatLoses(name: string): { readonly kube: (real: KubeTransport) => KubeTransport; posts(): number } {
  let posts = 0;
  async function* losing(events: AsyncIterable<KubeWatchEvent>): AsyncIterable<KubeWatchEvent> {
    for await (const event of events) if (!JSON.stringify(event).includes(`"name":"${name}"`)) yield event;
  }
  return {
    posts: () => posts,
    kube: (real) => ({
      ...real,
      async send(request, options) {
        if (request.method === "POST" && request.path.endsWith("/talosmachines")) posts += 1;
        // Virtual time would stand still for ever.
        if (posts > MOST_READS) throw new Error("it is made again without end");
        return real.send(request, options);
      },
      async watch(request, options) {
        const answer = await real.watch(request, options);
        return request.path.endsWith("/talosmachines") ? { ...answer, events: losing(answer.events) } : answer;
      },
    }),
  };
}

test("a watch that has lost the word of a machine's object makes nobody create it again and again", () => {
  const watch = watchThatLoses("demo-10.5.0.1");
  return tell({ kube: watch.kube }, async (world) => {
    await world.client.resource(kinds.cluster).create(demoCluster(["10.5.0.1"]));
    await world.start();
    await world.until("its object is there", async () => (await world.get(kinds.machine, "demo-10.5.0.1")) !== undefined);
    await world.time.advance(60_000);
    assert.ok(watch.posts() < 100, `${watch.posts()} creations in a minute`);
  });
});

/** A setting that every machine boots for, one after the other. */
const needsBoot = { metalSpec: { machineSpec: { configPatches: [{ machine: { env: { PROOF_OF_BOOT: "1" } } }] } } };

test("a cluster that is paused is left alone at once, also while its watches stand still", () => {
  const watches = heldWatches("");
  return tell({ kube: watches.kube }, async (world) => {
    const clusters = world.client.resource(kinds.cluster);
    const key = { namespace: "default", name: "demo" };
    const say = (mode: string | null): Promise<unknown> =>
      clusters.patch(key, { type: "merge", value: { metadata: { annotations: { "talos.alperen.cloud/reconcile-mode": mode } } } });
    const boots = (): number => world.effects.filter((call) => call.startsWith("Reboot")).length;
    const record = async (): Promise<unknown> => (await world.get(kinds.record))?.metadata?.resourceVersion;
    await clusters.create(demoCluster(["10.5.0.1"], ["10.5.0.2"]));
    await world.start();
    await world.untilReady();
    await clusters.patch(key, { type: "merge", value: { spec: { controlPlane: needsBoot, worker: needsBoot } } });
    await world.until("the first one boots", async () => boots() === 1);
    watches.hold();
    await say("disable");
    // What was on its way arrives.
    await world.time.advance(1_000);
    const before = { sent: world.sent.length, record: await record() };
    await world.time.advance(60_000);
    const after = { sent: world.sent.length, record: await record() };
    watches.goOn();
    assert.deepEqual(after, before);
    await say(null);
    await world.until("both have booted", async () => boots() === 2);
  });
});

test("the children of a paused cluster stay as a person changes them, also while the watch of clusters stands still", () => {
  const watches = heldWatches("/talosclusters");
  return tell({ kube: watches.kube }, async (world) => {
    const key = { namespace: "default", name: "demo" };
    await world.client.resource(kinds.cluster).create(demoCluster(["10.5.0.1"]));
    await world.start();
    await world.until("the control plane is there", async () => (await world.get(kinds.controlPlane)) !== undefined);
    const change = (kind: typeof kinds.cluster, value: Readonly<Record<string, unknown>>): Promise<unknown> =>
      world.client.resource(kind).patch(key, { type: "merge", value });
    watches.hold();
    // What was heard a moment ago still counts.
    await world.time.advance(3_000);
    await change(kinds.cluster, { metadata: { annotations: { "talos.alperen.cloud/reconcile-mode": "disable" } } });
    await change(kinds.controlPlane, { spec: { deletionPolicy: "preserve" } });
    await world.time.advance(10_000);
    const { spec } = (await world.get(kinds.controlPlane)) as { spec?: { deletionPolicy?: string } };
    watches.goOn();
    assert.equal(spec?.deletionPolicy, "preserve");
  });
});

for (const [what, word, value] of [
  ["paused", "disable", "disable"],
  ["deleted", undefined, undefined],
] as const)
  test(`a worker pool that is ${what} makes no machine's object anew, also while its watch stands still`, () => {
    const watches = heldWatches("/talosworkers");
    return tell({ kube: watches.kube }, async (world) => {
      await world.client.resource(kinds.cluster).create(demoCluster(["10.5.0.1"], ["10.5.0.2"]));
      await world.start();
      await world.untilReady();
      watches.hold();
      // What was heard a moment ago still counts.
      await world.time.advance(3_000);
      const key = { namespace: "default", name: "demo" };
      const pools = world.client.resource(kinds.worker);
      if (word === undefined) await pools.delete(key);
      else await pools.patch(key, { type: "merge", value: { metadata: { annotations: { "talos.alperen.cloud/reconcile-mode": value } } } });
      const machines = world.client.resource(kinds.machine);
      const [, worker] = (await machines.list()).items;
      const { name = "", uid } = worker?.metadata ?? {};
      await machines.patch({ namespace: "default", name }, { type: "merge", value: { metadata: { finalizers: null } } });
      if ((await machines.tryGet({ namespace: "default", name })) !== undefined) await machines.delete({ namespace: "default", name });
      await world.time.advance(10_000);
      const anew = await machines.tryGet({ namespace: "default", name });
      watches.goOn();
      assert.equal(anew?.metadata?.uid === uid ? undefined : anew, undefined);
    });
  });
