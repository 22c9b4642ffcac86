import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { createMemoryStore } from "./memory-store.ts";
import { ObjectState } from "./state.ts";
import type { Change } from "./state.ts";

const resource = "/things";
const keys = ["a/1", "a/2", "b/1", "/x"];

describe("the object state", () => {
  it("lists the past as it was, compared with snapshots taken at the time", () => {
    const operation = fc.record({ key: fc.constantFrom(...keys), remove: fc.boolean(), other: fc.boolean() });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 40 }), (operations) => {
        const state = new ObjectState(createMemoryStore(), 1000);
        const snapshots = new Map<number, readonly string[]>([[0, []]]);
        const see = (entries: ReturnType<ObjectState["list"]>): readonly string[] =>
          entries.map(({ key, object }) => `${key}=${JSON.stringify(object)}`);
        for (const { key, remove, other } of operations) {
          const where = other ? "/others" : resource;
          if (!remove) state.put(where, key, { metadata: {}, n: state.revision });
          else if (state.get(where, key) !== undefined) state.remove(where, key, { metadata: {} });
          snapshots.set(state.revision, see(state.list(resource)));
        }
        for (const [revision, expected] of snapshots) assert.deepEqual(see(state.listAt(resource, "", revision)), expected);
      }),
    );
  });

  it("replays the changes after any revision to the present", () => {
    const operation = fc.record({ key: fc.constantFrom(...keys), remove: fc.boolean() });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 40 }), fc.nat(40), (operations, from) => {
        const state = new ObjectState(createMemoryStore(), 1000);
        const heard: Change[] = [];
        state.subscribe(resource, (change) => heard.push(change));
        for (const { key, remove } of operations) {
          if (!remove) state.put(resource, key, { metadata: {} });
          else if (state.get(resource, key) !== undefined) state.remove(resource, key, { metadata: {} });
        }
        const since = Math.min(from, state.revision);
        const replayed = new Map(state.listAt(resource, "", since).map(({ key, object }) => [key, object]));
        const changes = state.changesSince(resource, since);
        assert.deepEqual(
          changes,
          heard.filter((change) => change.revision > since),
        );
        for (const change of changes) {
          if (change.type === "DELETED") replayed.delete(change.key);
          else replayed.set(change.key, change.object);
        }
        assert.deepEqual(
          new Map([...replayed].sort(([a], [b]) => (a < b ? -1 : 1))),
          new Map(state.list(resource).map(({ key, object }) => [key, object])),
        );
      }),
    );
  });

  it("changes nothing when the store refuses", () => {
    const store = createMemoryStore();
    let isFull = false;
    const state = new ObjectState(
      {
        ...store,
        commit: (write) => {
          if (isFull) throw new Error("full");
          store.commit(write);
        },
      },
      10,
    );
    state.put(resource, "a/1", { metadata: {}, n: 1 });
    isFull = true;
    const heard: Change[] = [];
    state.subscribe("*", (change) => heard.push(change));
    assert.throws(() => state.put(resource, "a/1", { metadata: {}, n: 2 }));
    assert.throws(() => state.put(resource, "a/2", { metadata: {} }));
    assert.throws(() => state.remove(resource, "a/1", { metadata: {} }));
    assert.equal(state.revision, 1);
    assert.deepEqual(
      state.list(resource).map(({ key, object }) => [key, object["n"]]),
      [["a/1", 1]],
    );
    assert.deepEqual(heard, []);
    isFull = false;
    assert.equal((state.put(resource, "a/2", { metadata: {} })["metadata"] as { resourceVersion: string }).resourceVersion, "2");
  });

  it("lists by prefix without mixing up namespaces that begin alike", () => {
    const state = new ObjectState(createMemoryStore(), 10);
    for (const key of ["a/1", "ab/1", "a/0"]) state.put(resource, key, { metadata: {} });
    assert.deepEqual(
      state.list(resource, "a/").map((entry) => entry.key),
      ["a/0", "a/1"],
    );
  });
});
