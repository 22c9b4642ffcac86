import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import { after, describe, it } from "node:test";
import { createSqliteStore } from "./sqlite-store.ts";
import type { Durability } from "./sqlite-file.ts";

const folder = mkdtempSync(join(tmpdir(), "durability-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** What SQLite calls them: the log is brought to the disk with every commit, or now and then. */
const FULL = 2;
const NORMAL = 1;

type Prepare = (this: DatabaseSync, sql: string) => StatementSync;

/** How SQLite waits for the disk in each file that serves, first generation and next. */
function waitsIn(durability: Durability | undefined): readonly unknown[] {
  const opened = new Set<DatabaseSync>();
  const prepare: Prepare = Reflect.get<DatabaseSync, "prepare">(DatabaseSync.prototype, "prepare");
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql: string) {
    opened.add(this);
    return prepare.call(this, sql);
  };
  const path = join(folder, String(durability), "api.db");
  const store = createSqliteStore(path, { maxLogBytes: 1, ...(durability === undefined ? {} : { durability }) });
  try {
    for (let revision = 1; !existsSync(join(path, "../api.1.db")); revision++)
      store.commit({ resource: "/c", key: "default/a", revision, object: {} });
    return [...opened]
      .filter((database) => database.isOpen)
      .map((database) => [
        String(database.location()).replace(/.*\//, ""),
        prepare.call(database, "PRAGMA synchronous").get()?.["synchronous"],
      ])
      .toSorted((left, right) => (String(left[0]) < String(right[0]) ? -1 : 1));
  } finally {
    DatabaseSync.prototype.prepare = prepare;
    store.close();
  }
}

describe("what a committed write survives", () => {
  it("is a power cut with power-loss, in every generation of the file: each commit waits for the disk", () => {
    assert.deepEqual(waitsIn("power-loss"), [
      ["api.1.db", FULL],
      ["api.db", FULL],
    ]);
  });

  it("is the death of the process otherwise", () => {
    const wanted = [
      ["api.1.db", NORMAL],
      ["api.db", NORMAL],
    ];
    assert.deepEqual(waitsIn("process-crash"), wanted);
    assert.deepEqual(waitsIn(undefined), wanted);
  });
});
