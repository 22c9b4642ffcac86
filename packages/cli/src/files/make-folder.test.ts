import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { HANGS_AFTER_MS } from "@talos-operator/adapters/testing";
import { makeFolder } from "./make-folder.ts";

describe("a folder", () => {
  const root = mkdtempSync(join(tmpdir(), "make-folder-"));
  after(() => rmSync(root, { recursive: true }));

  it("is made with those above it, and may be there already", () => {
    const path = join(root, "a", "b", "c");
    makeFolder(path, 0o700);
    makeFolder(path, 0o700);
    assert.equal(statSync(path).mode & 0o777, 0o700);
  });

  it("is not made where a file is", () => {
    writeFileSync(join(root, "file"), "");
    assert.throws(() => makeFolder(join(root, "file")), /EEXIST/);
    assert.throws(() => makeFolder(join(root, "file", "below")), /ENOTDIR/);
  });

  // In a process of its own: what never returns would hold the test up, too.
  it(
    "that cannot be made below a folder that is there is an error, and not waited for without end",
    { skip: !existsSync("/proc/self") },
    () => {
      const program = `import { makeFolder } from ${JSON.stringify(new URL("make-folder.ts", import.meta.url).href)};
      try { makeFolder("/proc/none/of/these"); } catch (error) { process.stdout.write(error.code); }`;
      const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
        encoding: "utf8",
        timeout: HANGS_AFTER_MS,
        killSignal: "SIGKILL",
      });
      assert.equal(stdout, "ENOENT");
    },
  );
});
