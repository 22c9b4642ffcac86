import { mkdirSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import { ApiServerError } from "../api-server-error.ts";
import type { JsonObject } from "../json.ts";
import type { Store, StoreContent, StoreWrite } from "../store/store.ts";
import { damaged, openingFailed } from "./sqlite-errors.ts";
import { fileOf, newestGeneration, openFile, removeOlder, writeGeneration } from "./sqlite-file.ts";
import type { SqliteStoreOptions } from "./sqlite-file.ts";

const defaultMaxLogBytes = 64 * 1024 * 1024;
/** How many writes pass between two looks at the size of the log. */
const writesPerLook = 256;

/**
 * Opens or creates a store in one SQLite file in WAL mode. Missing folders are created.
 *
 * ```
 * api.db  + api.db-wal     the file stands still, every write goes to the end of the log
 *   │ the log is long: all of it is written anew as api.1.db, which appears when it is complete
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
  let lock: DatabaseSync | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    lock = new DatabaseSync(`${path}.lock`, { timeout: 0 });
    lock.exec("BEGIN EXCLUSIVE");
    const generation = newestGeneration(path);
    const database = openFile(fileOf(path, generation), options);
    removeOlder(path, generation);
    return new SqliteStore(path, options, lock, generation, database);
  } catch (cause) {
    lock?.close();
    throw openingFailed(path, cause);
  }
}

/** One open generation. */
interface Generation {
  readonly number: number;
  readonly file: string;
  readonly database: DatabaseSync;
  readonly put: StatementSync;
  readonly remove: StatementSync;
  readonly count: StatementSync;
  readonly begin: StatementSync;
  readonly commit: StatementSync;
}

function generation(number: number, file: string, database: DatabaseSync): Generation {
  return {
    number,
    file,
    database,
    put: database.prepare(
      "INSERT INTO objects (resource, key, revision, object) VALUES (?, ?, ?, ?) ON CONFLICT (resource, key) DO UPDATE SET revision = excluded.revision, object = excluded.object",
    ),
    remove: database.prepare("DELETE FROM objects WHERE resource = ? AND key = ?"),
    count: database.prepare("UPDATE counter SET revision = ? WHERE id = 1"),
    begin: database.prepare("BEGIN"),
    commit: database.prepare("COMMIT"),
  };
}

class SqliteStore implements Store {
  readonly #path: string;
  readonly #options: SqliteStoreOptions;
  readonly #lock: DatabaseSync;
  #current: Generation;
  /** The one before, still open: closing it would write into its file, which somebody may be copying. */
  #previous: Generation | undefined;
  #writesSinceLook = 0;
  #maxLogBytes: number;
  #isClosed = false;

  constructor(path: string, options: SqliteStoreOptions, lock: DatabaseSync, number: number, database: DatabaseSync) {
    this.#path = path;
    this.#options = options;
    this.#lock = lock;
    this.#current = generation(number, fileOf(path, number), database);
    this.#maxLogBytes = options.maxLogBytes ?? defaultMaxLogBytes;
  }

  load(): StoreContent {
    const { database, file } = this.#current;
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

  commit(write: StoreWrite): void {
    const { database, put, remove, count, begin, commit } = this.#current;
    try {
      if (write.object === undefined) {
        begin.run();
        remove.run(write.resource, write.key);
        count.run(write.revision);
        commit.run();
      } else {
        // One statement is a transaction of its own; its row carries the revision.
        put.run(write.resource, write.key, write.revision, JSON.stringify(write.object));
      }
    } catch (cause) {
      if (database.isOpen && database.isTransaction) database.exec("ROLLBACK");
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new ApiServerError(
        "STORE_WRITE_FAILED",
        `${this.#path} took no write (${why}); free space or correct the permissions, nothing was stored and the request may be repeated`,
        { cause, retry: "backoff" },
      );
    }
    if (++this.#writesSinceLook >= writesPerLook) this.#rotateIfLong();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#current.database.close();
    this.#drop(this.#previous);
    this.#lock.close();
  }

  #rotateIfLong(): void {
    this.#writesSinceLook = 0;
    const { file, database, number } = this.#current;
    const log = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (log < this.#maxLogBytes) return;
    const nextFile = fileOf(this.#path, number + 1);
    try {
      writeGeneration(database, nextFile);
      const next = generation(number + 1, nextFile, openFile(nextFile, this.#options));
      this.#drop(this.#previous);
      this.#previous = this.#current;
      this.#current = next;
      this.#maxLogBytes = Math.max(this.#options.maxLogBytes ?? defaultMaxLogBytes, 2 * statSync(nextFile).size);
    } catch {
      // No room for a second file, for one: the write itself is stored, the log just goes on growing, and the next look is further away.
      rmSync(nextFile, { force: true });
      this.#maxLogBytes *= 2;
    }
  }

  #drop(dropped: Generation | undefined): void {
    if (dropped === undefined) return;
    dropped.database.close();
    rmSync(dropped.file, { force: true });
  }
}
