import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import { keepPrivate } from "./private-file.ts";
import { openFile, tables } from "./sqlite-file.ts";
import type { SqliteStoreOptions } from "./sqlite-file.ts";
import { SqliteTables } from "./sqlite-tables.ts";
import type { TextWrite } from "./sqlite-tables.ts";

/** Rows that one write brings along: some 0.2 ms, and 10,000 objects are copied with the next 625 writes. */
const rowsPerWrite = 16;
/** So many writes may wait for the disk; one that takes longer than all of them is not waited for. */
const mostMeanwhile = 50_000;

/**
 * The next generation of the data file, written beside the one that serves so that no request waits for it.
 *
 * ```
 *   copying    each write to the file that serves is repeated here and brings a few more rows along, into api.1.db.tmp
 *      │ no row is left
 *   settling   a thread brings the file to the disk; writes of meanwhile wait in memory
 *      │ it is on the disk
 *   serving    named api.1.db, it takes the writes of meanwhile and the mark of a complete file in one transaction of its log
 *
 *   any of them fails (no room, no right): `failed`, and the file that serves goes on alone
 * ```
 * What must never break: until the mark is in the log the file before counts and has every write; from then on this one has.
 */
export class NextGeneration {
  state: "copying" | "settling" | "ready" | "failed" = "copying";
  readonly #file: string;
  readonly #options: SqliteStoreOptions;
  readonly #unfinished: string;
  readonly #rows: StatementSync;
  readonly #copy: StatementSync;
  readonly #target: SqliteTables;
  readonly #meanwhile: TextWrite[] = [];
  #after: readonly [resource: string, key: string] = ["", ""];

  /** @throws Error where the file cannot be made */
  constructor(source: DatabaseSync, file: string, options: SqliteStoreOptions) {
    this.#file = file;
    this.#options = options;
    this.#unfinished = `${file}.tmp`;
    for (const name of [file, `${file}-wal`, this.#unfinished]) rmSync(name, { force: true });
    keepPrivate(this.#unfinished);
    const database = new DatabaseSync(this.#unfinished);
    // It is thrown away if anything happens to it before it is complete: nothing of it must survive.
    database.exec("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF");
    // The counter of deletions is not copied: the write with which the file begins to count has the highest revision.
    database.exec(tables);
    this.#target = new SqliteTables(database);
    this.#copy = database.prepare("INSERT OR IGNORE INTO objects (resource, key, revision, object) VALUES (?, ?, ?, ?)");
    this.#rows = source.prepare(
      `SELECT resource, key, revision, object FROM objects WHERE (resource, key) > (?, ?) ORDER BY resource, key LIMIT ${rowsPerWrite}`,
    );
  }

  /** Repeats a write that the file that serves has taken, and goes on. Never throws. */
  follow(write: TextWrite): void {
    if (this.state === "failed") return;
    if (this.state !== "copying") {
      if (this.#meanwhile.push(write) > mostMeanwhile) this.drop();
      return;
    }
    try {
      this.#target.together(() => {
        this.#target.writeInside(write);
        for (const row of this.#rows.all(...this.#after)) {
          const [resource, key] = [String(row["resource"]), String(row["key"])];
          this.#copy.run(resource, key, Number(row["revision"]), String(row["object"]));
          this.#after = [resource, key];
        }
      });
      if (this.#rows.all(...this.#after).length === 0) void this.#settle();
    } catch {
      this.drop();
    }
  }

  /** Opens the complete file as the one that serves from now on. @throws Error where that cannot be; then `drop` it */
  serve(): DatabaseSync {
    renameSync(this.#unfinished, this.#file);
    if (this.#options.durability === "power-loss") syncFolder(dirname(this.#file));
    return openFile(this.#file, this.#options, (database) => {
      const into = new SqliteTables(database);
      for (const write of this.#meanwhile) into.writeInside(write);
    });
  }

  /** Leaves nothing of it behind. */
  drop(): void {
    this.state = "failed";
    if (this.#target.database.isOpen) this.#target.database.close();
    for (const name of [this.#file, `${this.#file}-wal`, this.#unfinished]) rmSync(name, { force: true });
  }

  async #settle(): Promise<void> {
    this.state = "settling";
    try {
      // The switch to a log changes the file's header: before the file is brought to the disk, and before anybody can copy it.
      this.#target.database.exec("PRAGMA journal_mode=WAL");
      this.#target.database.close();
      const handle = await open(this.#unfinished, "r");
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
      if (this.state === "settling") this.state = "ready";
    } catch {
      // Also when it was dropped meanwhile, and its file with it.
      this.drop();
    }
  }
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
