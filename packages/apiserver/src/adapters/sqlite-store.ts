import { accessSync, constants, existsSync, mkdirSync, rmSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { ApiServerError } from "../api-server-error.ts";
import type { JsonObject } from "../json.ts";
import type { Store, StoreContent, StoreWrite } from "../store/store.ts";
import { damaged, openingFailed } from "./sqlite-errors.ts";
import { fileOf, openNewest, removeOlder, writeNext } from "./sqlite-file.ts";
import type { SqliteStoreOptions } from "./sqlite-file.ts";
import { openLock } from "./sqlite-lock.ts";
import { SqliteTables } from "./sqlite-tables.ts";

const defaultMaxLogBytes = 64 * 1024 * 1024;
/** How many writes pass between two looks at the size of the log. */
const writesPerLook = 256;
/** With less room than a few pages of the log nothing can be written. */
const leastFreeBytes = 64 * 1024;
/** A write that failed is tried with one as large, up to this. */
const largestTry = 1024 * 1024;

/**
 * Opens or creates a store in one SQLite file in WAL mode. Its folder is made when it is missing; its files are the owner's alone.
 *
 * ```
 * api.db  + api.db-wal     the file stands still, every write goes to the end of the log
 *   │ the log is long: all of it is written anew as api.1.db while requests wait
 *   ▼
 * api.1.db + api.1.db-wal  serves from now on; api.db stays as it was until the next such moment
 * ```
 * So the folder can be copied file by file at any moment, with `cp -r`, while it is written to: the copy holds every write that was
 * acknowledged before the copy began. The newest generation in a folder is the one that counts.
 *
 * An exclusive lock on `<file>.lock` is held for as long as the store lives, so one folder has one writer; the operating system releases it
 * when the process dies, however it dies.
 *
 * @throws ApiServerError `DATA_FOLDER_IN_USE`, `DATA_FOLDER_NOT_WRITABLE`, `DATA_FILE_DAMAGED`, `DATA_FILE_NEWER`
 */
export function createSqliteStore(path: string, options: SqliteStoreOptions = {}): Store {
  let lock: { close(): void } | undefined;
  try {
    // One level: Node's own `recursive` never returns where a folder cannot be made below one that is there, as below /proc.
    if (!existsSync(dirname(path))) mkdirSync(dirname(path), { mode: 0o700 });
    lock = openLock(`${path}.lock`);
    const { number, database } = openNewest(path, options);
    removeOlder(path, number);
    return new SqliteStore(path, options, lock, number, database);
  } catch (cause) {
    lock?.close();
    throw openingFailed(path, cause);
  }
}

/** One open generation. */
interface Generation {
  readonly number: number;
  readonly file: string;
  readonly tables: SqliteTables;
}

class SqliteStore implements Store {
  readonly #path: string;
  readonly #options: SqliteStoreOptions;
  readonly #lock: { close(): void };
  #current: Generation;
  /** The one before, still open: closing it would write into its file, which somebody may be copying. */
  #previous: Generation | undefined;
  #writesSinceLook = 0;
  #maxLogBytes: number;
  /** The last write, when it failed. */
  #failed: { readonly bytes: number; readonly why: string } | undefined;
  #isClosed = false;

  constructor(path: string, options: SqliteStoreOptions, lock: { close(): void }, number: number, database: DatabaseSync) {
    this.#path = path;
    this.#options = options;
    this.#lock = lock;
    this.#current = { number, file: fileOf(path, number), tables: new SqliteTables(database) };
    this.#maxLogBytes = options.maxLogBytes ?? defaultMaxLogBytes;
  }

  load(): StoreContent {
    const { file } = this.#current;
    const { database } = this.#current.tables;
    try {
      const [check] = database.prepare("PRAGMA quick_check(1)").all();
      if (check?.["quick_check"] !== "ok") throw damaged(file, new Error(String(check?.["quick_check"])));
      const counter = database
        .prepare("SELECT max((SELECT revision FROM counter WHERE id = 1), (SELECT coalesce(max(revision), 0) FROM objects)) AS revision")
        .get();
      const rows = database.prepare("SELECT resource, key, revision, object FROM objects").all();
      return {
        revision: Number(counter?.["revision"] ?? 0),
        entries: rows.map((row) => ({
          resource: String(row["resource"]),
          key: String(row["key"]),
          revision: Number(row["revision"]),
          object: JSON.parse(String(row["object"])) as JsonObject,
        })),
      };
    } catch (cause) {
      throw cause instanceof SyntaxError ? damaged(file, cause) : openingFailed(file, cause);
    }
  }

  commit({ resource, key, revision, object }: StoreWrite): void {
    const write = { resource, key, revision, text: object === undefined ? undefined : JSON.stringify(object) };
    try {
      this.#current.tables.write(write);
      this.#failed = undefined;
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      this.#failed = { bytes: write.text?.length ?? 0, why };
      throw new ApiServerError(
        "STORE_WRITE_FAILED",
        `${this.#path} took no write (${why}); free space or correct the permissions, nothing was stored and the request may be repeated`,
        { cause, retry: "backoff" },
      );
    }
    if (++this.#writesSinceLook >= writesPerLook) this.#rewriteIfLong();
  }

  problem(): string | undefined {
    const folder = dirname(this.#path);
    try {
      // Says "read-only" to root as well, where a file system is.
      accessSync(folder, constants.W_OK);
      const { bavail, bfree, blocks, bsize } = statfsSync(folder);
      const free = (process.geteuid?.() === 0 ? bfree : bavail) * bsize;
      if (blocks > 0 && free < leastFreeBytes) return `${folder} has ${free} bytes free`;
      if (this.#failed !== undefined) this.#current.tables.tryOut(Math.min(this.#failed.bytes, largestTry));
      this.#failed = undefined;
      return undefined;
    } catch (cause) {
      return cause instanceof Error ? cause.message : String(cause);
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#current.tables.database.close();
    this.#drop(this.#previous);
    this.#lock.close();
  }

  #rewriteIfLong(): void {
    this.#writesSinceLook = 0;
    const { tables, number } = this.#current;
    const log = statSync(`${this.#current.file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (log < this.#maxLogBytes) return;
    const file = fileOf(this.#path, number + 1);
    try {
      const older = this.#previous;
      this.#previous = undefined;
      this.#drop(older);
      const opened = new SqliteTables(writeNext(tables.database, file, this.#options));
      this.#previous = this.#current;
      this.#current = { number: number + 1, file, tables: opened };
      this.#maxLogBytes = Math.max(this.#options.maxLogBytes ?? defaultMaxLogBytes, 2 * statSync(file).size);
    } catch {
      // No room for a second file, for one: every write is stored, the log just goes on growing, and the next attempt is further away.
      this.#maxLogBytes *= 2;
    }
  }

  #drop(dropped: Generation | undefined): void {
    if (dropped === undefined) return;
    // In this order: closing a file that is still there would first write all of its log into it.
    rmSync(dropped.file, { force: true });
    dropped.tables.database.close();
    rmSync(`${dropped.file}-wal`, { force: true });
  }
}
