import { DatabaseSync } from "node:sqlite";
import { keepPrivate } from "./private-file.ts";

/**
 * Takes a lock that is held until it is closed or the process dies, however it dies. Nothing is written to its file, so a full disk is no hindrance.
 *
 * @throws Error of SQLite, `SQLITE_BUSY` when another process has it
 */
export function openLock(file: string): { close(): void } {
  keepPrivate(file);
  const lock = new DatabaseSync(file, { timeout: 0 });
  try {
    // An exclusive transaction prepares the first page of an empty file, and would write a journal for that.
    lock.exec("PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE");
    return lock;
  } catch (err) {
    lock.close();
    throw err;
  }
}
