import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, describe, it } from "node:test";
import { systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { ApiServerError } from "../api-server-error.ts";
import { createApiServer } from "../index.ts";
import { createSqliteStore } from "./sqlite-store.ts";

const folder = mkdtempSync(join(tmpdir(), "sqlite-store-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newFile = (): string => join(folder, `f${++files}`, "api.db");

const admin = { name: "admin", groups: ["system:masters"] };
const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };

/** Starts the writer and resolves when it has printed as many lines as asked for. */
async function startWriter(
  path: string,
  mode: "write" | "hold",
  lines: number,
): Promise<{ readonly child: ChildProcess; readonly printed: () => readonly string[] }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "sqlite-writer.ts"), path, mode], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  const enough = Promise.withResolvers<void>();
  child.stdout?.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    if (text.split("\n").length > lines) enough.resolve();
  });
  child.on("exit", () => enough.resolve());
  await enough.promise;
  // The last piece may be cut in the middle of a number.
  return { child, printed: () => text.split("\n").slice(0, -1) };
}

async function killHard(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
  if (child.stdout?.readableEnded === false) await once(child.stdout, "end");
}

describe("the SQLite store", () => {
  it("holds objects, deletions and the revision counter across a restart", async () => {
    const path = newFile();
    const first = await createApiServer({ store: createSqliteStore(path), ...ports });
    const transport = first.transport(admin);
    const configMaps = "/api/v1/namespaces/default/configmaps";
    await transport.send({
      method: "POST",
      path: configMaps,
      body: JSON.parse('{"metadata":{"name":"a"},"data":{"__proto__":"x","k":"é"}}') as unknown,
    });
    await transport.send({ method: "POST", path: configMaps, body: { metadata: { name: "b" } } });
    await transport.send({ method: "DELETE", path: `${configMaps}/b` });
    const before = await transport.send({ method: "GET", path: `${configMaps}/a` });
    const revision = first.revision();
    first.close();

    const second = await createApiServer({ store: createSqliteStore(path), ...ports });
    const again = second.transport(admin);
    assert.equal(second.revision(), revision);
    assert.deepEqual(await again.send({ method: "GET", path: `${configMaps}/a` }), before);
    assert.equal((await again.send({ method: "GET", path: `${configMaps}/b` })).status, 404);
    // The past is not kept: a watch from before the restart is told to list again.
    const watch = await again.watch({ method: "GET", path: configMaps, query: { watch: "true", resourceVersion: "1" } });
    for await (const event of watch.events) {
      assert.equal(event.type, "ERROR");
      assert.equal((event.object as { code: number }).code, 410);
    }
    second.close();
  });

  it("has every acknowledged write after kill -9", async () => {
    const path = newFile();
    for (let round = 0; round < 3; round++) {
      const writer = await startWriter(path, "write", 50);
      await killHard(writer.child);
      const acknowledged = Number(writer.printed().at(-1));
      assert.ok(acknowledged > 0);
      const store = createSqliteStore(path);
      const { revision, entries } = store.load();
      // At most the one write that was not acknowledged any more may be there besides.
      assert.ok(revision === acknowledged || revision === acknowledged + 1, `${revision} after ${acknowledged}`);
      const expected = Array.from({ length: revision }, (_, index) => index + 1).filter(
        (n) => n % 3 === 1 || (n % 3 === 2 && n === revision),
      );
      assert.deepEqual(
        entries.map((entry) => entry.revision).sort((a, b) => a - b),
        expected,
      );
      store.close();
    }
  });

  it("refuses a second process with DATA_FOLDER_IN_USE and is free again after kill -9", async () => {
    const path = newFile();
    const holder = await startWriter(path, "hold", 1);
    assert.throws(
      () => createSqliteStore(path),
      (err) => {
        assert.ok(err instanceof ApiServerError);
        assert.equal(err.code, "DATA_FOLDER_IN_USE");
        assert.match(err.message, /stop it, or name another folder with --data-dir/);
        return true;
      },
    );
    await killHard(holder.child);
    createSqliteStore(path).close();
  });

  it("refuses a second store in the same process too", () => {
    const path = newFile();
    const first = createSqliteStore(path);
    assert.throws(() => createSqliteStore(path), { code: "DATA_FOLDER_IN_USE" });
    first.close();
  });

  it("refuses a file that is no data file with DATA_FILE_DAMAGED and leaves it alone", () => {
    const path = join(folder, "garbage.db");
    writeFileSync(path, "this is no database, but it is long enough to be looked at as one".repeat(100));
    assert.throws(() => createSqliteStore(path), { code: "DATA_FILE_DAMAGED" });
  });

  it("refuses a file of another program with DATA_FILE_DAMAGED", () => {
    const path = join(folder, "foreign.db");
    const foreign = new DatabaseSync(path);
    foreign.exec("CREATE TABLE t (a); PRAGMA user_version=1");
    foreign.close();
    assert.throws(() => createSqliteStore(path), { code: "DATA_FILE_DAMAGED" });
  });

  it("refuses a file of a newer version with DATA_FILE_NEWER", () => {
    const path = newFile();
    createSqliteStore(path).close();
    const newer = new DatabaseSync(path);
    newer.exec("PRAGMA user_version=99");
    newer.close();
    assert.throws(() => createSqliteStore(path), { code: "DATA_FILE_NEWER" });
  });

  it(
    "says DATA_FOLDER_NOT_WRITABLE where nothing can be created",
    { skip: process.getuid?.() === 0 && "root may write everywhere" },
    () => {
      const closed = mkdtempSync(join(folder, "closed-"));
      chmodSync(closed, 0o500);
      assert.throws(() => createSqliteStore(join(closed, "api.db")), { code: "DATA_FOLDER_NOT_WRITABLE" });
    },
  );

  it("says DATA_FOLDER_NOT_WRITABLE when the folder's place is taken by a file", () => {
    const file = join(folder, "a-file");
    writeFileSync(file, "");
    assert.throws(() => createSqliteStore(join(file, "api.db")), { code: "DATA_FOLDER_NOT_WRITABLE" });
  });

  it("answers 500 when the disk is full, keeps memory as it was, and goes on when there is room", async () => {
    const path = newFile();
    // A page limit stands for a full disk: SQLite answers both with SQLITE_FULL.
    const store = createSqliteStore(path, { maxPages: 40 });
    const server = await createApiServer({ store, ...ports });
    const transport = server.transport(admin);
    const configMaps = "/api/v1/namespaces/default/configmaps";
    let stored = 0;
    let refusal: { status: number; body: unknown } | undefined;
    while (refusal === undefined) {
      const revision = server.revision();
      const answer = await transport.send({
        method: "POST",
        path: configMaps,
        body: { metadata: { name: `c-${stored}` }, data: { x: "y".repeat(20_000) } },
      });
      if (answer.status === 201) {
        stored++;
      } else {
        refusal = answer;
        assert.equal(server.revision(), revision);
      }
    }
    assert.equal(refusal.status, 500);
    const status = refusal.body as { reason: string; message: string };
    assert.equal(status.reason, "InternalError");
    assert.match(status.message, /STORE_WRITE_FAILED/);
    const list = await transport.send({ method: "GET", path: configMaps });
    assert.equal((list.body as { items: unknown[] }).items.length, stored);
    const gone = await transport.send({ method: "DELETE", path: `${configMaps}/c-0` });
    assert.equal(gone.status, 200);
    const small = await transport.send({ method: "POST", path: configMaps, body: { metadata: { name: "small" } } });
    assert.equal(small.status, 201);
    server.close();
  });

  it("keeps what it has with durability power-loss as well", () => {
    const path = newFile();
    const store = createSqliteStore(path, { durability: "power-loss" });
    store.commit({ resource: "/configmaps", key: "default/a", revision: 7, object: { metadata: {} } });
    store.close();
    const again = createSqliteStore(path);
    assert.equal(again.load().revision, 7);
    again.close();
  });
});
