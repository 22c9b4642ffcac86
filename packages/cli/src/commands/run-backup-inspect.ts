import { formOf, HEAD_BYTES, parseBackupKey } from "@talos-operator/backup/reading";
import { createTrailerCheck, readSnapshot } from "@talos-operator/etcd-snapshot";
import type { TrailerFault } from "@talos-operator/etcd-snapshot";
import { openSnapshotFile } from "@talos-operator/etcd-snapshot/files";
import type { SnapshotFile } from "@talos-operator/etcd-snapshot/files";
import { askedBackup } from "../backups/asked-backup.ts";
import { found, identityOf, maxBytesOf, readAll } from "../backups/asked-bytes.ts";
import { DAMAGED, explained } from "../backups/explained.ts";
import { inspectionText } from "../backups/inspection-text.ts";
import type { Inspection } from "../backups/inspection.ts";
import { isFolder, withBackup, type OpenBackup } from "../backups/open-asked.ts";
import { createProgress } from "../backups/progress.ts";
import { CliError, errorCode } from "../cli-error.ts";
import { givenString, requiredString, type CommandContext, type FlagValues } from "../command.ts";
import { createScratchSnapshot } from "../files/scratch-snapshot.ts";
import { outputForm } from "./asked-object.ts";

/** Bytes that are read at once. */
const PIECE = 1 << 20;
/** Databases are whole sectors. */
const SECTOR = 512;

/** @throws CliError when there is no such backup, it cannot be read, or it is no snapshot that could be restored */
export async function runBackupInspect(flags: FlagValues, context: CommandContext): Promise<void> {
  const form = outputForm(requiredString(flags, "output"));
  const asked = requiredString(flags, "backup");
  const inspection = await explained(context.signal, () => inspect(asked, flags, context));
  context.stdout.write(form === "json" ? `${JSON.stringify(inspection, undefined, 2)}\n` : inspectionText(inspection));
}

async function inspect(asked: string, flags: FlagValues, context: CommandContext): Promise<Inspection> {
  const target = askedBackup(asked);
  const mayBePlain = target.kind === "path" && !isFolder(target.path) && !isNamed(target.path);
  const plain = mayBePlain ? inspectPlain(target.path) : undefined;
  return plain ?? withBackup(asked, flags, context, (backup) => inspectStored(asked, backup, flags, context));
}

/** Its name says more than its bytes: a part of a backup of ours, or keys in clear, which nobody opens here. */
function isNamed(path: string): boolean {
  return parseBackupKey(path.replaceAll("\\", "/")) !== undefined;
}

/** A plain snapshot on disk is read where it lies; `undefined` for one that has to be unpacked. */
function inspectPlain(file: string): Inspection | undefined {
  const source = opened(file);
  if (source === undefined) return undefined;
  try {
    const form = formOf(source.read(0, HEAD_BYTES));
    if (form !== "database" && form !== "unknown" && form !== "empty") return undefined;
    const check = createTrailerCheck();
    for (let at = 0; at < source.size; at += PIECE) check.write(source.read(at, PIECE));
    const { fault, size, sha256 } = check.finish();
    if (fault === "too-short" || fault === "wrong-digest") throw damaged(file, fault);
    if (fault === "no-trailer" && form === "database" && size % SECTOR !== 0) throw damaged(file, "too-short");
    return { file, size, sha256, hasTrailer: fault === undefined, ...readSnapshot(source) };
  } finally {
    source.close();
  }
}

async function inspectStored(asked: string, open: OpenBackup, flags: FlagValues, { signal, stderr }: CommandContext): Promise<Inspection> {
  const identity = identityOf(flags);
  const maxBytes = maxBytesOf(flags);
  const progress = createProgress(stderr);
  try {
    progress.doing(`asking ${open.store.place}`);
    const backup = await found(open, signal);
    const scratch = createScratchSnapshot(givenString(flags, "scratch-directory"));
    try {
      const { size, sha256, hasTrailer, storedSize, storedSha256, layers } = await readAll(
        open,
        backup,
        { signal, identity, maxBytes, progress },
        (chunk) => scratch.write(chunk),
      );
      const contents = readSnapshot(scratch.source());
      const { facts, signature } = backup;
      if (facts !== undefined && facts.revision !== contents.revision)
        throw new CliError(
          `${backup.object} is at revision ${contents.revision}, and its manifest names ${facts.revision}`,
          "Do not restore it: take another backup.",
          { exitCode: DAMAGED },
        );
      return {
        file: asked,
        size,
        sha256,
        hasTrailer,
        stored: {
          place: open.store.place,
          object: backup.object,
          size: storedSize,
          sha256: storedSha256,
          layers,
          writtenBy: backup.writtenBy,
          signature,
          ...(signature === "unchecked" ? { uncheckedBecause: open.uncheckedBecause } : {}),
          hasKeys: backup.keysObject !== undefined,
          ...(facts === undefined ? {} : { facts }),
        },
        ...contents,
      };
    } finally {
      scratch.close();
    }
  } finally {
    progress.end();
  }
}

/** `undefined`: there is none; a backup may stand there by another name. */
function opened(file: string): SnapshotFile | undefined {
  try {
    return openSnapshotFile(file);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw new CliError(`${file} cannot be read (${errorCode(error) ?? "unknown"})`, "Name a file that holds a snapshot.", { cause: error });
  }
}

function damaged(file: string, fault: Exclude<TrailerFault, "no-trailer">): CliError {
  return fault === "too-short"
    ? new CliError(`${file} is too short for a snapshot, or cut off`, "Fetch it again: its end is missing.", { exitCode: DAMAGED })
    : new CliError(
        `${file} is damaged: its bytes are not those that etcd sent, the SHA-256 at its end is another one`,
        "Fetch it again, or inspect another snapshot. Do not restore this one.",
        { exitCode: DAMAGED },
      );
}
