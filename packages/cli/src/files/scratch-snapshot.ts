import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SnapshotSource } from "@talos-operator/etcd-snapshot";
import { CliError, errorCode } from "../cli-error.ts";

/** A plain snapshot that nobody else sees: it holds every Secret of a cluster. */
export interface ScratchSnapshot {
  write(chunk: Uint8Array): void;
  /** What was written so far. */
  source(): SnapshotSource;
  close(): void;
}

/**
 * A file without a name, where the system has that: whatever ends this process ends the file as well. Elsewhere `close` removes it.
 *
 * @param folder with room for a plain snapshot; default is the system's temporary one
 * @throws CliError where nothing can be written
 */
export function createScratchSnapshot(folder: string = tmpdir()): ScratchSnapshot {
  const refused = (error: unknown): CliError =>
    new CliError(
      `${folder} does not take the plain snapshot (${errorCode(error) ?? "unknown"})`,
      "Name a folder with room for it and a disk of yours with --scratch-directory.",
      { cause: error },
    );
  let own: string;
  let file: number;
  try {
    own = mkdtempSync(join(folder, "talos-operator-inspect-"));
    file = openSync(join(own, "snapshot"), "wx+", 0o600);
  } catch (error) {
    throw refused(error);
  }
  if (process.platform !== "win32") rmSync(own, { recursive: true, force: true });
  return {
    write(chunk) {
      try {
        for (let at = 0; at < chunk.length;) at += writeSync(file, chunk, at);
      } catch (error) {
        throw refused(error);
      }
    },
    source() {
      const { size } = fstatSync(file);
      return {
        size,
        isStable: true,
        read(offset, length) {
          const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - offset)));
          for (let filled = 0; filled < bytes.length;) {
            const count = readSync(file, bytes, filled, bytes.length - filled, offset + filled);
            if (count === 0) return bytes.subarray(0, filled);
            filled += count;
          }
          return bytes;
        },
      };
    },
    close() {
      closeSync(file);
      rmSync(own, { recursive: true, force: true });
    },
  };
}
