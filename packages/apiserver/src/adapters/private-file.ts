import { chmodSync, closeSync, lstatSync, openSync } from "node:fs";

/**
 * Makes sure that an SQLite file is there and its owner's alone, before SQLite opens it; with its log beside it, which takes the file's permissions.
 *
 * SQLite itself makes files by the umask, and follows links. A file that is there is never opened here: closing it would give up every lock that this
 * process has on it.
 *
 * @throws Error of `node:fs`, or one that says that something else is in its place
 */
export function keepPrivate(file: string): void {
  if (!close(file))
    try {
      closeSync(openSync(file, "wx", 0o600));
    } catch (err) {
      // Made by somebody else meanwhile.
      if (!close(file)) throw err;
    }
  for (const suffix of ["-wal", "-shm", "-journal"]) close(`${file}${suffix}`);
}

/** False when there is no such file. */
function close(file: string): boolean {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  if (!stats.isFile()) throw new Error(`${file} is a link, or no file; remove it`);
  // Windows shows bits that mean nothing there.
  if ((stats.mode & 0o077) !== 0 && process.platform !== "win32") chmodSync(file, 0o600);
  return true;
}
