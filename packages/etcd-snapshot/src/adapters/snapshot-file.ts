import { closeSync, fstatSync, openSync, readSync } from "node:fs";

import type { SnapshotSource } from "../reader/source.ts";

export interface SnapshotFile extends SnapshotSource {
  close(): void;
}

/** A snapshot or a database on disk. Reading waits for the disk: not for a process that serves others. Throws what the system says. */
export function openSnapshotFile(path: string): SnapshotFile {
  const file = openSync(path, "r");
  const { size } = fstatSync(file);
  return {
    size,
    isStable: true,
    read(offset, length) {
      const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - offset)));
      let filled = 0;
      while (filled < bytes.length) {
        const count = readSync(file, bytes, filled, bytes.length - filled, offset + filled);
        if (count === 0) break;
        filled += count;
      }
      return bytes.subarray(0, filled);
    },
    close: () => closeSync(file),
  };
}
