import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "fast-check";

import { BackupKeyError, backupKeys } from "./keys.ts";

const owner = { namespace: "default", controlPlane: "demo", clusterId: "id" };
const slot = "20261123T020000Z-nightly";

test("keys are below prefix, namespace, control plane and cluster", () => {
  const keys = backupKeys("a/b", owner);
  assert.equal(keys.folder, "a/b/default/demo-a56145270ce6");
  assert.equal(keys.manifest(slot), `${keys.folder}/${slot}.json`);
  assert.equal(keys.data(slot, "x1", "none"), `${keys.folder}/${slot}.x1.db.zst`);
  assert.equal(keys.data(slot, "x1", "age"), `${keys.folder}/${slot}.x1.db.zst.age`);
  assert.equal(keys.keys(slot, "x1"), `${keys.folder}/${slot}.x1.keys.age`);
  assert.equal(backupKeys("", owner).folder, "default/demo-a56145270ce6");
});

test("S28: two clusters have no folder in common", () => {
  const folders = [
    owner,
    { ...owner, namespace: "other" },
    { ...owner, clusterId: "id-2" },
    { ...owner, controlPlane: "demo-a56145270ce6" },
  ].map((one) => backupKeys("p", one).folder);
  assert.equal(new Set(folders).size, 4);
  assert.ok(folders.every((one) => folders.every((other) => one === other || !`${one}/`.startsWith(`${other}/`))));
});

const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/);
const name = fc.array(label, { minLength: 1, maxLength: 12 }).map((labels) =>
  labels
    .join(".")
    .slice(0, 253)
    .replace(/[.-]+$/, ""),
);

test("what was built is read again, for names with dots, endings of ours and any length; and is a name that every file system takes", () => {
  const keys = backupKeys("p", owner);
  const names = fc.oneof(
    name,
    fc.constantFrom("a.json", "a.db.zst", "a.keys.age", "a.db.zst.age", `${"x".repeat(62)}.`.repeat(4).slice(0, 250)),
  );
  fc.assert(
    fc.property(names, label, (text, attempt) => {
      const one = `20261123T020000Z-${text}`;
      const part = keys.slotPart(one);
      assert.deepEqual(keys.parse(keys.manifest(one)), { kind: "manifest", slot: part });
      assert.deepEqual(keys.parse(keys.data(one, attempt, "none")), { kind: "data", slot: part, attempt, encryption: "none" });
      assert.deepEqual(keys.parse(keys.data(one, attempt, "age")), { kind: "data", slot: part, attempt, encryption: "age" });
      assert.deepEqual(keys.parse(keys.keys(one, attempt)), { kind: "keys", slot: part, attempt });
      assert.ok((keys.data(one, attempt, "age").split("/").at(-1) ?? "").length <= 255);
    }),
  );
});

test("S27: what is not named by us is nothing", () => {
  const keys = backupKeys("p", owner);
  for (const key of [
    `${keys.folder}/`,
    `${keys.folder}/notes.txt`,
    `${keys.folder}/nightly.json`,
    `${keys.folder}/${slot}.db.zst`,
    `${keys.folder}/sub/${slot}.json`,
    `${keys.folder}/${slot}.A.db.zst`,
    `${keys.folder}x/${slot}.json`,
    `other/${slot}.json`,
    `${keys.folder}/${slot}.é.db.zst`,
    `${keys.folder}/20261123T020000Z-a..b.json`,
    "talos-operator-etcd-backups/demo/2026.db",
  ])
    assert.equal(keys.parse(key), undefined, key);
});

test("what no key can be built of is refused", () => {
  for (const prefix of ["/a", "a/", "a//b", "..", "a/../b", "a b", "ä", "a\nb", "a%2e"])
    assert.throws(() => backupKeys(prefix, owner), BackupKeyError, prefix);
  for (const bad of ["", "A", "a/b", "a.b", "..", "ä"]) assert.throws(() => backupKeys("p", { ...owner, namespace: bad }), BackupKeyError);
  for (const bad of ["", "a..b", "a/b", "-a", "ä"]) assert.throws(() => backupKeys("p", { ...owner, controlPlane: bad }), BackupKeyError);
  const keys = backupKeys("p", owner);
  for (const bad of ["", "nightly", "20261123T020000Z-", "20261123T020000Z-../a", "20261123T020000Z-A"])
    assert.throws(() => keys.manifest(bad), BackupKeyError);
  assert.throws(() => backupKeys("p/".repeat(500).slice(0, -1), owner).manifest(slot), BackupKeyError);
});
