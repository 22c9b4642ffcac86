import assert from "node:assert/strict";
import { test } from "node:test";

import type { BackupFacts } from "./facts.ts";
import { manifestKeyOf } from "./manifest-key.ts";
import { openManifest, readManifestUnchecked, sealManifest } from "./manifest.ts";

const facts: BackupFacts = {
  slot: "20261123T020000Z-nightly",
  attempt: "a1",
  object: "p/default/demo-0123456789ab/20261123T020000Z-nightly.a1.db.zst",
  startedAt: "2026-11-23T02:00:00.000Z",
  endedAt: "2026-11-23T02:00:09.000Z",
  size: 20512,
  sha256: "00",
  storedSize: 4000,
  storedSha256: "11",
  compression: "zstd",
  encryption: "none",
  revision: 7,
  totalKey: 5,
  liveKeys: 5,
  source: { machine: "cp-1", memberId: "8e9e05c52164694d" },
};
const bundle = { cluster: { id: "id" }, secrets: { secretboxEncryptionSecret: "c2VjcmV0" } };
const key = manifestKeyOf(bundle);

test("a manifest is opened under its key", () => {
  assert.deepEqual(openManifest(sealManifest(facts, key), key), { facts });
  assert.deepEqual(readManifestUnchecked(sealManifest(facts, key)), facts);
});

test("equal facts give equal bytes, whatever the order of their fields", () => {
  const turned = Object.fromEntries(Object.entries(facts).toReversed()) as unknown as BackupFacts;
  assert.deepEqual(sealManifest(turned, key), sealManifest(facts, key));
});

test("another key, and every changed character, is refused", () => {
  const bytes = Buffer.from(sealManifest(facts, key));
  assert.deepEqual(openManifest(bytes, manifestKeyOf({ ...bundle, cluster: { id: "id-2" } })), { refused: "foreign" });
  const end = bytes.indexOf("}", bytes.length - 4);
  for (let at = 0; at < end; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.ok("refused" in openManifest(changed, key), `byte ${at}`);
  }
});

test("what is none, and what a newer version wrote, is told apart", () => {
  for (const text of ["", "{}", "null", "[]", "nonsense", '{"version":1}', `{"version":1,"mac":"","backup":null}`, "x".repeat(70_000)])
    assert.ok("refused" in openManifest(Buffer.from(text), key), text.slice(0, 20));
  assert.deepEqual(openManifest(Buffer.from('{"version":2,"mac":"AA==","backup":{}}'), key), { refused: "newer" });
});

test("facts of other types, and times that are none, are no facts, whoever signed them", () => {
  for (const over of [
    { keysObject: 5 },
    { storageVersion: {} },
    { talosVersion: ["v1.13.9"] },
    { kubernetesVersion: null },
    { startedAt: "\u001b[31mnow" },
    { endedAt: "x".repeat(300) },
    { source: { machine: "cp-1", memberId: 7 } },
    { size: -1 },
    { revision: 2 ** 60 },
  ]) {
    const wrong = { ...facts, ...over } as unknown as BackupFacts;
    const bytes = sealManifest(wrong, key);
    assert.deepEqual(
      [openManifest(bytes, key), readManifestUnchecked(bytes)],
      [{ refused: "unreadable" }, undefined],
      JSON.stringify(over),
    );
  }
});

test("one that is nested thousands of times is refused, and overflows no stack", () => {
  for (const [open, close] of [
    ["[", "]"],
    ['{"a":', "}"],
  ] as const) {
    const count = Math.floor(60_000 / (open.length + close.length));
    const deep = `${open.repeat(count)}1${close.repeat(count)}`;
    const bytes = Buffer.from(`{"version":1,"mac":"AA==","backup":${deep}}`);
    assert.ok(bytes.length < 64 * 1024);
    assert.deepEqual([openManifest(bytes, key), readManifestUnchecked(bytes)], [{ refused: "unreadable" }, undefined]);
  }
});

test("the key has 32 bytes, and differs for other clusters and other secrets", () => {
  assert.equal(Buffer.from(key, "base64").length, 32);
  const keys = [bundle, { ...bundle, cluster: { id: "x" } }, { ...bundle, secrets: { aescbcEncryptionSecret: "b3RoZXI=" } }].map(
    manifestKeyOf,
  );
  assert.equal(new Set(keys).size, 3);
  assert.throws(() => manifestKeyOf({ ...bundle, secrets: {} }), RangeError);
});
