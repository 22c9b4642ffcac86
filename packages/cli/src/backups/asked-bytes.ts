import { systemTimers } from "@talos-operator/adapters";
import { backupCodec } from "@talos-operator/backup/adapters";
import { findBackup, readBackup, ReadFault } from "@talos-operator/backup/reading";
import type { FoundBackup, ReadBackup } from "@talos-operator/backup/reading";
import { givenString, type FlagValues } from "../command.ts";
import { readInput } from "../files/input-files.ts";
import type { OpenBackup } from "./open-asked.ts";
import type { Progress } from "./progress.ts";

/** @throws CliError where the file cannot be read */
export function identityOf(flags: FlagValues): string | undefined {
  const file = givenString(flags, "identity");
  return file === undefined ? undefined : readInput(file);
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
  options: { readonly signal: AbortSignal; readonly identity: string | undefined; readonly progress: Progress },
  write: (chunk: Uint8Array) => void | Promise<void>,
): Promise<ReadBackup> {
  const { signal, identity, progress } = options;
  progress.doing(`reading ${backup.object}`);
  return readBackup(
    store,
    backup,
    {
      codec: backupCodec,
      timers: systemTimers,
      signal,
      ...(identity === undefined ? {} : { identity }),
      onProgress: (bytes) => progress.at(bytes, backup.storedSize),
    },
    write,
  );
}
