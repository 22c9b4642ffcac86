import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { createKubeClient } from "../client/kube-client.ts";
import { KubeApiError } from "../client/kube-api-error.ts";
import { keyOf, type KubeObject } from "../objects/kube-object.ts";
import type { ResourceType } from "../request/resource-type.ts";
import {
  createFakeApi,
  createMemoryLog,
  createSeededRandom,
  createVirtualTime,
  type FakeApi,
  statusObject,
  type VirtualTime,
} from "../testing/index.ts";
import { createInformer } from "./create-informer.ts";
import type { Informer, InformerOptions } from "./informer-types.ts";

const type: ResourceType = { group: "example.dev", version: "v1", plural: "things", kind: "Thing", namespaced: true };
const things = "/apis/example.dev/v1/things";
const thing = (name: string, more: Partial<KubeObject> & Record<string, unknown> = {}): KubeObject => ({
  ...more,
  metadata: { name, namespace: "ns", ...more.metadata },
});

interface World {
  readonly api: FakeApi;
  readonly time: VirtualTime;
  readonly informer: Informer<KubeObject>;
  /** `added a`, `updated a`, `deleted a` in the order told. */
  readonly told: string[];
  readonly log: ReturnType<typeof createMemoryLog>;
  stop(): Promise<void>;
}

async function startInformer(
  options: Partial<InformerOptions<KubeObject>> = {},
  before: (api: FakeApi) => void = () => undefined,
): Promise<World> {
  const api = createFakeApi();
  const time = createVirtualTime();
  before(api);
  const log = createMemoryLog();
  const random = createSeededRandom(1);
  const informer = createInformer({ client: createKubeClient(api.transport()), type, timers: time.timers, random, log, ...options });
  const told: string[] = [];
  informer.subscribe((delta) => told.push(`${delta.type} ${delta.object.metadata?.name ?? ""}`));
  const abort = new AbortController();
  const running = informer.run(abort.signal);
  await time.settle();
  return {
    api,
    time,
    informer,
    told,
    log,
    async stop() {
      abort.abort();
      await time.settle();
      await running;
      assert.equal(time.pending(), 0, "the informer left timers behind");
    },
  };
}

function assertSameAsStore({ api, informer }: Pick<World, "api" | "informer">): void {
  const versions = (objects: readonly KubeObject[]) =>
    objects.map((object) => `${keyOf(object)}@${object.metadata?.resourceVersion ?? ""}`).toSorted();
  assert.deepEqual(versions(informer.store.list()), versions(api.objects(things)));
}

for (const listBy of ["stream", "pages"] as const) describeInformer(listBy);

function describeInformer(listBy: "stream" | "pages"): void {
  const start = (options: Partial<InformerOptions<KubeObject>> = {}, before?: (api: FakeApi) => void): Promise<World> =>
    startInformer({ listBy, ...options }, before);

  describe(`informer that lists by ${listBy}`, () => {
    it("lists, then follows", async () => {
      const world = await start({ pageSize: 2 }, (api) => ["a", "b", "c", "d", "e"].forEach((name) => api.put(things, thing(name))));
      assert.deepEqual(world.told, ["added a", "added b", "added c", "added d", "added e"]);
      const lists = world.api.requests.filter((request) => request.query?.["watch"] === undefined).length;
      assert.deepEqual([lists, world.api.requests.length], listBy === "pages" ? [3, 4] : [0, 1]);
      world.api.put(things, thing("a", { spec: 1 }));
      world.api.remove(things, "ns", "b");
      await world.time.settle();
      assert.deepEqual(world.told.slice(5), ["updated a", "deleted b"]);
      await world.stop();
    });

    it("asks for bookmarks and for an end of each watch", async () => {
      const world = await start();
      const query = world.api.requests.find((request) => request.query?.["watch"] === "true")?.query;
      assert.equal(query?.["allowWatchBookmarks"], "true");
      const seconds = Number(query?.["timeoutSeconds"]);
      assert.ok(seconds >= 180 && seconds <= 270, `${seconds} s`);
      await world.stop();
    });

    it("resumes after a drop from the last version without telling anything twice", async () => {
      const world = await start({}, (api) => api.put(things, thing("a")));
      world.api.put(things, thing("b"));
      await world.time.settle();
      world.api.breakWatches();
      world.api.put(things, thing("c"));
      await world.time.advance(1_000);
      assert.deepEqual(world.told, ["added a", "added b", "added c"]);
      assert.equal(world.informer.status().lists, 1);
      assert.equal(world.api.openWatches, 1);
      await world.stop();
    });

    it("survives an API server that is away for ten minutes, without a hot loop and without stopping", async () => {
      const world = await start({}, (api) => api.put(things, thing("a")));
      world.api.breakWatches();
      world.api.onRequest = () => "break";
      const before = world.api.requests.length;
      await world.time.advance(600_000);
      const asked = world.api.requests.length - before;
      assert.ok(asked >= 15 && asked <= 60, `${asked} requests in ten minutes`);
      assert.equal(world.informer.status().lastError?.code, "NO_ANSWER");
      world.api.onRequest = undefined;
      world.api.put(things, thing("b"));
      await world.time.advance(60_000);
      assert.deepEqual(world.told, ["added a", "added b"]);
      await world.stop();
    });

    for (const as of ["status", "event"] as const) {
      it(`lists again after 410 by ${as} and tells only what differs`, async () => {
        const world = await start({}, (api) => ["a", "b", "c"].forEach((name) => api.put(things, thing(name))));
        world.api.breakWatches();
        world.api.remove(things, "ns", "a");
        world.api.put(things, thing("b", { spec: 2 }));
        world.api.put(things, thing("d"));
        world.api.compact(as);
        await world.time.advance(5_000);
        assert.deepEqual(world.told.slice(3).toSorted(), ["added d", "deleted a", "updated b"]);
        assertSameAsStore(world);
        assert.equal(world.informer.status().lists, 2);
        await world.stop();
      });
    }

    it("finds a half-open connection when the watch does not end in time", async () => {
      const world = await start();
      world.api.silenceWatches();
      world.api.put(things, thing("a"));
      await world.time.advance(290_000);
      assert.deepEqual(world.told, ["added a"]);
      assert.equal(world.informer.status().watches, 2);
      await world.stop();
    });

    it("takes what bookmarks say when it resumes", async () => {
      const world = await start();
      world.api.put("/apis/example.dev/v1/others", thing("x"));
      world.api.bookmark();
      await world.time.settle();
      world.api.compact();
      world.api.endWatches();
      await world.time.advance(100);
      assert.equal(world.informer.status().lists, 1, "a bookmark should have saved the relist");
      await world.stop();
    });

    it("lists again when no bookmark saved it", async () => {
      const world = await start();
      world.api.put("/apis/example.dev/v1/others", thing("x"));
      world.api.compact();
      world.api.endWatches();
      await world.time.advance(1_000);
      assert.equal(world.informer.status().lists, 2);
      await world.stop();
    });

    it("does not take an HTML page with status 200 for an empty list", async () => {
      const world = await start({}, (api) => api.put(things, thing("a")));
      world.api.onRequest = (request) =>
        request.query?.["watch"] === "true"
          ? { status: 410, headers: {}, body: statusObject(410, "Expired", "old") }
          : { status: 200, headers: { "content-type": "text/html" }, body: "<html>maintenance</html>" };
      world.api.breakWatches();
      await world.time.advance(30_000);
      assert.equal(world.informer.store.size, 1);
      assert.equal(world.informer.status().lastError?.code, "UNEXPECTED_ANSWER");
      world.api.onRequest = undefined;
      await world.time.advance(30_000);
      assert.deepEqual(world.told, ["added a"]);
      await world.stop();
    });

    it("does not purge the cache for an empty list that passes", async () => {
      const world = await start({ listBy: "pages" }, (api) => api.put(things, thing("a")));
      let empties = 1;
      world.api.onRequest = (request) => {
        if (request.query?.["watch"] === "true" || empties === 0) return undefined;
        empties -= 1;
        return {
          status: 200,
          headers: {},
          body: { kind: "ThingList", metadata: { resourceVersion: world.api.resourceVersion }, items: [] },
        };
      };
      world.api.compact("event");
      world.api.put("/apis/example.dev/v1/others", thing("x"));
      world.api.compact("event");
      world.api.breakWatches();
      await world.time.advance(10_000);
      assert.equal(empties, 0);
      assert.deepEqual(world.told, ["added a"]);
      await world.stop();
    });

    it("follows a store that was restored to an older version", async () => {
      const world = await start({}, (api) => ["a", "b"].forEach((name) => api.put(things, thing(name))));
      world.api.rewind(1);
      world.api.bookmark();
      await world.time.advance(10_000);
      world.api.put(things, thing("c"));
      await world.time.advance(1_000);
      assert.equal(world.told.at(-1), "added c");
      assert.equal(world.informer.status().resourceVersion, world.api.resourceVersion);
      await world.stop();
    });

    it("drops managed fields and kubectl's last applied object by default", async () => {
      const metadata = { managedFields: [{}], annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}", keep: "1" } };
      const world = await start({}, (api) => api.put(things, thing("a", { metadata })));
      const kept = world.informer.store.get({ namespace: "ns", name: "a" })?.metadata;
      assert.deepEqual(kept?.annotations, { keep: "1" });
      assert.equal(kept?.managedFields, undefined);
      await world.stop();
    });

    it("finds objects by index, also after they moved", async () => {
      const byColor = (object: KubeObject): readonly string[] => [object.metadata?.labels?.["color"] ?? "none"];
      const world = await start({ indexers: { color: byColor } }, (api) =>
        api.put(things, thing("a", { metadata: { labels: { color: "red" } } })),
      );
      const names = (color: string) => world.informer.store.byIndex("color", color).map((object) => object.metadata?.name);
      assert.deepEqual(names("red"), ["a"]);
      world.api.put(things, thing("a", { metadata: { labels: { color: "blue" } } }));
      await world.time.settle();
      assert.deepEqual([names("red"), names("blue")], [[], ["a"]]);
      world.api.remove(things, "ns", "a");
      await world.time.settle();
      assert.deepEqual(names("blue"), []);
      assert.throws(() => world.informer.store.byIndex("size", "1"), RangeError);
      await world.stop();
    });

    it("goes on when a handler, a transform or an index function throws", async () => {
      const fail = (): never => {
        throw new Error("boom");
      };
      const world = await start({ transform: fail, indexers: { bad: fail } }, (api) => api.put(things, thing("a")));
      world.informer.subscribe(fail);
      world.api.put(things, thing("b"));
      await world.time.settle();
      assert.deepEqual(world.told, ["added a", "added b"]);
      assert.deepEqual([...new Set(world.log.lines.map((line) => line.message))].toSorted(), [
        "Informer handler failed",
        "Informer index function failed",
        "Informer transform failed",
      ]);
      await world.stop();
    });

    it("tells a late subscriber everything there is, once, and then what changes", async () => {
      const world = await start({}, (api) => api.put(things, thing("a")));
      const late: string[] = [];
      const end = world.informer.subscribe((delta) =>
        late.push(`${delta.type} ${delta.object.metadata?.name ?? ""} ${String("isInitial" in delta && delta.isInitial)}`),
      );
      world.api.put(things, thing("b"));
      await world.time.settle();
      end();
      world.api.put(things, thing("c"));
      await world.time.settle();
      assert.deepEqual(late, ["added a true", "added b false"]);
      await world.stop();
    });

    it("scopes its cache with namespace and selectors", async () => {
      const world = await start({ namespace: "ns", labelSelector: "app=x", fieldSelector: "metadata.name=a" }, (api) => {
        api.put(things, thing("a"));
        api.put(things, { metadata: { name: "a", namespace: "other" } });
        api.put(things, thing("b"));
      });
      assert.deepEqual(world.told, ["added a"]);
      for (const request of world.api.requests) {
        assert.equal(request.path, "/apis/example.dev/v1/namespaces/ns/things");
        assert.equal(request.query?.["labelSelector"], "app=x");
        assert.equal(request.query?.["fieldSelector"], "metadata.name=a");
      }
      await world.stop();
    });

    it("lists in pages where the server does not stream lists", async () => {
      const world = await start({ pageSize: 1 }, (api) => {
        api.offersStreamedLists = false;
        for (const name of ["a", "b"]) api.put(things, thing(name));
      });
      assert.deepEqual(world.told, ["added a", "added b"]);
      world.api.compact("event");
      world.api.breakWatches();
      world.api.put(things, thing("c"));
      world.api.compact("event");
      await world.time.advance(5_000);
      assert.deepEqual(world.told, ["added a", "added b", "added c"]);
      const streams = world.api.requests.filter((request) => request.query?.["sendInitialEvents"] !== undefined).length;
      assert.equal(streams, listBy === "stream" ? 1 : 0);
      await world.stop();
    });

    it("lists in pages when a server takes a streamed list for a plain watch", async () => {
      const world = await start({}, (api) => {
        api.put(things, thing("a"));
        const genuine = api.transport();
        api.transport = () => {
          return {
            ...genuine,
            watch: async (request, options) => {
              const { sendInitialEvents: _, ...query } = request.query ?? {};
              return genuine.watch({ ...request, query }, options);
            },
          };
        };
      });
      await world.time.advance(60_000);
      assert.deepEqual(world.told, ["added a"]);
      assert.ok(world.informer.isSynced);
      await world.stop();
    });

    it("lets a writer wait for its own write", async () => {
      const world = await start();
      const written = world.api.put(things, thing("a"));
      const wait = world.informer.waitForResourceVersion(written.metadata?.resourceVersion ?? "");
      await world.time.settle();
      await wait;
      assert.ok(world.informer.store.get({ namespace: "ns", name: "a" }));
      await world.stop();
    });

    it("makes a wait that is not reached an error and never a pass", async () => {
      const world = await start();
      const tooLate = assert.rejects(
        world.informer.waitForResourceVersion("999", { timeoutMs: 5_000 }),
        (error) => error instanceof KubeApiError && error.code === "CACHE_TIMEOUT",
      );
      const abort = new AbortController();
      const givenUp = assert.rejects(
        world.informer.waitForResourceVersion("999", { signal: abort.signal }),
        (error) => error instanceof KubeApiError && error.code === "CANCELED",
      );
      abort.abort();
      await world.time.advance(5_000);
      await Promise.all([tooLate, givenUp]);
      await world.stop();
    });

    it("ends the cache equal to the store after any sequence of writes and faults, telling each change once", async () => {
      const step = fc.oneof(
        fc.record({ do: fc.constant("put" as const), name: fc.constantFrom("a", "b", "c", "d") }),
        fc.record({ do: fc.constant("remove" as const), name: fc.constantFrom("a", "b", "c", "d") }),
        fc.record({
          do: fc.constantFrom(
            "break" as const,
            "end" as const,
            "silence" as const,
            "bookmark" as const,
            "compact" as const,
            "compact-event" as const,
            "refuse" as const,
            "replay" as const,
          ),
        }),
        fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(0, 10, 1_000, 400_000) }),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const world = await start({ pageSize: 2 }, (api) => api.put(things, thing("a")));
          for (const one of steps) {
            if (one.do === "put") world.api.put(things, thing(one.name));
            else if (one.do === "remove") world.api.remove(things, "ns", one.name);
            else if (one.do === "wait") await world.time.advance(one.ms);
            else disturb(world.api, one.do);
          }
          world.api.onRequest = undefined;
          await world.time.advance(900_000);
          assertSameAsStore(world);
          assertToldOnce(world.told);
          assert.equal(world.api.openWatches, 1, "exactly one watch");
          await world.stop();
        }),
        { numRuns: 150 },
      );
    });
  });
}

function disturb(api: FakeApi, fault: "break" | "end" | "silence" | "bookmark" | "compact" | "compact-event" | "refuse" | "replay"): void {
  switch (fault) {
    case "break":
      return api.breakWatches();
    case "end":
      return api.endWatches();
    case "silence":
      return api.silenceWatches();
    case "bookmark":
      return api.bookmark();
    case "compact":
      return api.compact("status");
    case "compact-event":
      return api.compact("event");
    case "replay": {
      const [object] = api.objects(things);
      return object === undefined ? undefined : api.inject({ type: "ADDED", object });
    }
    case "refuse": {
      let left = 3;
      api.onRequest = () => {
        left -= 1;
        if (left < 0) return undefined;
        return { status: 503, headers: { "retry-after": "2" }, body: statusObject(503, "ServiceUnavailable", "starting") };
      };
    }
  }
}

/** Between `added x` and `deleted x` there is no second `added x`, and so on. */
function assertToldOnce(told: readonly string[]): void {
  const present = new Set<string>();
  for (const line of told) {
    const [what, name = ""] = line.split(" ");
    assert.equal(present.has(name), what !== "added", `${line} in ${told.join(", ")}`);
    if (what === "added") present.add(name);
    if (what === "deleted") present.delete(name);
  }
}
