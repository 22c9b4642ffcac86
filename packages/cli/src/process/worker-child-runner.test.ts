import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createLogger } from "@talos-operator/adapters";
import type { BackupTask, TaskResult, TaskSecrets } from "@talos-operator/backup";
import { backupWorkers, type BackupRunRequest, type BackupRunState } from "@talos-operator/operator";
import { createWorkerChildRunner, type ChildRunner } from "./worker-child-runner.ts";

const owner = { namespace: "default", name: "first", uid: "1" };
const name = "backup-0123456789ab";
const run: BackupRunRequest = {
  name,
  owner,
  task: {
    kind: "prove",
    owner: { namespace: "default", controlPlane: "first", clusterId: "id" },
    place: { kind: "directory", path: "", prefix: "backups" },
    timeoutMs: 60_000,
    slot: "20261123T020000Z-first",
    drill: "read",
  },
  secrets: { manifestKey: Buffer.alloc(32).toString("base64") },
};

/** In place of the command line: answers as the file of its task says, once it may. */
const program = `
import { existsSync, readFileSync, writeFileSync } from "node:fs";
const flags = Object.fromEntries(process.argv.slice(3).map((word) => word.slice(2).split("=")));
const answer = () => { writeFileSync(flags.result, JSON.stringify({ kind: "removed", slots: [process.argv[2]], kept: [] })); process.exit(); };
if (JSON.parse(readFileSync(flags.secrets, "utf8")).manifestKey === undefined) process.exit(1);
process.on("SIGTERM", answer);
process.on("disconnect", answer);
writeFileSync(flags.task + ".ready", "");
setInterval(() => { if (existsSync(flags.task + ".go")) answer(); }, 5);
`;

describe("workers as child processes", () => {
  let folder = "";
  let runner: ChildRunner<BackupTask, TaskSecrets, TaskResult>;
  const open = (): typeof runner =>
    createWorkerChildRunner({
      kind: backupWorkers,
      program: join(folder, "program.mjs"),
      folder: join(folder, "runs"),
      log: createLogger({ level: "silent" }),
    });
  const ended = async (): Promise<Extract<BackupRunState, { readonly kind: "ended" }>> => {
    for (;;) {
      const state = await runner.look(name);
      if (state.kind === "ended") return state;
      assert.equal(state.kind, "running");
      await sleep(5);
    }
  };

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "talos-operator-runner-"));
    writeFileSync(join(folder, "program.mjs"), program);
    runner = open();
  });
  after(async () => {
    await runner.close();
    rmSync(folder, { recursive: true });
  });

  it("runs one until it has answered, and forgets it when it is removed", async () => {
    assert.deepEqual([await runner.look(name), await runner.list()], [{ kind: "absent" }, []]);
    await runner.start(run);
    assert.equal((await runner.look(name)).kind, "running");
    assert.deepEqual(await runner.list(), [{ name, owner, hasEnded: false }]);
    await runner.start(run);
    await runner.refresh?.(name, { store: { accessKeyID: "id", secretAccessKey: "newer" } });
    const secrets: unknown = JSON.parse(readFileSync(join(folder, "runs", name, "secrets.json"), "utf8"));
    assert.deepEqual(secrets, { ...run.secrets, store: { accessKeyID: "id", secretAccessKey: "newer" } });
    assert.equal(statSync(join(folder, "runs", name)).mode & 0o777, 0o700);
    assert.equal(statSync(join(folder, "runs", name, "secrets.json")).mode & 0o777, 0o600);
    writeFileSync(join(folder, "runs", name, "task.json.go"), "");
    assert.deepEqual((await ended()).result, { kind: "removed", slots: ["backup-worker"], kept: [] });
    assert.equal(existsSync(join(folder, "runs", name, "secrets.json")), false);
    assert.deepEqual(await runner.list(), [{ name, owner, hasEnded: true }]);
    await runner.start(run);
    assert.equal((await runner.look(name)).kind, "ended", "an ended run is not begun again");
    await runner.remove(name);
    assert.deepEqual([await runner.look(name), readdirSync(join(folder, "runs"))], [{ kind: "absent" }, []]);
  });

  it("ends one that is removed while it goes on", async () => {
    await runner.start(run);
    await runner.remove(name);
    assert.deepEqual(await runner.look(name), { kind: "absent" });
  });

  it("ends all when it is closed, and the next process finds what they answered", async () => {
    await runner.start(run);
    // Before that it dies of the signal, without an answer.
    while (!existsSync(join(folder, "runs", name, "task.json.ready"))) await sleep(5);
    await runner.close();
    runner = open();
    assert.deepEqual(await runner.list(), [{ name, owner, hasEnded: true }]);
    assert.notEqual((await ended()).result, undefined);
    await runner.remove(name);
  });

  it("takes one that was begun by halves for ended without a result", async () => {
    mkdirSync(join(folder, "runs", name));
    writeFileSync(join(folder, "runs", name, "owner.json"), JSON.stringify(owner));
    assert.deepEqual(await runner.list(), [{ name, owner, hasEnded: true }]);
    assert.equal((await ended()).result, undefined);
    await runner.remove(name);
  });

  it("does not leave its folder by a name", async () => {
    await assert.rejects(async () => runner.remove("../elsewhere"), /cannot have the name/);
  });
});
