import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KubeWatchEvent, KubeWatchResponse } from "@talos-operator/ports";
import { describeEvents, metaOf } from "../conformance/world.ts";
import { objectAt } from "../request/json.ts";
import { startMemoryServer } from "../testing/memory-server.ts";
import type { MemoryServer } from "../testing/memory-server.ts";

const path = "/api/v1/namespaces/default/configmaps";

const open = ({ transport }: MemoryServer, query: Record<string, string> = {}): Promise<KubeWatchResponse> =>
  transport.watch({ method: "GET", path, query: { watch: "true", ...query } });

/** Reads to the end of the stream. */
async function rest(stream: KubeWatchResponse): Promise<readonly KubeWatchEvent[]> {
  const events: KubeWatchEvent[] = [];
  for await (const event of stream.events) events.push(event);
  return events;
}

const statusOf = (event: KubeWatchEvent | undefined): unknown[] => {
  const object = event?.object as { code?: number; reason?: string; message?: string };
  return [event?.type, object.code, object.reason, object.message];
};

describe("watch", () => {
  it("answers 410 as an ERROR event for a revision that is compacted, and ends", async () => {
    const server = await startMemoryServer();
    await server.world.create(path, server.world.configMap("a"));
    server.api.compact();
    const events = await rest(await open(server, { resourceVersion: "1" }));
    assert.deepEqual(events.map(statusOf), [["ERROR", 410, "Expired", `too old resource version: 1 (${server.api.revision()})`]]);
  });

  it("is what a path of the old kind asks for, of a collection and of one object", async () => {
    const server = await startMemoryServer();
    await server.world.create(path, server.world.configMap("a"));
    await server.world.create(path, server.world.configMap("b"));
    const { transport } = server;
    const old = "/api/v1/watch/namespaces/default/configmaps";
    const streams = await Promise.all([
      transport.watch({ method: "GET", path: old }),
      transport.watch({ method: "GET", path: `${old}/b` }),
    ]);
    server.api.close();
    assert.deepEqual(await Promise.all(streams.map(async (stream) => describeEvents(await rest(stream)))), [
      ["ADDED a", "ADDED b"],
      ["ADDED b"],
    ]);
  });

  it("goes on from the revision of the compaction itself", async () => {
    const server = await startMemoryServer();
    const from = server.api.revision();
    server.api.compact();
    await server.world.create(path, server.world.configMap("a"));
    const stream = await open(server, { resourceVersion: String(from) });
    server.api.close();
    assert.deepEqual(describeEvents(await rest(stream)), ["ADDED a"]);
  });

  it("forgets the past by itself beyond the limit, and never what is within it", async () => {
    const server = await startMemoryServer({ historyLimit: 10 });
    const from = server.api.revision();
    for (let n = 0; n < 40; n++) await server.world.create(path, server.world.configMap(`c-${n}`));
    const old = await rest(await open(server, { resourceVersion: String(from) }));
    assert.equal(old[0]?.type, "ERROR");
    const recent = await open(server, { resourceVersion: String(server.api.revision() - 10) });
    server.api.close();
    assert.equal((await rest(recent)).length, 10);
  });

  it("answers 410 to a page whose snapshot is compacted, with a token for the rest", async () => {
    const { world: w, api } = await startMemoryServer();
    for (const name of ["a", "b", "c"]) await w.create(path, w.configMap(name));
    const first = await w.ok(w.get(path, { limit: "1" }));
    await w.create(path, w.configMap("d"));
    api.compact();
    const token = String(metaOf(first)["continue"]);
    const status = await w.refused(w.get(path, { limit: "1", continue: token }), {
      status: 410,
      reason: "Expired",
      message: /The provided continue parameter is too old/,
    });
    const next = await w.ok(w.get(path, { continue: String(metaOf(status)["continue"]) }));
    assert.deepEqual(
      (next["items"] as unknown[]).map((item) => metaOf(item)["name"]),
      ["b", "c", "d"],
    );
  });

  it("answers 410 to an exact list of a compacted revision", async () => {
    const { world: w, api } = await startMemoryServer();
    await w.create(path, w.configMap("a"));
    api.compact();
    await w.refused(w.get(path, { resourceVersion: "2", resourceVersionMatch: "Exact" }), { status: 410, reason: "Expired" });
  });

  it("answers 504 to a list from the future, with a second's patience", async () => {
    const { transport } = await startMemoryServer();
    const answer = await transport.send({ method: "GET", path, query: { resourceVersion: "99999" } });
    assert.equal(answer.status, 504);
    assert.equal(answer.headers["retry-after"], "1");
    assert.deepEqual(objectAt(answer.body, "details")["causes"], [
      { reason: "ResourceVersionTooLarge", message: "Too large resource version" },
    ]);
  });

  it("sends a bookmark with the newest revision every minute to those who asked", async () => {
    const server = await startMemoryServer();
    const asked = await open(server, { allowWatchBookmarks: "true", resourceVersion: String(server.api.revision()) });
    const other = await open(server, { resourceVersion: String(server.api.revision()) });
    await server.world.create("/api/v1/namespaces/default/secrets", { metadata: { name: "s" } });
    const revision = String(server.api.revision());
    server.time.advance(60_000);
    server.api.close();
    const events = await rest(asked);
    assert.deepEqual(
      events.map((event) => [event.type, metaOf(event.object)["resourceVersion"]]),
      [["BOOKMARK", revision]],
    );
    assert.deepEqual(await rest(other), []);
  });

  it("ends after timeoutSeconds, with a last bookmark for those who asked", async () => {
    const server = await startMemoryServer();
    const stream = await open(server, { timeoutSeconds: "5", allowWatchBookmarks: "true", resourceVersion: String(server.api.revision()) });
    server.time.advance(5000);
    assert.deepEqual(
      (await rest(stream)).map((event) => event.type),
      ["BOOKMARK"],
    );
    assert.equal(server.time.pending, 0);
  });

  it("delivers synchronously with the write: the event is there before the writer's answer", async () => {
    const server = await startMemoryServer();
    const stream = await open(server);
    const order: string[] = [];
    const reading = (async () => {
      for await (const event of stream.events) {
        order.push(event.type);
        break;
      }
    })();
    // One turn for the reader to ask for its first event.
    await Promise.resolve();
    await server.world.create(path, server.world.configMap("a")).then(() => order.push("answer"));
    await reading;
    assert.deepEqual(order, ["ADDED", "answer"]);
  });

  it("stops costing anything when its reader leaves", async () => {
    const server = await startMemoryServer();
    const stream = await open(server, { allowWatchBookmarks: "true" });
    await server.world.create(path, server.world.configMap("a"));
    assert.ok(server.time.pending > 0);
    const seen: string[] = [];
    for await (const event of stream.events) {
      seen.push(event.type);
      if (event.type === "ADDED") break;
    }
    // The bookmark ends the beginning, which was empty.
    assert.deepEqual(seen, ["BOOKMARK", "ADDED"]);
    assert.equal(server.time.pending, 0);
  });

  it("breaks with KubeTransportFailure when the caller aborts", async () => {
    const server = await startMemoryServer();
    const controller = new AbortController();
    const stream = await server.transport.watch({ method: "GET", path, query: { watch: "true" } }, { signal: controller.signal });
    const reading = rest(stream);
    controller.abort();
    await assert.rejects(reading, { name: "KubeTransportFailure" });
  });

  it("gives each reader objects of its own", async () => {
    const server = await startMemoryServer();
    const streams = [await open(server), await open(server)];
    await server.world.create(path, server.world.configMap("a", { k: "1" }));
    server.api.close();
    const [first, second] = [await rest(streams[0] as KubeWatchResponse), await rest(streams[1] as KubeWatchResponse)];
    objectAt(first[0]?.object, "data")["k"] = "changed";
    assert.equal(objectAt(second[0]?.object, "data")["k"], "1");
  });

  it("leaves managed fields out for a reader who ignores them, and for nobody else", async () => {
    const server = await startMemoryServer();
    const request = { method: "GET", path, query: { watch: "true" } } as const;
    const [all, lean] = [await server.transport.watch(request), await server.transport.watch(request, { ignoresManagedFields: true })];
    await server.world.create(path, server.world.configMap("a", { k: "1" }));
    server.api.close();
    const [[full], [bare]] = [await rest(all), await rest(lean)];
    const { managedFields, ...metadata } = objectAt(full?.object, "metadata");
    assert.ok(Array.isArray(managedFields) && managedFields.length === 1);
    assert.deepEqual(bare?.object, { ...(full?.object as object), metadata });
  });
});
