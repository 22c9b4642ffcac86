import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKubeClient } from "../client/kube-client.ts";
import { keyOf, type KubeObject } from "../objects/kube-object.ts";
import type { ResourceType } from "../request/resource-type.ts";
import { createFakeApi, createSeededRandom, createVirtualTime, type FakeApi, statusObject } from "../testing/index.ts";
import { createInformer } from "./create-informer.ts";
import type { Delta, Informer } from "./informer-types.ts";
import { compareResourceVersions } from "./resource-version.ts";

/*
 * An hour of virtual time in which everything goes wrong, with ten thousand objects, from a seed. A book beside the informer holds what it told;
 * the informer must never tell what does not follow from the page before, and in the end book, cache and store must agree.
 */

const type: ResourceType = { group: "example.dev", version: "v1", plural: "things", kind: "Thing", namespaced: true };
const things = "/apis/example.dev/v1/things";
const hour = { objects: 10_000, durationMs: 3_600_000 };

/** What an informer told, with a look at each delta whether it can follow on what was told before. */
function createBook() {
  const told = new Map<string, KubeObject>();
  let deltas = 0;
  return {
    told,
    get deltas() {
      return deltas;
    },
    enter(delta: Delta<KubeObject>): void {
      deltas += 1;
      const key = keyOf(delta.object);
      const before = told.get(key);
      if (delta.type === "added") assert.equal(before, undefined, `${key} was added twice`);
      else assert.ok(before, `${key} was ${delta.type} and never added`);
      if (delta.type === "updated") {
        assert.equal(delta.previous, before, `${key} was updated from a state that was never told`);
        assert.equal(delta.object.metadata?.uid, before?.metadata?.uid, `${key} changed its uid without a deletion`);
        const order = compareResourceVersions(versionOf(delta.object), versionOf(before));
        assert.ok(order !== undefined && order > 0, `${key} went from ${versionOf(before)} to ${versionOf(delta.object)}`);
      }
      if (delta.type === "deleted") told.delete(key);
      else told.set(key, delta.object);
    },
  };
}

const versionOf = (object: KubeObject | undefined): string => object?.metadata?.resourceVersion ?? "";
const versionsOf = (all: Iterable<KubeObject>): readonly string[] =>
  [...all].map((object) => `${keyOf(object)} ${object.metadata?.uid ?? ""} ${versionOf(object)}`).toSorted();

async function torture(seed: number, listBy: "stream" | "pages", { objects, durationMs } = hour) {
  const time = createVirtualTime();
  const random = createSeededRandom(seed);
  const api = createFakeApi();
  const pick = (below: number): number => Math.floor(random.fraction() * below);
  const name = (): string => `thing-${pick(objects)}`;
  const past: KubeObject[] = [];
  const write = (): void => {
    const isRemoval = pick(10) === 0;
    const which = name();
    if (isRemoval) api.remove(things, "ns", which);
    else past.push(api.put(things, { metadata: { namespace: "ns", name: which }, spec: pick(1_000) } as KubeObject));
    if (past.length > 500) past.shift();
  };
  for (let index = 0; index < objects; index += 1) api.put(things, { metadata: { namespace: "ns", name: `thing-${index}` } });

  const faults: Record<string, number> = {};
  let deltas = 0;
  let lists = 0;
  let current: { readonly informer: Informer<KubeObject>; readonly book: ReturnType<typeof createBook>; stop(): Promise<void> };
  const start = (): typeof current => {
    const book = createBook();
    const client = createKubeClient(api.transport(), { timers: time.timers, random });
    const informer = createInformer({ client, type, timers: time.timers, random, listBy });
    const problems: unknown[] = [];
    informer.subscribe((delta) => {
      try {
        book.enter(delta);
      } catch (problem) {
        problems.push(problem); // the informer keeps what handlers throw to itself
      }
    });
    const abort = new AbortController();
    const running = informer.run(abort.signal);
    return {
      informer,
      book,
      async stop() {
        deltas += book.deltas;
        lists += informer.status().lists;
        abort.abort();
        await time.settle();
        await running;
        assert.deepEqual(problems, []);
        assert.equal(time.pending(), 0, "timers were left behind");
        assert.equal(api.openWatches, 0, "a watch was left behind");
      },
    };
  };

  const disturbances: readonly (readonly [string, () => Promise<void> | void])[] = [
    ["drop", () => api.breakWatches()],
    ["clean end", () => api.endWatches()],
    ["half-open", () => api.silenceWatches()],
    ["410 by status", () => expire(api, "status")],
    ["410 by event", () => expire(api, "event")],
    ["compaction", () => api.compact()],
    ["bookmark", () => api.bookmark()],
    ["disorder", () => api.reverseNext(2 + pick(5))],
    [
      "repetition",
      () => {
        for (let count = 0; count < 5; count += 1) {
          const object = past[pick(past.length)];
          if (object !== undefined) api.inject({ type: pick(2) === 0 ? "MODIFIED" : "ADDED", object });
        }
      },
    ],
    [
      "repeated deletion",
      () => {
        const there = new Set(api.objects(things).map((object) => object.metadata?.name));
        const gone = past.find((object) => !there.has(object.metadata?.name));
        if (gone !== undefined) api.inject({ type: "DELETED", object: gone });
      },
    ],
    [
      "server restart",
      async () => {
        api.breakWatches();
        api.onRequest = () => (pick(2) === 0 ? "break" : { status: 503, headers: { "retry-after": "1" }, body: starting });
        await time.advance(pick(60_000));
        api.onRequest = undefined;
      },
    ],
    [
      "overload",
      () => {
        let left = 5;
        api.onRequest = () => ((left -= 1) < 0 ? undefined : { status: 429, headers: { "retry-after": "2" }, body: busy });
        api.breakWatches();
      },
    ],
    [
      "process restart",
      async () => {
        await current.stop();
        current = start();
      },
    ],
  ];

  current = start();
  for (const end = time.now() + durationMs; time.now() < end;) {
    for (let count = pick(400); count > 0; count -= 1) {
      write();
      if (count % 4 === 0) await time.advance(pick(200));
    }
    const [what, disturb] = disturbances[pick(disturbances.length)] ?? ["none", () => undefined];
    faults[what] = (faults[what] ?? 0) + 1;
    await disturb();
    await time.advance(pick(60_000));
  }
  api.onRequest = undefined;
  // Longer than a half-open connection can hide.
  await time.advance(600_000);
  const want = versionsOf(api.objects(things));
  assert.deepEqual(versionsOf(current.informer.store.list()), want);
  assert.deepEqual(versionsOf(current.book.told.values()), want);
  assert.equal(api.openWatches, 1, "exactly one watch");
  await current.stop();
  return { faults, deltas, lists };
}

const starting = statusObject(503, "ServiceUnavailable", "starting");
const busy = statusObject(429, "TooManyRequests", "busy");

/** Everything up to now is forgotten, and who comes back is told so in this form. */
function expire(api: FakeApi, as: "status" | "event"): void {
  api.breakWatches();
  api.put("/apis/example.dev/v1/others", { metadata: { namespace: "ns", name: "x" } });
  api.compact(as);
}

describe("informer torture", () => {
  for (const [seed, listBy] of [
    [1, "stream"],
    [2, "pages"],
  ] as const) {
    it(`ends an hour of faults with a cache equal to the store, nothing lost or told twice, and nothing left behind (seed ${seed}, list by ${listBy})`, async (t) => {
      const { faults, deltas, lists } = await torture(seed, listBy);
      t.diagnostic(`${deltas} deltas, ${lists} lists, faults: ${JSON.stringify(faults)}`);
      assert.equal(Object.keys(faults).length, 13, "every kind of fault was played");
      assert.ok(deltas > 2 * hour.objects && lists > 20);
    });
  }

  it("plays the same from the same seed", async () => {
    const short = { objects: 500, durationMs: 600_000 };
    assert.deepEqual(await torture(3, "stream", short), await torture(3, "stream", short));
  });
});
