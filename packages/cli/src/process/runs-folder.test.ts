import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makeRunsFolder, removeAbandonedRuns } from "./runs-folder.ts";

test("runs of a process that was killed are removed by the next one, and nobody else's", () => {
  const parent = mkdtempSync(join(tmpdir(), "talos-operator-abandoned-"));
  try {
    const own = makeRunsFolder(parent);
    const { pid } = spawnSync(process.execPath, ["--version"]);
    const dead = own.replace(`-${process.pid}-`, `-${pid}-`);
    const elsewhere = dead.replace(/runs-[0-9a-f]{12}/, "runs-0123456789ab");
    const others = join(parent, "talos-operator-other");
    for (const folder of [dead, elsewhere, others]) mkdirSync(join(folder, "backup-0123456789ab"), { recursive: true });
    writeFileSync(join(dead, "backup-0123456789ab", "secrets.json"), "{}");
    removeAbandonedRuns(parent);
    assert.deepEqual(
      [own, dead, elsewhere, others].map((folder) => existsSync(folder)),
      [true, false, true, true],
    );
    assert.equal(readdirSync(parent).length, 3);
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
});
