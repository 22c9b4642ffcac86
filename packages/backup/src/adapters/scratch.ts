import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";

import { createFileSpool } from "@talos-operator/etcd-snapshot/files";

import type { Scratch, ScratchFile } from "../worker/deps.ts";

/** A restore writes the database once more, and a log beside it. */
const ROOM_FACTOR = 2.2;
const ROOM_BYTES = 128 * 1024 * 1024;

/** Folders of their own below `folder`, readable by this process's user alone. */
export function createScratch(folder: string): Scratch & { close(): void } {
  const own = mkdtempSync(join(folder, "talos-operator-backup-"));
  let files = 0;
  const next = (name: string): string => join(own, `${name}-${(files += 1)}`);
  return {
    spool: () => createFileSpool({ path: next("spool") }),
    file(bytes) {
      const { bavail, bsize } = statfsSync(own);
      return bavail * bsize < bytes * ROOM_FACTOR + ROOM_BYTES ? undefined : createScratchFile(next("snapshot"));
    },
    close: () => rmSync(own, { recursive: true, force: true }),
  };
}

function createScratchFile(path: string): ScratchFile {
  const file = openSync(path, "wx", 0o600);
  return {
    path,
    write(chunk) {
      for (let at = 0; at < chunk.length;) at += writeSync(file, chunk, at);
    },
    close() {
      closeSync(file);
      rmSync(path, { force: true });
    },
  };
}
