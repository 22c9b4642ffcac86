import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { storeConformance } from "../../conformance/store-conformance.ts";
import { isStoreFailure } from "../../store/failure.ts";
import { createDirectoryStore } from "./directory-store.ts";

function folder(): { readonly root: string; readonly end: () => void } {
  const root = mkdtempSync(join(tmpdir(), "talos-operator-store-"));
  return { root, end: () => rmSync(root, { recursive: true, force: true }) };
}

storeConformance("a folder", async () => {
  const { root, end } = folder();
  return { store: createDirectoryStore(root, "clusters/east"), end: async () => end() };
});

test("a folder: nobody else reads what is stored", async () => {
  const { root, end } = folder();
  await createDirectoryStore(root, "x").put("a/b", Uint8Array.of(1));
  assert.equal(statSync(join(root, "x/a")).mode & 0o777, 0o700);
  assert.equal(statSync(join(root, "x/a/b")).mode & 0o777, 0o600);
  end();
});

test("a folder: a link does not lead out of it, neither as folder nor as file", async () => {
  const { root, end } = folder();
  const outside = folder();
  mkdirSync(join(root, "x"));
  symlinkSync(outside.root, join(root, "x/out"));
  writeFileSync(join(outside.root, "secret"), "not ours");
  symlinkSync(join(outside.root, "secret"), join(root, "x/file"));
  const store = createDirectoryStore(root, "x");
  const isDenied = (thrown: unknown): boolean => isStoreFailure(thrown, "denied");
  await assert.rejects(store.put("out/a", Uint8Array.of(1)), isDenied);
  await assert.rejects(store.get("out/secret"), isDenied);
  await assert.rejects(store.get("file"), isDenied);
  await assert.rejects(store.remove("out/secret"), isDenied);
  assert.equal(readFileSync(join(outside.root, "secret"), "utf8"), "not ours");
  assert.deepEqual(readdirSync(outside.root), ["secret"]);
  end();
  outside.end();
});

test("a folder: a link in the way leaves nothing outside, not even an empty folder or a draft", async () => {
  const { root, end } = folder();
  const outside = folder();
  mkdirSync(join(outside.root, "theirs"));
  writeFileSync(join(outside.root, "theirs/key"), "a/b");
  mkdirSync(join(root, "x"));
  symlinkSync(outside.root, join(root, "x/out"));
  symlinkSync(outside.root, join(root, "x/.uploads"));
  symlinkSync(outside.root, join(root, "y"));
  const isDenied = (thrown: unknown): boolean => isStoreFailure(thrown, "denied");
  const all = async (keys: AsyncIterable<unknown>): Promise<void> => {
    for await (const _ of keys);
  };
  const store = createDirectoryStore(root, "x");
  await assert.rejects(store.put("out/deep/a", Uint8Array.of(1)), isDenied);
  await assert.rejects(store.put("a", Uint8Array.of(1)), isDenied);
  await assert.rejects(store.createUpload("a"), isDenied);
  await assert.rejects(all(store.listUploads("")), isDenied);
  await assert.rejects(store.abortUpload({ key: "a/b", id: "theirs" }), isDenied);
  await assert.rejects(all(createDirectoryStore(root, "y").list("")), isDenied);
  assert.deepEqual([readdirSync(outside.root), readdirSync(join(outside.root, "theirs"))], [["theirs"], ["key"]]);
  end();
  outside.end();
});

test("a folder: what stands at the place of an upload's key and is none holds nothing up, and is not read to its end", async () => {
  const { root, end } = folder();
  const store = createDirectoryStore(root, "");
  const upload = await store.createUpload("a/b");
  for (const name of ["pipe", "long", "folder"]) mkdirSync(join(root, ".uploads", name));
  assert.equal(spawnSync("mkfifo", [join(root, ".uploads/pipe/key")]).status, 0);
  writeFileSync(join(root, ".uploads/long/key"), "");
  truncateSync(join(root, ".uploads/long/key"), 2 ** 33);
  mkdirSync(join(root, ".uploads/folder/key"));
  const found: string[] = [];
  for await (const { id } of store.listUploads("")) found.push(id);
  assert.deepEqual(found, [upload.id]);
  end();
});

test("a folder: a part that changed on the disk is noticed before the object is made", async () => {
  const { root, end } = folder();
  const store = createDirectoryStore(root, "");
  const upload = await store.createUpload("a/b");
  await upload.part(1, Uint8Array.of(1, 2, 3));
  writeFileSync(join(root, ".uploads", upload.id, "1"), Uint8Array.of(1, 2, 4));
  await assert.rejects(upload.complete(), (thrown) => isStoreFailure(thrown, "damaged"));
  assert.equal(await store.head("a/b"), undefined);
  end();
});

for (const path of ["..", "a/../b", "/etc", "a//b", ".uploads"])
  test(`a folder: ${path} lies not below the folder of backups`, () => {
    assert.throws(
      () => createDirectoryStore("/tmp", path),
      (thrown) => isStoreFailure(thrown, "invalid"),
    );
  });

test("a folder: what others put there by names that no key can have is passed over", async () => {
  const { root, end } = folder();
  const store = createDirectoryStore(root, "");
  await store.put("a/b", Uint8Array.of(1));
  mkdirSync(join(root, "a/lost found"));
  for (const name of ["my notes.txt", "naïve", "lost found/x"]) writeFileSync(join(root, "a", name), "mine");
  const keys: string[] = [];
  for await (const { key } of store.list("")) keys.push(key);
  assert.deepEqual(keys, ["a/b"]);
  end();
});

test("a folder: one that is not mounted is named, and made by nobody", async () => {
  await assert.rejects(createDirectoryStore("/nowhere/backups", "x").put("a", Uint8Array.of(1)), (thrown) =>
    isStoreFailure(thrown, "missing"),
  );
});
