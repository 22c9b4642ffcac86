import { resolve } from "node:path";
import type { StoreKeys, StorePlace } from "@talos-operator/backup";
import type { ObjectStore } from "@talos-operator/ports";
import { CliError } from "../cli-error.ts";

export interface OpenStoreOptions {
  /** Folder below which places of the kind `directory` are. */
  readonly root?: string;
  /** The newest keys of a bucket; `undefined` = what the process is: IRSA, pod identity, instance role. */
  readonly keys: () => Promise<StoreKeys | undefined>;
}

/** Loads the client of S3 only where one is needed. @throws CliError for a directory without `root`; ObjectStoreFailure */
export async function openBackupStore(place: StorePlace, { root, keys }: OpenStoreOptions): Promise<ObjectStore> {
  if (place.kind === "s3") return (await import("@talos-operator/backup/s3")).createS3Store(place, keys);
  if (root === undefined)
    throw new CliError("the backup is in a directory, and there is no --backup-directory", "Name the folder below which backups are kept.");
  const { createDirectoryStore } = await import("@talos-operator/backup/directory");
  return createDirectoryStore(resolve(root), place.path);
}
