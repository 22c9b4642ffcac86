import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import { after, describe, it } from "node:test";
import type { CommandContext } from "../command.ts";
import { runApiserver } from "../commands/run-apiserver.ts";
import { runStandalone } from "../commands/run-standalone.ts";

const root = mkdtempSync(join(tmpdir(), "talos-operator-durability-"));
after(() => rmSync(root, { recursive: true, force: true }));
const manifest = join(root, "manifest.yaml");
writeFileSync(manifest, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}\n");

type Prepare = (this: DatabaseSync, sql: string) => StatementSync;

/** `PRAGMA synchronous` of `api.db` once the command serves. */
async function waitsOf(command: typeof runApiserver, durability: string): Promise<unknown> {
  let waits: unknown;
  const stop = new AbortController();
  const prepare: Prepare = Reflect.get<DatabaseSync, "prepare">(DatabaseSync.prototype, "prepare");
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql: string) {
    if (String(this.location()).endsWith("/api.db") && sql.startsWith("INSERT"))
      waits = prepare.call(this, "PRAGMA synchronous").get()?.["synchronous"];
    return prepare.call(this, sql);
  };
  try {
    const flags = {
      "data-dir": join(root, `${command.name}-${durability}`),
      listen: "127.0.0.1:0",
      "log-level": "silent",
      durability,
      manifest,
    };
    // It says where it serves, and is stopped then.
    const stderr = { write: () => stop.abort() } as unknown as NodeJS.WriteStream;
    await command(flags, { signal: stop.signal, stdout: process.stdout, stderr } satisfies CommandContext);
  } finally {
    DatabaseSync.prototype.prepare = prepare;
  }
  return waits;
}

describe("--durability reaches the store", () => {
  for (const command of [runApiserver, runStandalone])
    it(`of ${command.name}: with power-loss every commit waits for the disk`, async () => {
      assert.deepEqual([await waitsOf(command, "power-loss"), await waitsOf(command, "process-crash")], [2, 1]);
    });

  it("and a word that is none is refused", async () => {
    await assert.rejects(waitsOf(runApiserver, "full"), { name: "CliError", exitCode: 2 });
  });
});
