import { createStatisticsPass, createTrailerCheck, type SnapshotStatistics } from "@talos-operator/etcd-snapshot";

import { TaskFault } from "./fault.ts";
import type { Job } from "./job.ts";
import type { ScratchFile } from "./deps.ts";

export interface PlainSnapshot {
  /** Trailer included. */
  readonly size: number;
  readonly sha256: string;
  readonly statistics: SnapshotStatistics;
}

export interface PlainCheck {
  readonly write: (chunk: Uint8Array) => void;
  size(): number;
  /** False when the copy met a full disk, or there was none: what was written of it is of no use. */
  isCopied(): boolean;
  /** @throws TaskFault `snapshot-damaged`, SnapshotError */
  readonly finish: () => PlainSnapshot;
  /** Frees its room on disk. */
  close(): void;
}

const FAULTS = {
  "too-short": "it ends before its first page",
  "no-trailer": "it is cut off: its size is not that of whole pages and a checksum",
  "wrong-digest": "its SHA-256 is not that at its end",
} as const;

/** Looks at a plain snapshot while it streams by: checksum, statistics, size; and puts it into `copy` when there is one. */
export function createPlainCheck(
  { deps }: Job,
  options: { readonly maxBytes?: number; readonly copy?: ScratchFile | undefined } = {},
): PlainCheck {
  const spool = deps.scratch.spool();
  const trailer = createTrailerCheck();
  const statistics = createStatisticsPass({ spool });
  const { maxBytes = Number.MAX_SAFE_INTEGER } = options;
  let { copy } = options;
  let size = 0;
  return {
    write(chunk) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(`more than ${maxBytes} bytes`);
      trailer.write(chunk);
      statistics.write(chunk);
      try {
        copy?.write(chunk);
      } catch (error) {
        // Others fill the same disk, and etcd grows: the check is weaker then, and the snapshot as good.
        if (!isDiskFull(error)) throw error;
        copy = undefined;
      }
    },
    size: () => size,
    isCopied: () => copy !== undefined,
    finish() {
      const verdict = trailer.finish();
      if (verdict.fault !== undefined)
        throw new TaskFault(
          "snapshot-damaged",
          `The snapshot of ${size} bytes is no whole one: ${FAULTS[verdict.fault]}. It is thrown away; take another.`,
          {
            mayRepeat: true,
          },
        );
      return { size, sha256: verdict.sha256, statistics: statistics.finish() };
    },
    close: () => spool.close(),
  };
}

export function tooLarge(what: string): TaskFault {
  return new TaskFault("too-large", `The snapshot has ${what}. Raise the limit, or give etcd less to keep and defragment it.`);
}

function isDiskFull(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG";
}
