import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import fs, { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { syncBuiltinESMExports } from "node:module";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { after, describe, it, mock } from "node:test";
import { systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { ApiServerError } from "../api-server-error.ts";
import { createApiServer } from "../index.ts";
import type { StoreWrite } from "../store/store.ts";
import { createSqliteStore } from "./sqlite-store.ts";

const folder = mkdtempSync(join(tmpdir(), "sqlite-store-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newFile = (): string => join(folder, `f${++files}`, "api.db");

const admin = { name: "admin", groups: ["system:masters"] };
const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };

interface Writer {
  readonly child: ChildProcess;
  /** Revision of the newest write that was acknowledged. */
  readonly acknowledged: () => number;
  /** Resolves when so many lines were printed, or when the writer is gone. */
  readonly printed: (lines: number) => Promise<void>;
}

/** Starts the writer and resolves when it has printed as many lines as asked for. */
async function startWriter(path: string, mode: "write" | "hold", lines: number, maxLogBytes = 0): Promise<Writer> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "sqlite-writer.ts"), path, mode, String(maxLogBytes)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let [count, rest, newest] = [0, "", ""];
  let isGone = false;
  const waiting = new Set<() => void>();
  const look = (): void => {
    for (const check of waiting) check();
  };
  child.stdout?.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split("\n");
    // The last piece may be cut in the middle of a number.
    rest = parts.pop() ?? "";
    count += parts.length;
    newest = parts.at(-1) ?? newest;
    look();
  });
  child.on("exit", () => {
    isGone = true;
    look();
  });
  const printed = (wanted: number): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (count < wanted && !isGone) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  await printed(lines);
  return { child, acknowledged: () => Number(newest), printed };
}

/** A write as those of the writer. */
function writeOf(revision: number): StoreWrite {
  const name = (of: number): string => `default/c-${of}`;
  if (revision % 3 === 0) return { resource: "/configmaps", key: name(revision - 1), revision };
  return { resource: "/configmaps", key: name(revision), revision, object: { metadata: {}, data: { x: "y".repeat(500) } } };
}

/** Copies of the folder from before each call with which `work` asks SQLite or the file system for something: what a death there would leave. */
function foldersBeforeEachStep(from: string, work: () => void): readonly string[] {
  const copies: string[] = [];
  let isCopying = false;
  const watch = (holder: object, name: string): void => {
    const original = Reflect.get(holder, name) as (...args: unknown[]) => unknown;
    mock.method(
      holder,
      name as never,
      function (this: unknown, ...args: unknown[]) {
        if (!isCopying) {
          isCopying = true;
          const copy = `${from}-step-${copies.length}`;
          cpSync(from, copy, { recursive: true });
          copies.push(copy);
          isCopying = false;
        }
        return original.apply(this, args);
      } as never,
    );
  };
  for (const name of ["exec", "prepare", "close"]) watch(DatabaseSync.prototype, name);
  watch(StatementSync.prototype, "run");
  for (const name of ["renameSync", "rmSync", "openSync", "fsyncSync", "closeSync"]) watch(fs, name);
  syncBuiltinESMExports();
  try {
    work();
  } finally {
    mock.restoreAll();
    syncBuiltinESMExports();
  }
  return copies;
}

/** Copies as a person would: a file that went away meanwhile (two new generations during one copy) fails the copy, and it is made again. */
function copyFolder(from: string, to: string): void {
  for (let attempt = 0; ; attempt++) {
    try {
      cpSync(from, to, { recursive: true });
      return;
    } catch (err) {
      rmSync(to, { recursive: true, force: true });
      if (attempt === 9) throw err;
    }
  }
}

/** Some file of a later generation, below ten the newest; `api.db` while there is none. */
function newestFile(path: string): string {
  const files = readdirSync(dirname(path)).filter((name) => /^api(\.\d+)?\.db$/.test(name));
  return files.toSorted().findLast((name) => name !== "api.db") ?? "api.db";
}

/** What the writer leaves after so many writes: every third deletes what the one before it wrote. */
function revisionsLeftBy(revision: number): readonly number[] {
  return Array.from({ length: revision }, (_, index) => index + 1).filter((n) => n % 3 === 1 || (n % 3 === 2 && n === revision));
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
    // With a log so short the file is written anew all the time, so that death meets each stage of that.
    for (const [lines, maxLogBytes] of [
      [50, 0],
      [700, 100_000],
      [1100, 100_000],
      [1900, 100_000],
    ] as const) {
      const writer = await startWriter(path, "write", lines, maxLogBytes);
      await killHard(writer.child);
      const acknowledged = writer.acknowledged();
      assert.ok(acknowledged > 0);
      const store = createSqliteStore(path);
      const { revision, entries } = store.load();
      // At most the one write that was not acknowledged any more may be there besides.
      assert.ok(revision === acknowledged || revision === acknowledged + 1, `${revision} after ${acknowledged}`);
      assert.deepEqual(
        entries.map((entry) => entry.revision).sort((a, b) => a - b),
        revisionsLeftBy(revision),
      );
      store.close();
    }
  });

  it("has every acknowledged write wherever a rewriting of the file ends", () => {
    const path = newFile();
    const store = createSqliteStore(path, { maxLogBytes: 100_000 });
    // The writes before the one that looks at the log.
    for (let revision = 1; revision <= 255; revision++) store.commit(writeOf(revision));
    const left = foldersBeforeEachStep(dirname(path), () => {
      store.commit(writeOf(256));
      store.commit(writeOf(257));
    });
    store.close();
    const found = left.map((copy) => {
      const again = createSqliteStore(join(copy, "api.db"));
      const { revision, entries } = again.load();
      again.close();
      assert.deepEqual(
        entries.map((entry) => entry.revision).toSorted((a, b) => a - b),
        revisionsLeftBy(revision),
      );
      return `${revision} in ${readdirSync(copy).find((name) => name.endsWith(".db"))}`;
    });
    // The rewriting is part of write 256, which is stored by then.
    assert.deepEqual([...new Set(found)], ["255 in api.db", "256 in api.db", "256 in api.1.db"]);
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

  it("can be copied file by file while it is written to, and the copy serves", async () => {
    const path = newFile();
    const writer = await startWriter(path, "write", 400, 2 * 1024 * 1024);
    for (let round = 0; round < 4; round++) {
      const copy = join(folder, `copy-${files}-${round}`);
      const acknowledged = writer.acknowledged();
      copyFolder(dirname(path), copy);
      const store = createSqliteStore(join(copy, "api.db"));
      const { revision, entries } = store.load();
      assert.ok(revision >= acknowledged, `${revision} in the copy, ${acknowledged} acknowledged before it`);
      assert.deepEqual(
        entries.map((entry) => entry.revision).sort((a, b) => a - b),
        revisionsLeftBy(revision),
      );
      const server = await createApiServer({ store, ...ports });
      const list = await server.transport(admin).send({ method: "GET", path: "/api/v1/namespaces/default/configmaps" });
      assert.equal((list.body as { items: unknown[] }).items.length, entries.length);
      server.close();
      await writer.printed(writer.acknowledged() + 300);
    }
    while (newestFile(path) === "api.db") await writer.printed(writer.acknowledged() + 300);
    await killHard(writer.child);
    // What the killed writer left behind opens with its newest generation, and only that stays.
    const acknowledged = writer.acknowledged();
    const store = createSqliteStore(path);
    assert.ok(store.load().revision >= acknowledged);
    store.close();
    assert.equal(readdirSync(dirname(path)).filter((name) => name.endsWith(".db")).length, 1);
  });

  it("passes over a generation that never came to count, and removes it", () => {
    const path = newFile();
    const store = createSqliteStore(path);
    store.commit({ resource: "/configmaps", key: "default/a", revision: 5, object: { metadata: {} } });
    store.close();
    const half = new DatabaseSync(join(dirname(path), "api.1.db"));
    half.exec("PRAGMA journal_mode=WAL; CREATE TABLE objects (resource TEXT)");
    half.close();
    writeFileSync(join(dirname(path), "api.2.db.tmp"), "never named");
    const again = createSqliteStore(path);
    assert.deepEqual([again.load().revision, again.load().entries.length], [5, 1]);
    assert.deepEqual(
      readdirSync(dirname(path)).filter((name) => /^api\.\d/.test(name)),
      [],
    );
    again.close();
  });

  it("takes writes and deletions into the next generation", () => {
    const path = newFile();
    const store = createSqliteStore(path, { maxLogBytes: 200_000 });
    const held = new Map<string, number>();
    let random = 1;
    const below = (limit: number): number => (random = (random * 48_271) % 2_147_483_647) % limit;
    let revision = 1;
    for (; newestFile(path) !== "api.3.db"; revision++) {
      const key = `default/c-${below(400)}`;
      const isRemoved = below(3) === 0 && held.delete(key);
      if (!isRemoved) held.set(key, revision);
      const object = { metadata: {}, data: { x: "y".repeat(below(700)) } };
      store.commit({ resource: "/configmaps", key, revision, ...(isRemoved ? {} : { object }) });
    }
    const [last = ""] = held.keys();
    held.delete(last);
    store.commit({ resource: "/configmaps", key: last, revision });
    store.close();
    const again = createSqliteStore(path);
    assert.equal(again.load().revision, revision);
    assert.deepEqual(new Map(again.load().entries.map((entry) => [entry.key, entry.revision])), held);
    again.close();
  });

  it("goes on in the old file where there is no room for a new generation", () => {
    const path = newFile();
    const store = createSqliteStore(path, { maxLogBytes: 1 });
    // A folder stands where the next file would be written.
    mkdirSync(join(dirname(path), "api.1.db.tmp", "in-the-way"), { recursive: true });
    for (let revision = 1; revision <= 600; revision++) {
      store.commit({ resource: "/configmaps", key: "default/a", revision, object: { metadata: {} } });
    }
    store.close();
    rmSync(join(dirname(path), "api.1.db.tmp"), { recursive: true });
    const again = createSqliteStore(path);
    assert.equal(again.load().revision, 600);
    again.close();
  });

  it("takes a file of the first layout and counts on from its counter", () => {
    const path = newFile();
    mkdirSync(dirname(path));
    const old = new DatabaseSync(path);
    old.exec(
      "CREATE TABLE objects (resource TEXT, key TEXT, revision INTEGER NOT NULL, object TEXT NOT NULL, PRIMARY KEY (resource, key)) WITHOUT ROWID",
    );
    old.exec("CREATE TABLE counter (id INTEGER PRIMARY KEY CHECK (id = 1), revision INTEGER NOT NULL)");
    old.exec("INSERT INTO counter VALUES (1, 41); INSERT INTO objects VALUES ('/configmaps', 'default/a', 40, '{\"metadata\":{}}')");
    old.exec("PRAGMA application_id=1415670849; PRAGMA user_version=1");
    old.close();
    const store = createSqliteStore(path);
    const { revision, entries } = store.load();
    assert.deepEqual([revision, entries.length], [41, 1]);
    store.close();
  });

  for (const [what, damage] of [
    ["whose pages are overwritten", (bytes: Buffer) => bytes.fill(0xa5, 4096, 12_288)],
    ["that is cut short", (bytes: Buffer) => bytes.subarray(0, 8192)],
    ["whose header is gone", (bytes: Buffer) => bytes.fill(0, 0, 100)],
    [
      "with an object that is no JSON",
      (bytes: Buffer) => {
        for (let at = bytes.indexOf('{"metadata"'); at !== -1; at = bytes.indexOf('{"metadata"', at + 1)) bytes.write("x", at);
        return bytes;
      },
    ],
  ] as const) {
    it(`refuses a file ${what} with DATA_FILE_DAMAGED and advice`, () => {
      const path = newFile();
      const store = createSqliteStore(path);
      for (let revision = 1; revision <= 100; revision++) {
        store.commit({
          resource: "/configmaps",
          key: `default/c-${revision}`,
          revision,
          object: { metadata: {}, data: { x: "y".repeat(300) } },
        });
      }
      store.close();
      writeFileSync(path, damage(readFileSync(path)));
      assert.throws(
        () => createSqliteStore(path).load(),
        (err) => {
          assert.ok(err instanceof ApiServerError);
          assert.equal(err.code, "DATA_FILE_DAMAGED", err.message);
          assert.match(err.message, /restore a copy|name another data folder/);
          return true;
        },
      );
    });
  }

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
