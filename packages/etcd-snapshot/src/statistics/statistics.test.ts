import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";

import { createFileSpool } from "../adapters/index.ts";
import { putU16, putU32, putU64 } from "../format/bytes.ts";
import { elementSize, pageFlags, pageHeaderSize, readPageHeader } from "../format/page.ts";
import {
  type SnapshotStatistics,
  type Spool,
  createMemorySpool,
  bytesSource,
  createStatisticsPass,
  liveKeysOf,
  openDatabase,
  writeEtcdSnapshot,
} from "../index.ts";
import { LiveKeys } from "./live-keys.ts";
import { OpenRun } from "./open-run.ts";

const store = { members: [], clusterVersion: "3.6.0", term: 1, consistentIndex: 1 } as const;
const pageSize = 4096;

function statisticsOf(bytes: Uint8Array, spool?: Spool): SnapshotStatistics {
  const pass = createStatisticsPass(spool === undefined ? {} : { spool });
  for (let at = 0; at < bytes.length; at += 1024) pass.write(bytes.subarray(at, at + 1024));
  return pass.finish();
}

/** Every page inside a large value calls itself a leaf that goes on for `overflow` pages, with one entry at their end. */
function withFakes(snapshot: Uint8Array, of: number, overflow: number): void {
  const large = Array.from({ length: Math.floor(snapshot.length / pageSize) }, (_, page) => page).filter((page) => {
    const header = readPageHeader(snapshot, page * pageSize);
    return header.id === page && header.overflow > 100;
  });
  const first = large[of];
  assert.ok(first !== undefined);
  for (let page = first + 1; page < first + readPageHeader(snapshot, first * pageSize).overflow; page += 1) {
    const at = page * pageSize;
    putU64(snapshot, at, page);
    putU16(snapshot, at + 8, pageFlags.leaf);
    putU16(snapshot, at + 10, 1);
    putU32(snapshot, at + 12, overflow);
    const data = overflow * pageSize - elementSize;
    putU32(snapshot, at + pageHeaderSize, 0);
    putU32(snapshot, at + pageHeaderSize + 4, data);
    putU32(snapshot, at + pageHeaderSize + 8, 17);
    putU32(snapshot, at + pageHeaderSize + 12, 30);
  }
}

describe("pages within a value that look like pages", () => {
  const large = (): Uint8Array =>
    writeEtcdSnapshot({
      ...store,
      keys: ["a", "b", "c"].map((key, index) => ({ key, value: Buffer.alloc(1024 * 1024), modRevision: index + 2 })),
    });
  test("are no harm to the value that they lie in", () => {
    const snapshot = large();
    withFakes(snapshot, 2, 200);
    assert.deepEqual(statisticsOf(snapshot), statisticsOf(large()));
  });
  test("that would have too many be followed end it by a code", () => {
    const snapshot = large();
    withFakes(snapshot, 0, 600);
    assert.throws(() => statisticsOf(snapshot), { name: "SnapshotError", code: "LIMIT_EXCEEDED" });
  });
});

test("keys are counted in parts where the table for all of them would be too large", () => {
  const keys = Array.from({ length: 30_000 }, (_, index) => ({
    key: `/registry/k/${(index * 7) % 20_000}`,
    modRevision: index + 2,
    tombstone: index % 11 === 0,
  }));
  const live = new Map(keys.map(({ key, tombstone }) => [key, !tombstone]));
  const count = [...live.values()].filter(Boolean).length;
  const snapshot = writeEtcdSnapshot({ ...store, keys });
  for (const tableBytes of [1, 8192, 100_000, 10_000_000]) {
    const pass = createStatisticsPass({ tableBytes });
    pass.write(snapshot);
    assert.equal(pass.finish().liveKeys, count, String(tableBytes));
  }
  assert.equal([...liveKeysOf(openDatabase(bytesSource(snapshot)))].length, count);
});

test("a run that bbolt would have split is not held", () => {
  const count = 2000;
  const overflow = 20_000;
  const table = new Uint8Array(pageHeaderSize + count * elementSize);
  putU16(table, 8, pageFlags.leaf);
  putU16(table, 10, count);
  putU32(table, 12, overflow);
  for (let index = 0; index < count; index += 1) {
    const at = pageHeaderSize + index * elementSize;
    putU32(table, at + 4, table.length + index * 40_017 - at);
    putU32(table, at + 8, 17);
    putU32(table, at + 12, 40_000);
  }
  const run = new OpenRun(5, table.subarray(0, pageSize), pageSize);
  for (let at = 0; at < table.length; at += pageSize) run.feed(table.subarray(at, at + pageSize), at);
  assert.deepEqual([run.isTooLarge, run.isDamaged], [true, false]);
  assert.ok(run.short.length < 100_000);
});

test("the memory for records is bounded", () => {
  const snapshot = writeEtcdSnapshot({
    ...store,
    keys: Array.from({ length: 1000 }, (_, index) => ({ key: `k${index}`, modRevision: index + 2 })),
  });
  assert.throws(() => statisticsOf(snapshot, createMemorySpool(1000)), { name: "SnapshotError", code: "SPOOL_FAILED" });
  assert.equal(statisticsOf(snapshot, createMemorySpool(200_000)).liveKeys, 1000);
});

describe("a spool on disk", () => {
  const folder = mkdtempSync(join(tmpdir(), "etcd-spool-"));
  after(() => rmSync(folder, { recursive: true }));
  const snapshot = writeEtcdSnapshot({
    ...store,
    keys: Array.from({ length: 20_000 }, (_, index) => ({ key: `k${index % 900}`, modRevision: index + 2 })),
  });

  test("serves as memory does, is its owner's alone, and goes when it is closed", () => {
    const path = join(folder, "spool");
    const spool = createFileSpool({ path });
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.deepEqual(statisticsOf(snapshot, spool), statisticsOf(snapshot));
    assert.ok(spool.size > 20_000 * 17);
    spool.close();
    assert.equal(existsSync(path), false);
  });
  test("never takes a file that is there", () => {
    const path = join(folder, "twice");
    const first = createFileSpool({ path });
    assert.throws(() => createFileSpool({ path }), { name: "SnapshotError", code: "SPOOL_FAILED" });
    first.close();
  });
  test("is bounded", () => {
    const spool = createFileSpool({ path: join(folder, "small"), limitBytes: 100_000 });
    assert.throws(() => statisticsOf(snapshot, spool), { name: "SnapshotError", code: "SPOOL_FAILED" });
    spool.close();
  });
});

test("a table that keys were made to fill ends by a code", () => {
  const table = new LiveKeys(100_000);
  assert.throws(
    () => {
      for (let low = 0; low < 100_000; low += 1) table.set(low, 128, true);
    },
    { name: "SnapshotError", code: "LIMIT_EXCEEDED" },
  );
});

test("keys are live by the last word on them", () => {
  const table = new LiveKeys(4);
  assert.deepEqual(
    [table.set(7, 8, true), table.set(7, 8, false), table.set(7, 8, true), table.set(9, 8, false)],
    [true, false, false, true],
  );
  assert.deepEqual([table.count, table.size], [1, 1]);
  const larger = table.grown(1000);
  larger.set(7, 8, false);
  assert.deepEqual([larger.count, larger.size], [0, 1]);
});
