// Genuine parts: etcd, etcdctl, etcdutl
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { createFileSpool, openSnapshotFile } from "./adapters/index.ts";
import { createStatisticsPass, createTrailerCheck, liveKeysOf, openDatabase, readSnapshot, revisionsOf } from "./index.ts";
import { type Database, type SnapshotKey, type SnapshotStatistics, writeEtcdSnapshot } from "./index.ts";
import { crc32c } from "./testing/crc32c.ts";
import { seeded } from "./testing/random.ts";
import { type GenuineKey, genuineStatus, RealEtcd, said } from "./testing/real-etcd.ts";

let root = "";
before(() => (root = mkdtempSync(join(tmpdir(), "talos-operator-etcd-"))));
after(() => rmSync(root, { recursive: true, force: true }));

let spools = 0;
function statisticsOf(bytes: Uint8Array, piece: number): SnapshotStatistics {
  const spool = createFileSpool({ path: join(root, `spool-${(spools += 1)}`) });
  try {
    const pass = createStatisticsPass({ spool });
    for (let at = 0; at < bytes.length; at += piece) pass.write(bytes.subarray(at, at + piece));
    return pass.finish();
  } finally {
    spool.close();
  }
}

/** The hash of etcdutl: names of buckets, keys and values in their order. So equal hashes mean that every byte of every entry was found. */
function hashOf(database: Database): number {
  let hash = 0;
  for (const bucket of database.buckets) {
    hash = crc32c(Buffer.from(bucket), hash);
    for (const { key, value } of database.entries(bucket)) hash = crc32c(value, crc32c(key, hash));
  }
  return hash;
}

function liveOf(database: Database): ReadonlyMap<string, GenuineKey> {
  return new Map(
    [...liveKeysOf(database)].map(({ key, createRevision, modRevision, version, value }) => [
      Buffer.from(key).toString("base64"),
      { createRevision, modRevision, version, value: Buffer.from(value).toString("base64") },
    ]),
  );
}

function assertSameKeys(ours: ReadonlyMap<string, GenuineKey>, theirs: ReadonlyMap<string, GenuineKey>): void {
  assert.equal(ours.size, theirs.size);
  // One by one: values of a megabyte are no reading.
  for (const [key, { value, ...rest }] of theirs) {
    const { value: found, ...others } = ours.get(key) ?? { value: undefined };
    assert.deepEqual(others, rest, key);
    assert.ok(found === value, `the value of ${key}`);
  }
}

/** Everything that we say about a file is what etcdutl says. */
async function assertAgreed(path: string): Promise<SnapshotStatistics> {
  const status = await genuineStatus(path);
  const bytes = readFileSync(path);
  const statistics = statisticsOf(bytes, 1024);
  assert.deepEqual(
    [statistics.revision, statistics.totalKey, statistics.totalSize, statistics.storageVersion ?? ""],
    [status.revision, status.totalKey, status.totalSize, status.version],
  );
  assert.deepEqual(statisticsOf(bytes, 1_000_003), statistics);
  const file = openSnapshotFile(path);
  try {
    const read = readSnapshot(file);
    assert.deepEqual({ ...read, ...statistics }, read);
    assert.equal(hashOf(openDatabase(file)), status.hash);
  } finally {
    file.close();
  }
  return statistics;
}

function trailerFault(path: string): string | undefined {
  const check = createTrailerCheck();
  check.write(readFileSync(path));
  return check.finish().fault;
}

/** A history of a store, as one etcd would have numbered it. */
function randomKeys(seed: number, sizes: { readonly transactions: number; readonly names: number; readonly large: number }): SnapshotKey[] {
  const random = seeded(seed);
  const live = new Map<string, { readonly createRevision: number; readonly version: number }>();
  const keys: SnapshotKey[] = [];
  for (let modRevision = 2; modRevision < sizes.transactions + 2; modRevision += 1) {
    for (let change = 0; change <= random(3); change += 1) {
      const key = `/registry/things/ns-${random(5)}/${"n".repeat(random(80))}${random(sizes.names)}`;
      const now = live.get(key);
      if (now !== undefined && random(4) === 0) {
        live.delete(key);
        keys.push({ key, modRevision, tombstone: true });
        continue;
      }
      const next = { createRevision: now?.createRevision ?? modRevision, version: (now?.version ?? 0) + 1 };
      live.set(key, next);
      const size = random(sizes.transactions) < sizes.large ? 1024 * 1024 - random(5000) : random(3000);
      keys.push({ key, value: Buffer.alloc(size, random(256)), modRevision, ...next });
    }
  }
  return keys;
}

describe("what is written, genuine etcd takes", () => {
  for (const [seed, transactions, names, large, pageSize] of [
    [1, 1, 1, 0, 4096],
    [2, 40, 10, 0, 4096],
    [3, 600, 200, 3, 4096],
    [4, 600, 50, 2, 16_384],
    [5, 16_000, 100_000, 4, 4096],
  ] as const)
    test(`store ${seed}: ${transactions} transactions, pages of ${pageSize} bytes`, async () => {
      const keys = randomKeys(seed, { transactions, names, large });
      const path = join(root, `written-${seed}.db`);
      const peerURLs = ["http://localhost:2380"];
      writeFileSync(
        path,
        writeEtcdSnapshot({
          keys,
          revision: transactions + (seed % 2 === 0 ? 1000 : 1),
          members: [{ id: 0x8e9e_05c5_2164_694dn, name: "default", peerURLs, clientURLs: ["http://localhost:2379"] }],
          removedMembers: [7n],
          ...(seed === 2 ? {} : { storageVersion: "3.6.0" }),
          clusterVersion: seed === 2 ? "3.5.0" : "3.6.0",
          term: 2,
          consistentIndex: transactions + 10,
          leases: [{ id: 77n, ttlSeconds: 3600 }],
          pageSize,
        }),
      );
      assert.equal(trailerFault(path), undefined);
      const statistics = await assertAgreed(path);
      assert.equal(statistics.revision, transactions + (seed % 2 === 0 ? 1000 : 1));

      const data = join(root, `restored-${seed}`);
      await said("etcdutl", "snapshot", "restore", path, "--data-dir", data);
      const etcd = await RealEtcd.start(data);
      try {
        const file = openSnapshotFile(path);
        const theirs = await etcd.get();
        assertSameKeys(liveOf(openDatabase(file)), theirs);
        file.close();
        assert.equal(theirs.size, statistics.liveKeys);
        // It goes on from there.
        await etcd.call("kv/put", { key: "YQ==", value: "Yg==" });
        const again = join(root, `again-${seed}.db`);
        await etcd.save(again);
        const { revision, members } = await assertAgreed(again);
        assert.equal(revision, statistics.revision + 1);
        assert.deepEqual(
          members.map(({ name }) => name),
          ["default"],
        );
      } finally {
        await etcd.stop();
      }
      rmSync(data, { recursive: true });
    });
});

const base64 = (text: string | Uint8Array): string => Buffer.from(text).toString("base64");

describe("what genuine etcd writes is read", () => {
  for (const [seed, rounds, names, large] of [
    [11, 60, 40, 1],
    [12, 150, 500, 2],
    [13, 450, 100_000, 3],
  ] as const)
    test(`store ${seed}: ${rounds} rounds of puts, deletions, leases, compactions and defragmentations`, async () => {
      const random = seeded(seed);
      const data = join(root, `genuine-${seed}`);
      const etcd = await RealEtcd.start(data);
      let revision = 1;
      const names_ = (): string => base64(`/registry/things/ns-${random(5)}/name-${random(names)}`);
      try {
        for (let round = 0; round < rounds; round += 1) {
          const touched = new Set<string>();
          const operations: unknown[] = [];
          for (let change = 0; change <= random(120); change += 1) {
            const key = names_();
            if (touched.has(key)) continue;
            touched.add(key);
            operations.push(
              random(5) === 0
                ? { requestDeleteRange: { key } }
                : { requestPut: { key, value: base64(Buffer.alloc(random(50) === 0 ? random(20_000) : random(900), random(256))) } },
            );
          }
          await etcd.call("kv/txn", { success: operations });
          if (random(20) === 0) {
            const { ID } = await etcd.call("lease/grant", { TTL: 3600 });
            await etcd.call("kv/put", { key: names_(), value: "bGVhc2U=", lease: ID });
          }
          if (round % Math.ceil(rounds / (large + 1)) === 0)
            await etcd.call("kv/put", { key: names_(), value: base64(Buffer.alloc(1024 * 1024 - random(4000), 7)) });
          const { header } = (await etcd.call("kv/range", { key: "YQ==" })) as { header: { revision: string } };
          revision = Number(header.revision);
          if (random(25) === 0) {
            // Still at work when the snapshot below is taken.
            await etcd.call("kv/compaction", { revision: revision - random(10) });
            const path = join(root, `during-${seed}-${round}.db`);
            await etcd.save(path);
            await assertAgreed(path);
            rmSync(path);
          }
          if (random(60) === 0) await etcd.call("maintenance/defragment", {});
        }
        const path = join(root, `genuine-${seed}.db`);
        await etcd.save(path);
        assert.equal(trailerFault(path), undefined);
        const statistics = await assertAgreed(path);
        assert.equal(statistics.revision, revision);
        const file = openSnapshotFile(path);
        const database = openDatabase(file);
        const theirs = await etcd.get();
        assertSameKeys(liveOf(database), theirs);
        assert.equal(statistics.liveKeys, theirs.size);
        assert.equal([...revisionsOf(database)].length, statistics.revisions);
        file.close();
        const { members } = JSON.parse(await said("etcdctl", "--endpoints", etcd.url, "member", "list", "-w", "json", "--hex")) as {
          members: { ID: string; name: string; peerURLs: string[] }[];
        };
        assert.deepEqual(
          statistics.members.map(({ id, name, peerURLs }) => ({ ID: id, name, peerURLs })),
          members.map(({ ID, name, peerURLs }) => ({ ID, name, peerURLs })),
        );
      } finally {
        await etcd.stop();
      }
      // As it lies on the member's disk: no trailer, two meta pages of two transactions, and room at the end.
      const raw = join(data, "member/snap/db");
      assert.notEqual(trailerFault(raw), undefined);
      await assertAgreed(raw);
      rmSync(data, { recursive: true });
    });
});
