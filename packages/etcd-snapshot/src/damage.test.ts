import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";

import { bytesSource, createStatisticsPass, isSnapshotError, readSnapshot, type SnapshotStatistics, writeEtcdSnapshot } from "./index.ts";
import { newestMeta, writeMeta } from "./format/meta.ts";
import { readPageHeader } from "./format/page.ts";
import { changed, u64Bytes, withMeta } from "./testing/damage.ts";
import { fixture } from "./testing/real-snapshots.ts";

const written = writeEtcdSnapshot({
  keys: Array.from({ length: 400 }, (_, index) => ({
    key: `/registry/configmaps/ns-${index % 3}/c-${index % 250}`,
    value: JSON.stringify({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "c" },
      data: { a: "x".repeat(index % 40 === 0 ? 20_000 : 90) },
    }),
    modRevision: index + 2,
    tombstone: index > 300 && index % 7 === 0,
  })),
  members: Array.from({ length: 3 }, (_, index) => ({
    id: BigInt(index + 1),
    name: `cp-${index}`,
    peerURLs: ["https://192.0.2.1:2380"],
    clientURLs: [],
  })),
  leases: Array.from({ length: 300 }, (_, index) => ({ id: BigInt(index + 1), ttlSeconds: 60 })),
  clusterVersion: "3.6.0",
  storageVersion: "3.6.0",
  term: 2,
  consistentIndex: 500,
});
const bases = { written, genuine: fixture("kube-apiserver-1.36.db") };

type Outcome = { readonly ok: SnapshotStatistics } | { readonly code: string };

function attempt(call: () => SnapshotStatistics): Outcome {
  try {
    return { ok: call() };
  } catch (error) {
    // Any other error is a fault of ours, and fails the test.
    if (!isSnapshotError(error)) throw error;
    return { code: error.code };
  }
}

function statistics(bytes: Uint8Array): Outcome {
  return attempt(() => {
    const pass = createStatisticsPass();
    for (let at = 0; at < bytes.length; at += 8192) pass.write(bytes.subarray(at, at + 8192));
    return pass.finish();
  });
}

const numbersOf = ({ revision, liveKeys, revisions, totalSize, term }: SnapshotStatistics): unknown => [
  revision,
  liveKeys,
  revisions,
  totalSize,
  term,
];

/** Both ways to look at it end, with a result or with one of our codes, and agree where both have a result. */
function look(bytes: Uint8Array): readonly [Outcome, Outcome] {
  const [counted, read] = [statistics(bytes), attempt(() => readSnapshot(bytesSource(bytes)))];
  if ("ok" in counted && "ok" in read) assert.deepEqual(numbersOf(counted.ok), numbersOf(read.ok));
  return [counted, read];
}

for (const [name, base] of Object.entries(bases))
  describe(`a ${name} snapshot`, () => {
    const pageSize = 4096;
    // Where headers, tables and lengths lie, more often than anywhere.
    const places = fc.oneof(
      fc.nat(base.length - 1),
      fc.tuple(fc.nat(Math.floor(base.length / pageSize) - 1), fc.nat(63)).map(([page, at]) => page * pageSize + at),
    );

    test("with bytes turned is read or refused", () => {
      fc.assert(
        fc.property(fc.array(fc.tuple(places, fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 8 }), (turns) => {
          const copy = Uint8Array.from(base);
          for (const [at, byte] of turns) copy[at] = byte;
          look(copy);
        }),
        { numRuns: 400 },
      );
    });

    if (name === "genuine")
      test("with a second key within a revision is refused", () => {
        // The tag of the version becomes that of a longer field, and what follows reads as another key.
        const [, read] = look(changed(base, 82_038, [105]));
        assert.deepEqual(read, { code: "CORRUPT" });
      });

    test("with numbers at the edge of their range is read or refused", () => {
      const edges = fc.constantFrom(
        [0xff, 0xff, 0xff, 0xff],
        [0, 0, 0, 0],
        [0xff, 0xff, 0xff, 0x7f],
        [1, 0, 0, 0],
        [0, 0, 0, 0x80],
        [0xfe, 0xff],
      );
      fc.assert(
        fc.property(places, edges, (at, bytes) => {
          look(changed(base, at - (at % 2), bytes));
        }),
        { numRuns: 400 },
      );
    });

    test("that ends early is refused, however early", () => {
      fc.assert(
        fc.property(fc.nat(base.length - 33), (size) => {
          for (const outcome of look(base.subarray(0, size)))
            assert.ok("code" in outcome && ["TRUNCATED", "NOT_A_DATABASE"].includes(outcome.code), JSON.stringify(outcome));
        }),
        { numRuns: 100 },
      );
    });

    test("with pages in the place of others is read or refused", () => {
      const pages = fc.integer({ min: 2, max: Math.floor(base.length / pageSize) - 1 });
      fc.assert(
        fc.property(pages, pages, fc.boolean(), (from, to, isRenamed) => {
          const copy = Uint8Array.from(base);
          copy.copyWithin(to * pageSize, from * pageSize, (from + 1) * pageSize);
          // As an old page that was used anew: it calls itself by its new number.
          look(isRenamed ? changed(copy, to * pageSize, u64Bytes(BigInt(to))) : copy);
        }),
        { numRuns: 300 },
      );
    });

    test("whose meta pages tell nonsense is refused", () => {
      const { pages } = newestMeta(base);
      for (const [other, code] of [
        [{ pages: pages + 1 }, "TRUNCATED"],
        [{ pages: 2 ** 53 }, "TRUNCATED"],
        [{ pages: 2 }, "CORRUPT"],
        [{ root: pages }, "CORRUPT"],
        [{ root: 0 }, "CORRUPT"],
        [{ root: 1 }, "CORRUPT"],
        [{ root: 2 ** 53 }, "CORRUPT"],
      ] as const)
        assert.deepEqual(look(withMeta(base, other)), [{ code }, { code }], JSON.stringify(other));
    });

    test("in whose tree a branch refers to itself, or to another twice, is refused", () => {
      const branch = Array.from({ length: newestMeta(base).pages }, (_, page) => page).filter((page) => {
        const header = readPageHeader(base, page * pageSize);
        return header.id === page && header.flags === 1;
      });
      // Those that are old may say what they like.
      const refused = branch.filter((page) => {
        const at = page * pageSize + 24;
        const itself = look(changed(base, at, u64Bytes(BigInt(page))));
        assert.deepEqual(look(changed(base, at, [...base.subarray(at + 16, at + 24)])), itself);
        return isDeepStrictEqual(itself, [{ code: "CORRUPT" }, { code: "CORRUPT" }]);
      });
      assert.ok(refused.length > 0);
    });
  });

describe("pages that belong to the database", () => {
  const pageSize = 4096;
  /** Leaves of revisions. */
  const leaves = Array.from({ length: newestMeta(written).pages }, (_, page) => page).filter((page) => {
    const header = readPageHeader(written, page * pageSize);
    return (
      header.id === page &&
      header.flags === 2 &&
      header.overflow === 0 &&
      header.count > 3 &&
      written[page * pageSize + 16 + header.count * 16 + 8] === 0x5f
    );
  });
  const [one = 0, two = 0] = leaves;
  const refused = [{ code: "CORRUPT" }, { code: "CORRUPT" }];
  test("must be those that are referred to", () => {
    assert.deepEqual(look(changed(written, one * pageSize, u64Bytes(BigInt(two)))), refused);
  });
  test("must not go on beyond the end", () => {
    assert.deepEqual(look(changed(written, one * pageSize + 12, [0xff, 0xff])), refused);
    const large = Array.from({ length: newestMeta(written).pages }, (_, page) => page).find((page) => {
      const header = readPageHeader(written, page * pageSize);
      return header.id === page && header.flags === 2 && header.overflow > 0;
    });
    assert.ok(large !== undefined);
    assert.deepEqual(look(changed(written, large * pageSize + 12, [0xff, 0xff])), refused);
  });
  test("may have flags of elements that bbolt does not know", () => {
    const sound = look(written);
    // The highest bit marks, in memory, a value that was cut.
    assert.deepEqual(look(changed(written, one * pageSize + 16 + 3, [0x80])), sound);
  });
  test("must have their revisions in order, across leaves too", () => {
    const copy = Uint8Array.from(written);
    copy.copyWithin(two * pageSize, one * pageSize, (one + 1) * pageSize);
    assert.deepEqual(look(changed(copy, two * pageSize, u64Bytes(BigInt(two)))), refused);
    const firstKey = one * pageSize + 16 + readPageHeader(written, one * pageSize).count * 16;
    assert.deepEqual(look(changed(written, firstKey, [0, 0, 0, 0, 0, 0, 7])), refused);
  });
  test("must hold revisions", () => {
    const firstKey = one * pageSize + 16 + readPageHeader(written, one * pageSize).count * 16;
    assert.deepEqual(look(changed(written, firstKey + 8, [0x60])), refused);
  });
});

test("the newer meta page counts, whichever it is", () => {
  const meta = newestMeta(written);
  for (const newer of [0, 1]) {
    const copy = Uint8Array.from(written);
    writeMeta(copy, newer * meta.pageSize, { ...meta, transaction: 9 });
    writeMeta(copy, (1 - newer) * meta.pageSize, { ...meta, root: 1, transaction: 8 });
    const [counted, read] = look(copy);
    assert.ok("ok" in counted && "ok" in read, JSON.stringify([counted, read]));
  }
});

describe("what is no database", () => {
  for (const [what, bytes] of [
    ["nothing", Buffer.alloc(0)],
    ["a byte", Buffer.alloc(1)],
    ["zeros", Buffer.alloc(200_000)],
    ["a text", Buffer.alloc(200_000, "etcd ")],
  ] as const)
    test(what, () => {
      const code = "NOT_A_DATABASE";
      assert.deepEqual(look(bytes), [{ code }, { code }]);
    });

  test("random bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5000 }), (bytes) => {
        look(bytes);
      }),
    );
  });
});

test("one damaged meta page is no harm: the other one counts, whatever the page size", () => {
  for (const pageSize of [1024, 4096, 65_536]) {
    const snapshot = writeEtcdSnapshot({
      keys: [{ key: "a", modRevision: 2 }],
      members: [],
      clusterVersion: "3.6.0",
      term: 1,
      consistentIndex: 1,
      pageSize,
    });
    for (const page of [0, 1]) {
      const [counted, read] = look(changed(snapshot, page * pageSize + 20, [1]));
      assert.ok("ok" in counted && "ok" in read && counted.ok.liveKeys === 1 && read.ok.liveKeys === 1, `${pageSize} ${page}`);
    }
    assert.deepEqual(statistics(changed(changed(snapshot, 20, [1]), pageSize + 20, [1])), { code: "NOT_A_DATABASE" });
  }
});
