import assert from "node:assert/strict";
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { writeOutput } from "./output-files.ts";

describe("a file with keys in it", () => {
  const root = mkdtempSync(join(tmpdir(), "output-files-"));
  after(() => rmSync(root, { recursive: true }));
  const { stdout } = process;

  it("that is overwritten never shows the new keys to who had the old file open, and is whole or the old one", () => {
    const path = join(root, "secrets.yaml");
    writeFileSync(path, "old", { mode: 0o644 });
    chmodSync(path, 0o644);
    const open = openSync(path, "r");
    writeOutput({ path, text: "new keys" }, { force: true, stdout });
    const seen = Buffer.alloc(20);
    assert.equal(seen.subarray(0, readSync(open, seen)).toString(), "old");
    assert.deepEqual([readFileSync(path, "utf8"), statSync(path).mode & 0o777], ["new keys", 0o600]);
    assert.deepEqual(readdirSync(root), ["secrets.yaml"]);
  });

  it("behind a link is overwritten there, and only when forced to", () => {
    const target = join(root, "target");
    const link = join(root, "link");
    writeFileSync(target, "old");
    symlinkSync(target, link);
    assert.throws(() => writeOutput({ path: link, text: "new" }, { force: false, stdout }), /already exists/);
    writeOutput({ path: link, text: "new" }, { force: true, stdout });
    assert.deepEqual([readFileSync(target, "utf8"), lstatSync(link).isSymbolicLink()], ["new", true]);
  });

  it("is not made through a link that leads nowhere", () => {
    const link = join(root, "dangling");
    symlinkSync(join(root, "nowhere"), link);
    assert.throws(() => writeOutput({ path: link, text: "new" }, { force: false, stdout }), /already exists/);
    assert.ok(!readdirSync(root).includes("nowhere"));
  });

  it("goes into a device when forced to", () => {
    writeOutput({ path: "/dev/null", text: "new" }, { force: true, stdout });
    assert.ok(statSync("/dev/null").isCharacterDevice());
  });
});
