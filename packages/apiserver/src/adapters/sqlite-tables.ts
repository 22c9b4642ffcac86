import type { DatabaseSync, StatementSync } from "node:sqlite";

/** One write as a file takes it: the object as text, none where the entry goes away. */
interface TextWrite {
  readonly resource: string;
  readonly key: string;
  readonly revision: number;
  readonly text: string | undefined;
}

/** The prepared statements of one open file. */
export class SqliteTables {
  readonly database: DatabaseSync;
  readonly #put: StatementSync;
  readonly #remove: StatementSync;
  readonly #count: StatementSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;

  constructor(database: DatabaseSync) {
    this.database = database;
    this.#put = database.prepare(
      "INSERT INTO objects (resource, key, revision, object) VALUES (?, ?, ?, ?) ON CONFLICT (resource, key) DO UPDATE SET revision = excluded.revision, object = excluded.object",
    );
    this.#remove = database.prepare("DELETE FROM objects WHERE resource = ? AND key = ?");
    this.#count = database.prepare("UPDATE counter SET revision = ? WHERE id = 1");
    this.#begin = database.prepare("BEGIN");
    this.#commit = database.prepare("COMMIT");
  }

  /** One write as a transaction of its own. */
  write({ resource, key, revision, text }: TextWrite): void {
    if (text !== undefined) {
      // One statement is a transaction of its own; the row of an object carries the revision.
      this.#put.run(resource, key, revision, text);
      return;
    }
    this.#together(() => {
      this.#remove.run(resource, key);
      this.#count.run(revision);
    });
  }

  /**
   * A write of this size that leaves nothing behind.
   *
   * @throws Error of SQLite when there is no room for it
   */
  tryOut(bytes: number): void {
    this.#together(() => {
      // No resource has an empty name. What was never committed would not reach the disk, so it is committed without its row.
      this.#put.run("", "", 0, "x".repeat(bytes));
      this.#remove.run("", "");
      this.database.exec("UPDATE counter SET revision = revision WHERE id = 1");
    });
  }

  /** All or nothing. */
  #together(work: () => void): void {
    this.#begin.run();
    try {
      work();
      this.#commit.run();
    } catch (err) {
      if (this.database.isOpen && this.database.isTransaction) this.database.exec("ROLLBACK");
      throw err;
    }
  }
}
