import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";

import { bytesSource, createStatisticsPass, createTrailerCheck, type EtcdSnapshotContents, openDatabase, readSnapshot } from "./index.ts";
import { liveKeysOf, writeDatabase, writeEtcdSnapshot, type SnapshotKey, type SnapshotStatistics } from "./index.ts";

const store = {
  members: [
    { id: 0xce2a_822c_ea30_bfcan, name: "cp-1", peerURLs: ["https://192.0.2.10:2380"], clientURLs: ["https://192.0.2.10:2379"] },
    { id: 2n, name: "", peerURLs: ["https://192.0.2.11:2380"], clientURLs: [], isLearner: true },
  ],
  removedMembers: [0xffff_ffff_ffff_ffffn, 5n],
  clusterVersion: "3.6.0",
  storageVersion: "3.6.0",
  term: 3,
  consistentIndex: 2 ** 40,
} as const satisfies Partial<EtcdSnapshotContents>;

/** In pieces of one size. */
function statisticsOf(bytes: Uint8Array, piece = 1024): SnapshotStatistics {
  const pass = createStatisticsPass();
  for (let at = 0; at < bytes.length; at += piece) pass.write(bytes.subarray(at, at + piece));
  return pass.finish();
}

/** A history of puts and deletions of few keys, one transaction after the other, as etcd numbers it. */
const histories = fc
  .array(
    fc.array(fc.record({ key: fc.integer({ min: 0, max: 12 }), isDeletion: fc.boolean(), size: fc.oneof(fc.nat(200), fc.nat(30_000)) }), {
      minLength: 1,
      maxLength: 4,
    }),
    { maxLength: 60 },
  )
  .map((transactions) => {
    const live = new Map<string, { createRevision: number; version: number; size: number }>();
    const keys: SnapshotKey[] = [];
    for (const [index, changes] of transactions.entries()) {
      const modRevision = index + 2;
      for (const { key: number, isDeletion, size } of changes) {
        const key = `/registry/configmaps/ns-${number % 3}/name-${number}`;
        const before = live.get(key);
        if (isDeletion) {
          keys.push({ key, modRevision, tombstone: true });
          live.delete(key);
        } else {
          const now = { createRevision: before?.createRevision ?? modRevision, version: (before?.version ?? 0) + 1, size };
          live.set(key, now);
          keys.push({ key, value: "x".repeat(size), modRevision, createRevision: now.createRevision, version: now.version });
        }
      }
    }
    return { keys, live, revision: transactions.length + 1 };
  });

test("what is written is read, counted and found again", () => {
  fc.assert(
    fc.property(
      histories,
      fc.constantFrom(1024, 4096, 16_384, 65_536),
      fc.integer({ min: 1, max: 70_000 }),
      ({ keys, live, revision }, pageSize, piece) => {
        const snapshot = writeEtcdSnapshot({ ...store, keys, pageSize });
        const trailer = createTrailerCheck();
        trailer.write(snapshot);
        assert.equal(trailer.finish().fault, undefined);

        const statistics = statisticsOf(snapshot, piece);
        assert.deepEqual(statistics, {
          revision: keys.length === 0 ? 0 : revision,
          totalKey: live.size,
          liveKeys: live.size,
          revisions: keys.length,
          entries: keys.length + 11,
          totalSize: snapshot.length - 32,
          pageSize,
          storageVersion: "3.6.0",
          clusterVersion: "3.6.0",
          members: [
            { id: "2", name: "", peerURLs: ["https://192.0.2.11:2380"], clientURLs: [], isLearner: true },
            {
              id: "ce2a822cea30bfca",
              name: "cp-1",
              peerURLs: ["https://192.0.2.10:2380"],
              clientURLs: ["https://192.0.2.10:2379"],
              isLearner: false,
            },
          ],
          removedMembers: ["5", "ffffffffffffffff"],
          consistentIndex: 2 ** 40,
          term: 3,
          compactRevision: undefined,
        });
        const { kinds, otherKinds, encrypted, otherEncrypted, nodes, unreadable, otherKeys, sample, ...counted } = readSnapshot(
          bytesSource(snapshot),
        );
        assert.deepEqual(counted, statistics);
        assert.deepEqual([kinds, otherKinds, encrypted, otherEncrypted, unreadable, otherKeys], [[], 0, [], 0, live.size, 0]);
        assert.deepEqual(nodes, { names: [], others: 0 });
        assert.deepEqual(sample, { decoded: 0, mismatched: 0 });

        const found = [...liveKeysOf(openDatabase(bytesSource(snapshot)))].map(
          ({ key, createRevision, version, value }) =>
            [Buffer.from(key).toString(), { createRevision, version, size: value.length }] as const,
        );
        assert.deepEqual(new Map(found), live);
      },
    ),
    { numRuns: 60 },
  );
});

describe("the writer", () => {
  test("keeps a bucket in its entry only up to a quarter of a page, as bbolt does", () => {
    // A root of its own has 16 bytes in the entry; the page that an inline one lies in is that of all buckets.
    const sizes = [900, 1100].map(
      (size) => writeDatabase({ buckets: [{ name: "b", entries: [{ key: Buffer.from("k"), value: Buffer.alloc(size) }] }] }).length,
    );
    assert.deepEqual(sizes, [4 * 4096, 5 * 4096]);
  });
  test("gives equal bytes for equal input, in whatever order", () => {
    const keys = Array.from({ length: 200 }, (_, index) => ({ key: `k${index}`, value: "v".repeat(index), modRevision: index + 2 }));
    assert.deepEqual(writeEtcdSnapshot({ ...store, keys }), writeEtcdSnapshot({ ...store, keys: keys.toReversed() }));
  });
  test("stands at a revision beyond its keys", () => {
    const statistics = statisticsOf(writeEtcdSnapshot({ ...store, keys: [{ key: "a", modRevision: 2 }], revision: 900 }));
    assert.deepEqual([statistics.revision, statistics.liveKeys], [900, 1]);
  });
  for (const [what, write] of [
    ["a revision below one of a key", () => writeEtcdSnapshot({ ...store, keys: [{ key: "a", modRevision: 3 }], revision: 2 })],
    ["a key at revision 0", () => writeEtcdSnapshot({ ...store, keys: [{ key: "a", modRevision: 0 }] })],
    ["a page size that is no power of two", () => writeDatabase({ buckets: [], pageSize: 5000 })],
    ["an empty key", () => writeDatabase({ buckets: [{ name: "a", entries: [{ key: Buffer.alloc(0), value: Buffer.alloc(0) }] }] })],
    [
      "a bucket that is there twice",
      () =>
        writeDatabase({
          buckets: [
            { name: "a", entries: [] },
            { name: "a", entries: [] },
          ],
        }),
    ],
  ] as const)
    test(`refuses ${what}`, () => assert.throws(write, { name: "SnapshotError", code: "INVALID_INPUT" }));
});
