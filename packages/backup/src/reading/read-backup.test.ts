import assert from "node:assert/strict";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";

import * as fc from "fast-check";
import type { ObjectBody } from "@talos-operator/ports";

import { backupCodec } from "../adapters/codec/codec.ts";
import { StoreFailure } from "../store/failure.ts";
import { createTestIdentity, storeBackup } from "../testing/stored-backup.ts";
import { createTestBucket, type TestBucket } from "../worker/testing/faulty-store.ts";
import { sampleSnapshot } from "../worker/testing/member.ts";
import { findBackup, type FoundBackup, type ReadableStore } from "./find-backup.ts";
import { readBackup, type ReadBackup } from "./read-backup.ts";
import { isReadFault, type ReadFaultKind } from "./read-fault.ts";

const signal = new AbortController().signal;
const timers = { sleep: () => Promise.resolve(), schedule: () => ({ cancel: () => undefined }) };
const snapshot = sampleSnapshot(50, 200);

interface Stored {
  readonly bucket: TestBucket;
  readonly found: FoundBackup;
  readonly identity: string;
}

async function stored(isEncrypted: boolean): Promise<Stored> {
  const bucket = createTestBucket();
  const { identity, recipient } = await createTestIdentity();
  const facts = await storeBackup(bucket.open(), { snapshot, task: isEncrypted ? { recipients: [recipient] } : {} });
  return { bucket, found: await findBackup(bucket.open(), facts.object, { signal }), identity };
}

async function read(
  store: ReadableStore,
  found: FoundBackup,
  identity?: string,
): Promise<{ readonly bytes: Buffer; readonly told: ReadBackup }> {
  const chunks: Uint8Array[] = [];
  const told = await readBackup(
    store,
    found,
    { codec: backupCodec, timers, signal, ...(identity === undefined ? {} : { identity }) },
    (chunk) => void chunks.push(chunk),
  );
  return { bytes: Buffer.concat(chunks), told };
}

async function faultOf(reading: Promise<unknown>): Promise<ReadFaultKind | "read"> {
  try {
    await reading;
    return "read";
  } catch (thrown) {
    if (isReadFault(thrown)) return thrown.kind;
    throw thrown;
  }
}

for (const isEncrypted of [false, true]) {
  const what = isEncrypted ? "an encrypted backup" : "a backup";

  test(`${what} is read as it was taken`, async () => {
    const { bucket, found, identity } = await stored(isEncrypted);
    const { bytes, told } = await read(bucket.open(), found, identity);
    assert.ok(bytes.equals(snapshot));
    assert.deepEqual([told.size, told.storedSha256, told.hasTrailer], [snapshot.length, found.facts?.storedSha256, true]);
    assert.deepEqual(told.layers, isEncrypted ? ["age", "zstd"] : ["zstd"]);
  });

  test(`${what} of which any bit changed, or any end is missing, is damaged, with its manifest and without`, async () => {
    const { bucket, found, identity } = await stored(isEncrypted);
    const good = Buffer.from(bucket.objects.get(found.object) ?? []);
    const { facts: _unknown, ...without } = found;
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length - 1), fc.nat(7), fc.boolean(), async (at, bit, isCut) => {
        bucket.objects.set(found.object, isCut ? good.subarray(0, at) : good.with(at, (good[at] ?? 0) ^ (1 << bit)));
        assert.equal(await faultOf(read(bucket.open(), found, identity)), "damaged");
        // Nothing but a manifest tells a changed header from another recipient or another file, and nothing minds the checksum that zstd has at its end.
        const fault = await faultOf(read(bucket.open(), without, identity).then(({ bytes }) => assert.ok(bytes.equals(snapshot))));
        assert.ok(["damaged", "bad-identity", "not-a-backup", "read"].includes(fault), fault);
      }),
      { numRuns: 150 },
    );
  });
}

test("a plain snapshot of which any bit changed or any end is missing is refused, but for one that ends as a database does", async () => {
  const bucket = createTestBucket();
  const found: FoundBackup = { object: "etcd.db", storedSize: snapshot.length, signature: "none", writtenBy: "unknown" };
  await fc.assert(
    fc.asyncProperty(fc.nat(snapshot.length - 1), fc.nat(7), fc.boolean(), async (at, bit, isCut) => {
      bucket.objects.set(found.object, isCut ? snapshot.subarray(0, at) : snapshot.with(at, (snapshot[at] ?? 0) ^ (1 << bit)));
      const fault = await faultOf(read(bucket.open(), found));
      assert.ok(isCut && at === snapshot.length - 32 ? fault === "read" : ["damaged", "not-a-backup"].includes(fault), `${fault} at ${at}`);
    }),
    {
      numRuns: 300,
      examples: [
        [snapshot.length - 32, 0, true],
        [snapshot.length - 33, 0, true],
        [0, 0, true],
        [16, 0, false],
      ],
    },
  );
});

test("a transfer that breaks off goes on where it was, and one that never ends well is told as it is", async () => {
  const { bucket, found } = await stored(false);
  const whole = bucket.open();
  const offsets: number[] = [];
  const breaking = (most: number): ReadableStore => ({
    place: whole.place,
    head: (key, options) => whole.head(key, options),
    get: async (key, options): Promise<ObjectBody | undefined> => {
      const body = await whole.get(key, options);
      offsets.push(options?.offset ?? 0);
      if (body === undefined || offsets.length > most) return body;
      return {
        ...body,
        body: (async function* () {
          for await (const chunk of body.body) {
            yield chunk.subarray(0, 10);
            throw new StoreFailure("cut-off", "the network broke");
          }
        })(),
      };
    },
  });
  assert.ok((await read(breaking(2), found)).bytes.equals(snapshot));
  assert.deepEqual(offsets, [0, 10, 20]);
  await assert.rejects(read(breaking(1_000), found), /the network broke/);
});

test("what the taker of the bytes throws comes out as it is", async () => {
  const { bucket, found } = await stored(false);
  const full = new Error("no room");
  await assert.rejects(
    readBackup(bucket.open(), found, { codec: backupCodec, timers, signal }, () => {
      throw full;
    }),
    (thrown) => thrown === full,
  );
});

test("an object that was replaced while it was read is damaged", async () => {
  const { bucket, found } = await stored(false);
  const whole = bucket.open();
  let calls = 0;
  const store: ReadableStore = {
    ...whole,
    get: async (key, options) => {
      const body = await whole.get(key, options);
      if (body === undefined || (calls += 1) > 1) return body === undefined ? undefined : { ...body, etag: "another" };
      return {
        ...body,
        etag: "first",
        body: (async function* () {
          for await (const chunk of body.body) {
            yield chunk.subarray(0, 10);
            throw new StoreFailure("cut-off", "the network broke");
          }
        })(),
      };
    },
  };
  assert.equal(await faultOf(read(store, found)), "damaged");
});

test("of what is compressed and is no database no more than a beginning is unpacked, and no more than a manifest names", async () => {
  const bomb = zstdCompressSync(Buffer.alloc(2 ** 27));
  assert.ok(bomb.length < 2 ** 16);
  const { bucket, found } = await stored(false);
  const unpacked = async (backup: FoundBackup): Promise<readonly [ReadFaultKind | "read", number]> => {
    let most = 0;
    const reading = readBackup(bucket.open(), backup, { codec: backupCodec, timers, signal }, (chunk) => void (most += chunk.length));
    return [await faultOf(reading), most];
  };
  await bucket.open().put("bomb.zst", bomb);
  const [alone, most] = await unpacked(await findBackup(bucket.open(), "bomb.zst", { signal }));
  assert.equal(alone, "not-a-backup");
  assert.ok(most < 2 ** 25, `${most} bytes`);
  await bucket.open().put(found.object, bomb);
  const [named, much] = await unpacked(found);
  assert.equal(named, "damaged");
  assert.ok(much <= snapshot.length + 2 ** 20, `${much} bytes`);
});

/** What begins as a database and goes on without end: so many bytes of nothing in a few that are stored. */
function databaseOf(size: number): Buffer {
  const plain = Buffer.alloc(size);
  snapshot.subarray(0, 8_192).forEach((byte, at) => (plain[at] = byte));
  return plain;
}

async function unpackedOf(stored: Uint8Array, found: Partial<FoundBackup> = {}, maxBytes?: number) {
  const bucket = createTestBucket();
  await bucket.open().put("bomb.zst", stored);
  let most = 0;
  const fault = await readBackup(
    bucket.open(),
    { object: "bomb.zst", storedSize: stored.length, signature: "none", writtenBy: "unknown", ...found },
    { codec: backupCodec, timers, signal, ...(maxBytes === undefined ? {} : { maxBytes }) },
    (chunk) => void (most += chunk.length),
  ).then(
    () => "read",
    (thrown: unknown) => (isReadFault(thrown) ? `${thrown.kind}: ${thrown.message}` : String(thrown)),
  );
  return { fault, most };
}

test("of what begins as a database no more is unpacked than snapshots have, where nothing that was checked says how many bytes it has", async () => {
  const bomb = zstdCompressSync(databaseOf(2 ** 29));
  assert.ok(bomb.length < 2 ** 17, `${bomb.length}`);
  const { facts } = (await stored(false)).found;
  assert.ok(facts !== undefined);
  for (const [what, given] of [
    ["without a manifest", bomb],
    ["compressed twice", zstdCompressSync(bomb)],
  ] as const) {
    const { fault, most } = await unpackedOf(given);
    assert.match(
      fault,
      /^too-large: bomb\.zst unpacks to more than 268435456 bytes, and nothing that was checked says how many it has$/,
      what,
    );
    assert.ok(most <= 2 ** 28 + 2 ** 20, `${what}: ${most} bytes`);
  }
  const unchecked = await unpackedOf(bomb, { signature: "unchecked", facts: { ...facts, object: "bomb.zst", size: 2 ** 29 } });
  assert.match(unchecked.fault, /^too-large/);
});

test("a person says how much is unpacked", async () => {
  const bomb = zstdCompressSync(databaseOf(2 ** 20));
  assert.match((await unpackedOf(bomb, {}, 2 ** 19)).fault, /^too-large: bomb\.zst unpacks to more than 524288 bytes/);
  assert.equal((await unpackedOf(bomb, {}, 2 ** 20)).fault, "read");
  assert.equal((await unpackedOf(bomb)).fault, "read");
});
