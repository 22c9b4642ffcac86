import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";

import { SnapshotError } from "../errors.ts";
import type { Spool } from "../statistics/spool.ts";

export interface FileSpoolOptions {
  /** A file that is not there yet, on a disk with room. */
  readonly path: string;
  /** More than this is `SPOOL_FAILED`. Default 4 GiB. */
  readonly limitBytes?: number;
}

export interface FileSpool extends Spool {
  /** Bytes that were put aside. */
  readonly size: number;
  /** Removes the file. */
  close(): void;
}

/** A spool on disk, readable by its owner alone: it holds names of members, and hashes of keys. A system's failure is the `cause` of `SPOOL_FAILED`. */
export function createFileSpool({ path, limitBytes = 4 * 1024 ** 3 }: FileSpoolOptions): FileSpool {
  const file = attempt(() => openSync(path, "wx+", 0o600));
  let size = 0;
  return {
    get size() {
      return size;
    },
    append(bytes) {
      if (size + bytes.length > limitBytes) throw new SnapshotError("SPOOL_FAILED", `more than ${limitBytes} bytes to put aside`);
      for (let done = 0; done < bytes.length;) {
        const from = done;
        done += attempt(() => writeSync(file, bytes, from, bytes.length - from, size + from));
      }
      size += bytes.length;
    },
    read(offset, into) {
      let filled = 0;
      while (filled < into.length) {
        const from = filled;
        const count = attempt(() => readSync(file, into, from, into.length - from, offset + from));
        if (count === 0) break;
        filled += count;
      }
      return filled;
    },
    close() {
      closeSync(file);
      rmSync(path, { force: true });
    },
  };
}

function attempt<T>(call: () => T): T {
  try {
    return call();
  } catch (cause) {
    throw new SnapshotError("SPOOL_FAILED", `the spool cannot be used (${(cause as NodeJS.ErrnoException).code ?? "no code"})`, { cause });
  }
}
