import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** How a file is replaced. */
export interface WriteWhole {
  /** Where it is written first: a name that is nobody else's, in the same folder. */
  readonly temporary: string;
  /** The text is on the disk before its name is: a power cut leaves the old file or the new one, never an empty one. */
  readonly durable: boolean;
}

/**
 * Makes or replaces a file that its owner alone may read, whole or not at all: no reader, crash or full disk leaves a part of it.
 *
 * @throws Error of `node:fs`; what is at `path` is then as it was
 */
export function writeWhole(path: string, text: string, { temporary, durable }: WriteWhole): void {
  // A leftover of a process that was killed. A link or another's file in its place is not written to.
  rmSync(temporary, { force: true });
  try {
    writeNew(temporary, text, { durable });
    renameSync(temporary, path);
    if (durable) syncFolder(dirname(path));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/**
 * Makes a file that its owner alone may read. One that is there stays as it is, and so does what a link in its place leads to.
 *
 * @throws Error of `node:fs`, `EEXIST` for a name that is taken; nothing new is then left behind
 */
export function writeNew(path: string, text: string, { durable }: Pick<WriteWhole, "durable">): void {
  const descriptor = openSync(path, "wx", 0o600);
  try {
    writeFileSync(descriptor, text);
    if (durable) fsyncSync(descriptor);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** Names are on the disk once their folder is. */
export function syncFolder(folder: string): void {
  // Windows opens no folders.
  if (process.platform === "win32") return;
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
