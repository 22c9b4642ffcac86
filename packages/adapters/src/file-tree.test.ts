import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import fsPromises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { HANGS_AFTER_MS } from "./testing/index.ts";
import { createFileTree } from "./file-tree.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "file-tree-"));
});
afterEach(() => {
  chmodSync(root, 0o755);
  rmSync(root, { recursive: true });
});

describe("files below a root", () => {
  test("are written whole, read, listed and removed; the folder goes when it is empty", async () => {
    const tree = createFileTree(join(root, "hack", "results"));
    assert.equal(await tree.list("demo"), undefined);
    assert.equal(await tree.read("demo", "a.yaml"), undefined);
    await tree.write("demo", "b.yaml", "b\n");
    await tree.write("demo", "a.yaml", "first\n");
    await tree.write("demo", "a.yaml", "a\n");
    assert.deepEqual(await tree.list("demo"), ["a.yaml", "b.yaml"]);
    assert.equal(readFileSync(join(root, "hack/results/demo/a.yaml"), "utf8"), "a\n");
    await tree.remove("demo", "a.yaml");
    await tree.remove("demo", "a.yaml");
    await tree.removeFolder("demo");
    assert.deepEqual(await tree.list("demo"), ["b.yaml"], "a folder with something in it stays");
    await tree.remove("demo", "b.yaml");
    await tree.removeFolder("demo");
    await tree.removeFolder("demo");
    assert.deepEqual(readdirSync(join(root, "hack/results")), []);
  });

  test("a leftover of a killed process does not stand in the way", async () => {
    const tree = createFileTree(root);
    mkdirSync(join(root, "demo"));
    writeFileSync(join(root, "demo", "a.yaml.tmp"), "half");
    await tree.write("demo", "a.yaml", "whole");
    assert.deepEqual(await tree.list("demo"), ["a.yaml"]);
  });

  for (const name of ["", ".", "..", "../up", "/etc", "a/b", "a\\b", "a\0b", "x".repeat(256)])
    test(`the name ${JSON.stringify(name.slice(0, 12))} leaves the root and is refused`, async () => {
      const tree = createFileTree(root);
      const outside = { code: "OUTSIDE" };
      await assert.rejects(tree.list(name), outside);
      await assert.rejects(tree.read("demo", name), outside);
      await assert.rejects(tree.write("demo", name, ""), outside);
      await assert.rejects(tree.write(name, "a.yaml", ""), outside);
      await assert.rejects(tree.remove("demo", name), outside);
      await assert.rejects(tree.removeFolder(name), outside);
      assert.deepEqual(readdirSync(root), []);
    });

  test("a link in place of a folder or a file is not followed", async () => {
    const tree = createFileTree(join(root, "results"));
    mkdirSync(join(root, "elsewhere"));
    writeFileSync(join(root, "elsewhere", "secret"), "secret");
    mkdirSync(join(root, "results"));
    symlinkSync(join(root, "elsewhere"), join(root, "results", "linked"));
    await assert.rejects(tree.write("linked", "a.yaml", ""), { code: "OUTSIDE" });
    await assert.rejects(tree.list("linked"), { code: "OUTSIDE" });
    await tree.write("demo", "a.yaml", "a");
    symlinkSync(join(root, "elsewhere", "secret"), join(root, "results", "demo", "b.yaml"));
    await assert.rejects(tree.read("demo", "b.yaml"), { code: "ELOOP" });
    await tree.write("demo", "b.yaml", "b");
    assert.equal(readFileSync(join(root, "elsewhere", "secret"), "utf8"), "secret");
    assert.equal(statSync(join(root, "results", "demo", "b.yaml")).isFile(), true);
  });

  test("a link where a new file is begun is not followed, however late it comes", async (context) => {
    const tree = createFileTree(root);
    const secret = join(root, "secret");
    writeFileSync(secret, "secret");
    const begun = join(root, "demo", "a.yaml.tmp");
    mkdirSync(join(root, "demo"));
    symlinkSync(secret, begun);
    await tree.write("demo", "a.yaml", "a");
    assert.equal(readFileSync(secret, "utf8"), "secret");
    assert.equal(readFileSync(join(root, "demo", "a.yaml"), "utf8"), "a");
    // It comes back between its removal and the beginning of the file.
    const { rm } = fsPromises;
    context.mock.method(fsPromises, "rm", async (...args: Parameters<typeof rm>) => {
      await rm(...args);
      symlinkSync(secret, begun);
    });
    syncBuiltinESMExports();
    try {
      await assert.rejects(tree.write("demo", "a.yaml", "b"), { code: "EEXIST" });
    } finally {
      context.mock.restoreAll();
      syncBuiltinESMExports();
    }
    assert.equal(readFileSync(secret, "utf8"), "secret");
    assert.equal(readFileSync(join(root, "demo", "a.yaml"), "utf8"), "a");
  });

  test("where the root cannot be written, the failure carries the system's code", async () => {
    writeFileSync(join(root, "file"), "");
    await assert.rejects(createFileTree(join(root, "file", "results")).write("demo", "a.yaml", ""), { code: "ENOTDIR" });
  });

  test("a pipe in place of a file is refused, and not waited for; of a huge file only the beginning is read", async () => {
    mkdirSync(join(root, "demo"));
    assert.equal(spawnSync("mkfifo", [join(root, "demo", ".owner")]).status, 0);
    writeFileSync(join(root, "demo", "huge.yaml"), "x");
    truncateSync(join(root, "demo", "huge.yaml"), 8 * 1024 ** 3);
    const tree = createFileTree(root);
    await assert.rejects(tree.read("demo", ".owner"), { code: "OUTSIDE" });
    assert.equal((await tree.read("demo", "huge.yaml"))?.length, 4 * 1024 * 1024);
    await tree.write("demo", ".owner", "mine");
    assert.equal(await tree.read("demo", ".owner"), "mine");
  });

  // In a process of its own: what never returns would hold the test up, too.
  test(
    "a root that cannot be made below a folder that is there is an error, and not waited for without end",
    { skip: !existsSync("/proc/self") },
    () => {
      const program = `import { createFileTree } from ${JSON.stringify(new URL("file-tree.ts", import.meta.url).href)};
      for (const path of ["/proc/self/x/y", "/proc/none"])
        await createFileTree(path).write("demo", "a.yaml", "").catch((error) => process.stdout.write(error.code + " "));`;
      const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
        encoding: "utf8",
        timeout: HANGS_AFTER_MS,
        killSignal: "SIGKILL",
      });
      assert.equal(stdout, "ENOENT ENOENT ");
    },
  );
});
