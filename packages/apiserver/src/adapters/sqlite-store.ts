import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import { ApiServerError } from "../api-server-error.ts";
import type { JsonObject } from "../json.ts";
import type { Store, StoreContent, StoreWrite } from "../store/store.ts";

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
}

/** Version of the table layout, kept in the file as `user_version`. */
const layoutVersion = 1;
/** "TalA": marks the file as ours. */
const applicationId = 0x54616c41;

/**
 * Opens or creates a store in one SQLite file in WAL mode. Missing folders are created.
 *
 * The connection holds an exclusive lock on the file for as long as it lives, so one file has one writer; the operating system
 * releases the lock when the process dies, however it dies.
 *
 * @throws ApiServerError `DATA_FOLDER_IN_USE`, `DATA_FOLDER_NOT_WRITABLE`, `DATA_FILE_DAMAGED`, `DATA_FILE_NEWER`
 */
export function createSqliteStore(path: string, options: SqliteStoreOptions = {}): Store {
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    database = new DatabaseSync(path, { timeout: 0 });
    prepareFile(database, path, options);
    return new SqliteStore(database, path);
  } catch (cause) {
    database?.close();
    throw cause instanceof ApiServerError ? cause : openingFailed(path, cause);
  }
}

function prepareFile(database: DatabaseSync, path: string, options: SqliteStoreOptions): void {
  // Before the first access: then WAL needs no shared-memory file and the lock is held from the start.
  database.exec("PRAGMA locking_mode=EXCLUSIVE");
  database.exec("PRAGMA journal_mode=WAL");
  database.exec(`PRAGMA synchronous=${options.durability === "power-loss" ? "FULL" : "NORMAL"}`);
  // An exclusive transaction takes the lock now rather than with the first write.
  database.exec("BEGIN EXCLUSIVE");
  const found = pragmaNumber(database, "user_version");
  const owner = pragmaNumber(database, "application_id");
  if (found > layoutVersion) {
    throw new ApiServerError(
      "DATA_FILE_NEWER",
      `${path} was written by a newer version (layout ${found}, this one reads up to ${layoutVersion}); run that version, or name another data folder`,
    );
  }
  if (found !== 0 && owner !== applicationId) {
    throw new ApiServerError("DATA_FILE_DAMAGED", `${path} is an SQLite file of another program; name another data folder`);
  }
  database.exec(
    "CREATE TABLE IF NOT EXISTS objects (resource TEXT, key TEXT, revision INTEGER NOT NULL, object TEXT NOT NULL, PRIMARY KEY (resource, key)) WITHOUT ROWID",
  );
  database.exec("CREATE TABLE IF NOT EXISTS counter (id INTEGER PRIMARY KEY CHECK (id = 1), revision INTEGER NOT NULL)");
  database.exec("INSERT OR IGNORE INTO counter (id, revision) VALUES (1, 0)");
  database.exec(`PRAGMA application_id=${applicationId}`);
  database.exec(`PRAGMA user_version=${layoutVersion}`);
  database.exec("COMMIT");
  if (options.maxPages !== undefined) database.exec(`PRAGMA max_page_count=${Math.trunc(options.maxPages)}`);
}

function pragmaNumber(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
}

/** SQLite result codes, of which the low byte counts. @see https://www.sqlite.org/rescode.html */
const resultCodes = { busy: 5, readOnly: 8, ioError: 10, corrupt: 11, full: 13, cantOpen: 14, notADatabase: 26 } as const;

function resultCodeOf(cause: unknown): number {
  return cause instanceof Error && "errcode" in cause && typeof cause.errcode === "number" ? cause.errcode & 0xff : 0;
}

function openingFailed(path: string, cause: unknown): ApiServerError {
  switch (resultCodeOf(cause)) {
    case resultCodes.busy:
      return new ApiServerError("DATA_FOLDER_IN_USE", `another process works on ${path}; stop it, or name another folder with --data-dir`, {
        cause,
      });
    case resultCodes.corrupt:
    case resultCodes.notADatabase:
      return new ApiServerError(
        "DATA_FILE_DAMAGED",
        `${path} cannot be read as a data file; move it away or restore a copy, then start again`,
        { cause },
      );
    default: {
      const why = cause instanceof Error ? cause.message : String(cause);
      return new ApiServerError(
        "DATA_FOLDER_NOT_WRITABLE",
        `${path} cannot be opened for writing (${why}); free space, correct the permissions, or name another folder with --data-dir`,
        { cause },
      );
    }
  }
}

class SqliteStore implements Store {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #put: StatementSync;
  readonly #remove: StatementSync;
  readonly #count: StatementSync;
  #isClosed = false;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
    this.#put = database.prepare(
      "INSERT INTO objects (resource, key, revision, object) VALUES (?, ?, ?, ?) ON CONFLICT (resource, key) DO UPDATE SET revision = excluded.revision, object = excluded.object",
    );
    this.#remove = database.prepare("DELETE FROM objects WHERE resource = ? AND key = ?");
    this.#count = database.prepare("UPDATE counter SET revision = ? WHERE id = 1");
  }

  load(): StoreContent {
    try {
      const counter = this.#database.prepare("SELECT revision FROM counter WHERE id = 1").get();
      const rows = this.#database.prepare("SELECT resource, key, revision, object FROM objects").all();
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
      throw openingFailed(this.#path, cause);
    }
  }

  commit(write: StoreWrite): void {
    try {
      this.#database.exec("BEGIN");
      if (write.object === undefined) {
        this.#remove.run(write.resource, write.key);
      } else {
        this.#put.run(write.resource, write.key, write.revision, JSON.stringify(write.object));
      }
      this.#count.run(write.revision);
      this.#database.exec("COMMIT");
    } catch (cause) {
      this.#rollBack();
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new ApiServerError(
        "STORE_WRITE_FAILED",
        `${this.#path} took no write (${why}); free space or correct the permissions, nothing was stored and the request may be repeated`,
        { cause, retry: "backoff" },
      );
    }
  }

  close(): void {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#database.close();
    }
  }

  #rollBack(): void {
    if (this.#database.isOpen && this.#database.isTransaction) {
      this.#database.exec("ROLLBACK");
    }
  }
}
