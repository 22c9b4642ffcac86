import { systemTimers } from "@talos-operator/adapters";
import { byteSize } from "@talos-operator/api";
import { backupCodec } from "@talos-operator/backup/adapters";
import { findBackup, readBackup, ReadFault } from "@talos-operator/backup/reading";
import type { FoundBackup, ReadBackup } from "@talos-operator/backup/reading";
import { CliError } from "../cli-error.ts";
import { givenString, type FlagValues } from "../command.ts";
import { readInput } from "../files/input-files.ts";
import type { OpenBackup } from "./open-asked.ts";
import type { Progress } from "./progress.ts";

/** @throws CliError where the file cannot be read */
export function identityOf(flags: FlagValues): string | undefined {
  const file = givenString(flags, "identity");
  return file === undefined ? undefined : readInput(file);
}

/** How many bytes may be unpacked of a snapshot whose size nobody vouches for. @throws CliError for what is no size */
export function maxBytesOf(flags: FlagValues): number | undefined {
  const text = givenString(flags, "max-size");
  if (text === undefined) return undefined;
  const bytes = byteSize(text);
  if (bytes === undefined) throw new CliError(`--max-size: ${JSON.stringify(text)} is no size`, "Write it as 8Gi.", { exitCode: 2 });
  return bytes;
}

/** What is known before the bytes are read. @throws ReadFault, ObjectStoreFailure */
export async function found({ store, key, manifestKey, expected }: OpenBackup, signal: AbortSignal): Promise<FoundBackup> {
  const backup = await findBackup(store, key, { signal, ...(manifestKey === undefined ? {} : { manifestKey }) });
  if (expected !== undefined && backup.facts !== undefined && backup.facts.sha256 !== expected.sha256)
    throw new ReadFault("foreign", `${key} names another snapshot than the status of the object does`);
  return backup;
}

/** Gives the plain bytes to `write` and says how far it is. @throws ReadFault, ObjectStoreFailure */
export function readAll(
  { store }: OpenBackup,
  backup: FoundBackup,
  options: {
    readonly signal: AbortSignal;
    readonly identity: string | undefined;
    readonly maxBytes: number | undefined;
    readonly progress: Progress;
  },
  write: (chunk: Uint8Array) => void | Promise<void>,
): Promise<ReadBackup> {
  const { signal, identity, maxBytes, progress } = options;
  progress.doing(`reading ${backup.object}`);
  return readBackup(
    store,
    backup,
    {
      codec: backupCodec,
      timers: systemTimers,
      signal,
      ...(identity === undefined ? {} : { identity }),
      ...(maxBytes === undefined ? {} : { maxBytes }),
      onProgress: (bytes) => progress.at(bytes, backup.storedSize),
    },
    write,
  );
}
