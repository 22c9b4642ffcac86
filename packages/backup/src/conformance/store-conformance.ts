import assert from "node:assert/strict";
import { test } from "node:test";
import type { ObjectStore, StoredObject } from "@talos-operator/ports";
import { isStoreFailure } from "../store/failure.ts";

/** A store to be held to the port, empty. */
export interface StoreSubject {
  readonly store: ObjectStore;
  /** Changes one byte of a stored object behind the store's back; absent where nobody can. */
  readonly flip?: (key: string) => Promise<void>;
  readonly end: () => Promise<void>;
}

const MIB = 1024 * 1024;
/** S3's least part but the last. */
const PART = 5 * MIB;

type Check = (what: string, act: (store: ObjectStore, subject: StoreSubject) => Promise<void>) => void;

/** What every store does, whatever it is made of. */
export function storeConformance(name: string, open: () => Promise<StoreSubject>): void {
  const check: Check = (what, act) => {
    void test(`${name}: ${what}`, async () => {
      const subject = await open();
      try {
        await act(subject.store, subject);
      } finally {
        await subject.end();
      }
    });
  };
  checkObjects(check);
  checkLists(check);
  checkUploads(check);
  checkKeys(check);
}

function checkObjects(check: Check): void {
  check("what was put is read back, whole and from any byte on", async (store) => {
    const bytes = pattern(300_000);
    const put = await store.put("a/b/one.json", bytes);
    assert.deepEqual([put.key, put.size], ["a/b/one.json", bytes.length]);
    assert.equal((await store.head("a/b/one.json"))?.size, bytes.length);
    assert.deepEqual(await read(store, "a/b/one.json"), bytes);
    assert.deepEqual(await read(store, "a/b/one.json", 299_990), bytes.subarray(299_990));
    const empty = await store.put("a/empty", new Uint8Array(0));
    assert.equal(empty.size, 0);
    assert.deepEqual(await read(store, "a/empty"), new Uint8Array(0));
  });

  check("what is not there is no failure", async (store) => {
    assert.equal(await store.head("a/none"), undefined);
    assert.equal(await store.get("a/none"), undefined);
    await store.remove("a/none");
    assert.deepEqual(await all(store.list("a/")), []);
  });

  check("a second put replaces, and its object shows another etag", async (store) => {
    const first = await store.put("a/x", pattern(10));
    const second = await store.put("a/x", pattern(11).fill(7));
    assert.notEqual(first.etag, second.etag);
    assert.deepEqual(await read(store, "a/x"), pattern(11).fill(7));
  });

  check("of puts that demand that nothing is there only the first stores, also of many at once", async (store) => {
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => store.put("slots/one.json", Uint8Array.of(index), { ifAbsent: true })),
    );
    const winners = results.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
    assert.equal(winners.length, 1);
    for (const result of results)
      if (result.status === "rejected") assert.ok(isStoreFailure(result.reason, "exists", "conflict"), String(result.reason));
    assert.deepEqual(await read(store, "slots/one.json"), Uint8Array.of(...winners));
    await assert.rejects(store.put("slots/one.json", Uint8Array.of(9), { ifAbsent: true }), (thrown) => isStoreFailure(thrown, "exists"));
  });

  check("what is removed is gone, and its neighbours stay", async (store) => {
    await store.put("a/b/one", pattern(3));
    await store.put("a/b/two", pattern(3));
    assert.deepEqual(await store.remove("a/b/one"), { removed: "gone" });
    assert.equal(await store.head("a/b/one"), undefined);
    assert.equal((await store.head("a/b/two"))?.size, 3);
  });
}

function checkLists(check: Check): void {
  check("objects are listed by prefix, in the order of their keys, from any key on", async (store) => {
    const keys = ["p/a", "p/a-b", "p/a.d", "p/aa/c", "p/b/1", "p/b/2", "q/a"];
    for (const key of keys) await store.put(key, pattern(3));
    const listed = await all(store.list("p/"));
    const wants = keys.filter((key) => key.startsWith("p/")).toSorted();
    assert.deepEqual(
      listed.map(({ key }) => key),
      wants,
    );
    assert.ok(listed.every(({ size }) => size === 3));
    assert.deepEqual(
      (await all(store.list("p/a"))).map(({ key }) => key),
      wants.filter((key) => key.startsWith("p/a")),
    );
    assert.deepEqual(
      (await all(store.list("p/", { after: wants[2] ?? "" }))).map(({ key }) => key),
      wants.slice(3),
    );
  });

  check("more objects than a page holds are all listed", async (store) => {
    const keys = Array.from({ length: 1_105 }, (_, index) => `many/${String(index).padStart(5, "0")}`);
    for (let at = 0; at < keys.length; at += 50) await Promise.all(keys.slice(at, at + 50).map((key) => store.put(key, Uint8Array.of(1))));
    assert.deepEqual(
      (await all(store.list("many/"))).map(({ key }) => key),
      keys,
    );
  });
}

function checkUploads(check: Check): void {
  check("an upload is there as a whole once it is complete, and not before", async (store) => {
    const upload = await store.createUpload("big/one.zst");
    const [first, second] = [pattern(PART), pattern(1_000).fill(5)];
    await upload.part(2, second);
    await upload.part(1, pattern(PART).fill(1));
    await upload.part(1, first);
    assert.equal(await store.head("big/one.zst"), undefined);
    assert.deepEqual(
      (await all(store.listUploads("big/"))).map(({ key, id }) => [key, id]),
      [["big/one.zst", upload.id]],
    );
    const stored = await upload.complete();
    assert.equal(stored.size, PART + 1_000);
    assert.ok(Buffer.from(await read(store, "big/one.zst")).equals(Buffer.concat([first, second])));
    assert.deepEqual(await all(store.listUploads("big/")), []);
  });

  check("an upload that is aborted leaves nothing, and another one's is aborted by its id", async (store) => {
    const upload = await store.createUpload("big/two");
    await upload.part(1, pattern(100));
    await upload.abort();
    const other = await store.createUpload("big/three");
    await other.part(1, pattern(100));
    await store.abortUpload({ key: other.key, id: other.id });
    await store.abortUpload({ key: other.key, id: other.id });
    assert.deepEqual(await all(store.listUploads("")), []);
    assert.deepEqual(await all(store.list("big/")), []);
    await assert.rejects(other.complete(), (thrown) => isStoreFailure(thrown));
    assert.equal(await store.head("big/three"), undefined);
  });
}

function checkKeys(check: Check): void {
  for (const key of [
    "",
    "/a",
    "a/",
    "a//b",
    "../a",
    "a/../b",
    "a/./b",
    "a\nb",
    "a b",
    ".hidden",
    "a/.uploads/x",
    "\u00e9",
    "x".repeat(1_025),
  ])
    check(`${JSON.stringify(key.slice(0, 20))} is no key`, async (store) => {
      await assert.rejects(store.put(key, Uint8Array.of(1)), (thrown) => isStoreFailure(thrown, "invalid"));
      await assert.rejects(store.head(key), (thrown) => isStoreFailure(thrown, "invalid"));
      await assert.rejects(store.createUpload(key), (thrown) => isStoreFailure(thrown, "invalid"));
    });
}

function pattern(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (index * 31 + (index >> 8)) & 0xff);
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function read(store: ObjectStore, key: string, offset?: number): Promise<Uint8Array> {
  const found: (StoredObject & { readonly body: AsyncIterable<Uint8Array> }) | undefined = await store.get(
    key,
    offset === undefined ? {} : { offset },
  );
  assert.ok(found, `${key} is not there`);
  return new Uint8Array(Buffer.concat(await all(found.body)));
}
