import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKubeClient } from "./client/kube-client.ts";
import { fieldConflictsOf, isApplyConflict, isForbidden, isNotFound } from "./client/error-predicates.ts";
import { KubeApiError } from "./client/kube-api-error.ts";
import { keyOf, type KubeObject } from "./objects/kube-object.ts";
import type { ResourceType } from "./request/resource-type.ts";
import {
  createFakeApi,
  createScriptedTransport,
  createSeededRandom,
  createVirtualTime,
  statusObject,
  type FakeApi,
} from "./testing/index.ts";
import { createInformer } from "./watch/create-informer.ts";

const type: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };
const path = "/api/v1/secrets";
const secret = (name: string, metadata: Partial<KubeObject["metadata"]> = {}, namespace = "ns"): KubeObject => ({
  metadata: { name, namespace, ...metadata },
});

async function follow(listBy: "stream" | "pages", before: (api: FakeApi) => void) {
  const api = createFakeApi();
  const time = createVirtualTime();
  before(api);
  const client = createKubeClient(api.transport(), { timers: time.timers, random: createSeededRandom(1) });
  const informer = createInformer({ client, type, timers: time.timers, random: createSeededRandom(1), listBy });
  const told: string[] = [];
  informer.subscribe(({ type: what, object }) => told.push(`${what} ${object.metadata?.name ?? ""}`));
  const abort = new AbortController();
  const running = informer.run(abort.signal);
  await time.settle();
  const stop = async (): Promise<void> => {
    abort.abort();
    await time.settle();
    await running;
    assert.equal(time.pending(), 0, "timers were left behind");
  };
  return { api, time, informer, told, secrets: client.resource(type), stop };
}

async function refusalOf(call: Promise<unknown>): Promise<KubeApiError> {
  try {
    await call;
  } catch (thrown) {
    assert.ok(thrown instanceof KubeApiError, String(thrown));
    return thrown;
  }
  throw new assert.AssertionError({ message: "the call did not fail" });
}

for (const listBy of ["stream", "pages"] as const) {
  describe(`bad input to an informer that lists by ${listBy}`, () => {
    it("IN3: names that read alike when they are joined are two objects", async () => {
      const world = await follow(listBy, (api) => {
        api.put(path, secret("b-c", {}, "a"));
        api.put(path, secret("c", {}, "a-b"));
      });
      assert.equal(world.informer.store.size, 2);
      assert.equal(new Set(world.informer.store.list().map((object) => keyOf(object))).size, 2);
      world.api.remove(path, "a", "b-c");
      await world.time.settle();
      assert.deepEqual(world.told.slice(2), ["deleted b-c"]);
      assert.notEqual(world.informer.store.get({ namespace: "a-b", name: "c" }), undefined);
      await world.stop();
    });

    it("IN5: an object that was made again while nobody watched is told with its new uid", async () => {
      const world = await follow(listBy, (api) => api.put(path, secret("a")));
      const before = world.informer.store.get({ namespace: "ns", name: "a" })?.metadata?.uid;
      world.api.breakWatches();
      world.api.remove(path, "ns", "a");
      world.api.put(path, secret("a"));
      world.api.compact();
      await world.time.advance(10_000);
      const after = world.informer.store.get({ namespace: "ns", name: "a" })?.metadata?.uid;
      assert.notEqual(after, undefined);
      assert.notEqual(after, before);
      await world.stop();
    });

    it("IN78: an empty list during an outage takes nothing away, and a lasting one is believed", async () => {
      const world = await follow(listBy, (api) => ["a", "b"].forEach((name) => api.put(path, secret(name))));
      let left = 1;
      const empty = () => ({ kind: "SecretList", metadata: { resourceVersion: world.api.resourceVersion }, items: [] });
      const forgetAll = (): void => {
        world.api.put("/api/v1/others", secret("x"));
        world.api.compact("event");
        world.api.breakWatches();
      };
      world.api.offersStreamedLists = false;
      world.api.onRequest = ({ query }) =>
        query?.["watch"] === "true" || left-- <= 0 ? undefined : { status: 200, headers: {}, body: empty() };
      world.api.put(path, secret("c"));
      await world.time.settle();
      forgetAll();
      await world.time.advance(20_000);
      assert.ok(left <= 0, "the empty list was not asked for");
      assert.equal(world.told.filter((line) => line.startsWith("deleted")).length, 0, world.told.join());
      assert.equal(world.informer.store.size, 3);
      for (const name of ["a", "b", "c"]) world.api.remove(path, "ns", name);
      forgetAll();
      await world.time.advance(60_000);
      assert.equal(world.informer.store.size, 0);
      await world.stop();
    });

    it("IN79: an event with an older version and the deletion of something unknown change nothing", async () => {
      const world = await follow(listBy, (api) => ["old", "a"].forEach((name) => api.put(path, secret(name))));
      const now = world.informer.store.get({ namespace: "ns", name: "a" });
      world.api.inject({
        type: "MODIFIED",
        object: { ...now, metadata: { ...now?.metadata, resourceVersion: "1", labels: { stale: "yes" } } },
      });
      world.api.inject({ type: "DELETED", object: secret("unknown", { resourceVersion: "900", uid: "nobody" }) });
      await world.time.advance(20_000);
      assert.equal(world.informer.store.get({ namespace: "ns", name: "a" })?.metadata?.labels, undefined);
      assert.equal(world.informer.store.size, 2);
      assert.deepEqual(
        world.told.filter((line) => !line.startsWith("added")),
        [],
      );
      await world.stop();
    });

    it("IN85: a list that becomes Forbidden keeps what the cache has, and is asked for again without haste", async () => {
      const world = await follow(listBy, (api) => api.put(path, secret("a")));
      world.api.onRequest = () => ({ status: 403, headers: {}, body: statusObject(403, "Forbidden", "no") });
      world.api.breakWatches();
      const before = world.api.requests.length;
      await world.time.advance(600_000);
      assert.ok(world.api.requests.length - before <= 60, `${world.api.requests.length - before} requests in ten minutes`);
      assert.equal(world.informer.store.size, 1);
      assert.equal(world.informer.status().lastError?.code, "FORBIDDEN");
      world.api.onRequest = undefined;
      world.api.put(path, secret("b"));
      await world.time.advance(60_000);
      assert.deepEqual(world.told, ["added a", "added b"]);
      await world.stop();
    });
  });
}

describe("bad input to the client", () => {
  const client = (status: number, body: unknown, requests: { count: number } = { count: 0 }) => {
    const transport = createScriptedTransport(() => {
      requests.count++;
      return { status, body };
    });
    return createKubeClient(transport, { timers: createVirtualTime().timers, random: createSeededRandom(1) }).resource(type);
  };
  const key = { namespace: "ns", name: "a" };

  for (const name of ["../../etc/passwd", "..", ".", "a/b", "a\\b", "a\u0000b", "a%2fb", ""]) {
    it(`IN1: the name ${JSON.stringify(name)} leaves no path to another object`, async () => {
      const seen: string[] = [];
      const transport = createScriptedTransport((request) => {
        seen.push(request.path);
        return { status: 404, body: statusObject(404, "NotFound", "no") };
      });
      const secrets = createKubeClient(transport).resource(type);
      const { code } = await refusalOf(secrets.get({ namespace: "ns", name }));
      // A backslash divides nothing in a URL: it is sent, escaped.
      if (name === "a\\b") assert.deepEqual(seen, ["/api/v1/namespaces/ns/secrets/a%5Cb"]);
      else assert.deepEqual([code, seen], ["INVALID_CALL", []]);
    });
  }

  it("IN84: a conflict of fields is told once, with who owns what, and is not sent again", async () => {
    const requests = { count: 0 };
    const causes = [{ reason: "FieldManagerConflict", message: 'conflict with "other"', field: ".data.key" }];
    const secrets = client(409, { ...statusObject(409, "Conflict", "Apply failed with 1 conflict"), details: { causes } }, requests);
    const error = await refusalOf(secrets.apply({ metadata: { namespace: "ns", name: "a" } }, { fieldManager: "me" }));
    assert.equal(isApplyConflict(error), true);
    assert.equal(requests.count, 1);
    assert.deepEqual(
      fieldConflictsOf(error).map(({ field }) => field),
      [".data.key"],
    );
  });

  it("IN85: Forbidden is no NotFound, also where the answer says nothing more", async () => {
    for (const body of [statusObject(403, "Forbidden", "no"), undefined, "<html>", {}]) {
      const error = await refusalOf(client(403, body).get(key));
      assert.deepEqual([isForbidden(error), isNotFound(error)], [true, false], JSON.stringify(body));
    }
  });

  it("IN78: an answer without items is an error and not an empty list", async () => {
    for (const body of [{}, "<html>", { kind: "Status", status: "Success" }, { kind: "SecretList" }, [], null]) {
      const error = await refusalOf(client(200, body).list({}));
      assert.equal(error.code, "UNEXPECTED_ANSWER", JSON.stringify(body));
    }
  });
});
