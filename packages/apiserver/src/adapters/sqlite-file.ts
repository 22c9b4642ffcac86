import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ApiServerError } from "../api-server-error.ts";
import { keepPrivate } from "./private-file.ts";

/** How much a committed write survives. */
export type Durability =
  /** Death of the process at any moment (`synchronous=NORMAL`). The default. */
  | "process-crash"
  /** Loss of power as well: every commit waits for the disk (`synchronous=FULL`). */
  | "power-loss";

/** Settings of a SQLite store. */
export interface SqliteStoreOptions {
  readonly durability?: Durability;
  /** Largest size of the file in pages of 4 KiB; a write beyond it is answered as one to a full disk. Default: none. */
  readonly maxPages?: number;
  /** Size of the log beside the file from which on both are rewritten as the next generation. Default 64 MiB. */
  readonly maxLogBytes?: number;
}

/**
 * Version of the table layout, kept in the file as `user_version`. Version 2 has the tables of 1, but its counter is written with deletions only: the
 * highest revision is that of the counter or of an object. Files of version 1 are taken as they are.
 */
const layoutVersion = 2;
/** "TalA": marks the file as ours. */
const applicationId = 0x54616c41;
/** Makes the two tables where they are not there. */
const tables =
  "CREATE TABLE IF NOT EXISTS objects (resource TEXT, key TEXT, revision INTEGER NOT NULL, object TEXT NOT NULL, PRIMARY KEY (resource, key)) WITHOUT ROWID;" +
  "CREATE TABLE IF NOT EXISTS counter (id INTEGER PRIMARY KEY CHECK (id = 1), revision INTEGER NOT NULL)";

/** `api.db` → 0, `api.3.db` → 3; `undefined` for other names. */
function generationOf(path: string, name: string): number | undefined {
  const stem = basename(path).replace(/\.db$/, "");
  if (!name.startsWith(stem)) return undefined;
  const rest = /^(?:\.(\d{1,9}))?(?:\.db)?$/.exec(name.slice(stem.length));
  return rest === null || (rest[1] === undefined && name !== basename(path)) ? undefined : Number(rest[1] ?? 0);
}

/** The file of a generation. */
export function fileOf(path: string, generation: number): string {
  return generation === 0 ? path : join(dirname(path), `${basename(path).replace(/\.db$/, "")}.${generation}.db`);
}

/** Generations whose files are in the folder, the newest first. */
function generationsIn(path: string): readonly number[] {
  const found = readdirSync(dirname(path)).map((name) => generationOf(path, name));
  return found.filter((number) => number !== undefined).toSorted((left, right) => right - left);
}

/** Removes the files of generations before this one, and what was left half made. */
export function removeOlder(path: string, generation: number): void {
  for (const name of readdirSync(dirname(path))) {
    const base = name.replace(/(-wal|-journal|-shm|\.tmp)$/, "");
    const found = generationOf(path, base);
    if (found !== undefined && (found < generation || name.endsWith(".tmp"))) rmSync(join(dirname(path), name), { force: true });
  }
}

/** Opens one file, its tables and its lock. A file without our mark gets it. */
function openFile(file: string, options: SqliteStoreOptions): DatabaseSync {
  const database = connect(file, options);
  closedOnFailure(database, () => prepareFile(database, file, options));
  return database;
}

/**
 * Writes all that `database` holds into the file of the next generation, and opens it.
 *
 * ```
 *   api.1.db.tmp   everything, without the mark of a complete file; brought to the disk
 *   api.1.db       the same under its name
 *   the mark       in its log: from this moment the file counts, and not the one before
 * ```
 * @throws Error when it cannot be made or opened; then the file before counts, whatever is left of this one
 */
export function writeNext(database: DatabaseSync, file: string, options: SqliteStoreOptions): DatabaseSync {
  removeGeneration(file);
  try {
    const unfinished = `${file}.tmp`;
    keepPrivate(unfinished);
    database.prepare("VACUUM INTO ?").run(unfinished);
    const made = new DatabaseSync(unfinished);
    // The switch to a log changes the file's header: before the file is brought to the disk, and before anybody can copy it.
    closedOnFailure(made, () => made.exec("PRAGMA user_version=0; PRAGMA journal_mode=WAL"));
    made.close();
    syncToDisk(unfinished);
    renameSync(unfinished, file);
    if (options.durability === "power-loss") syncToDisk(dirname(file));
    return openFile(file, options);
  } catch (err) {
    removeGeneration(file);
    throw err;
  }
}

function removeGeneration(file: string): void {
  for (const name of [file, `${file}-wal`, `${file}.tmp`]) rmSync(name, { force: true });
}

function syncToDisk(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Opens the newest generation of the folder that is complete, or a new first one. What was left half made is removed.
 *
 * @throws Error as SQLite says it, or ApiServerError
 */
export function openNewest(path: string, options: SqliteStoreOptions): { readonly number: number; readonly database: DatabaseSync } {
  const newest = generationsIn(path)[0] ?? 0;
  const file = fileOf(path, newest);
  const database = connect(file, options);
  if (newest === 0 || closedOnFailure(database, isMarked)) {
    closedOnFailure(database, () => prepareFile(database, file, options));
    return { number: newest, database };
  }
  // A later generation counts from the moment in which its log says so; this one never came to it, and the one before has everything.
  database.close();
  removeGeneration(file);
  return openNewest(path, options);
}

const isMarked = (database: DatabaseSync): boolean => pragmaNumber(database, "user_version") !== 0;

function closedOnFailure<T>(database: DatabaseSync, work: (database: DatabaseSync) => T): T {
  try {
    return work(database);
  } catch (err) {
    database.close();
    throw err;
  }
}

function connect(file: string, options: SqliteStoreOptions): DatabaseSync {
  keepPrivate(file);
  const database = new DatabaseSync(file, { timeout: 0 });
  closedOnFailure(database, () => {
    // Before the first access: then WAL needs no shared-memory file and the lock is held from the start.
    database.exec("PRAGMA locking_mode=EXCLUSIVE");
    database.exec("PRAGMA journal_mode=WAL");
    database.exec(`PRAGMA synchronous=${options.durability === "power-loss" ? "FULL" : "NORMAL"}`);
    // The file itself is never written while it serves, so that file and log together are a good copy at any moment; see `sqlite-store.ts`.
    database.exec("PRAGMA wal_autocheckpoint=0");
  });
  return database;
}

function prepareFile(database: DatabaseSync, file: string, options: SqliteStoreOptions): void {
  // An exclusive transaction takes the lock now rather than with the first write.
  database.exec("BEGIN EXCLUSIVE");
  const found = pragmaNumber(database, "user_version");
  const owner = pragmaNumber(database, "application_id");
  if (found > layoutVersion) {
    throw new ApiServerError(
      "DATA_FILE_NEWER",
      `${file} was written by a newer version (layout ${found}, this one reads up to ${layoutVersion}); run that version, or name another data folder`,
    );
  }
  if (found !== 0 && owner !== applicationId) {
    throw new ApiServerError("DATA_FILE_DAMAGED", `${file} is an SQLite file of another program; name another data folder`);
  }
  if (found < layoutVersion) {
    database.exec(`${tables}; INSERT OR IGNORE INTO counter (id, revision) VALUES (1, 0)`);
    database.exec(`PRAGMA application_id=${applicationId}`);
    database.exec(`PRAGMA user_version=${layoutVersion}`);
  }
  database.exec("COMMIT");
  if (options.maxPages !== undefined) database.exec(`PRAGMA max_page_count=${Math.trunc(options.maxPages)}`);
}

function pragmaNumber(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
}
