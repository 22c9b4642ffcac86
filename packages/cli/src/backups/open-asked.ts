import { statSync } from "node:fs";
import { resolve } from "node:path";
import { findCondition, talosEtcdBackupResource } from "@talos-operator/api";
import type { BackupStorage, TalosEtcdBackup } from "@talos-operator/api";
import { backupKeys } from "@talos-operator/backup";
import type { StorePlace } from "@talos-operator/backup";
import { PUBLISHED_FOLDER, type ReadableStore } from "@talos-operator/backup/reading";
import { isForbidden } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { BackupAccessError, readBackupAccess, readManifestKey } from "@talos-operator/operator";
import type { BackupAccess } from "@talos-operator/operator";
import type { ObjectStore } from "@talos-operator/ports";
import { CliError } from "../cli-error.ts";
import { givenString, type CommandContext, type FlagValues } from "../command.ts";
import { noSuchObject } from "../commands/asked-object.ts";
import { openBackupStore } from "../files/backup-store.ts";
import { fileStore } from "../files/file-store.ts";
import { withKube } from "../process/kube-of-flags.ts";
import { askedBackup } from "./asked-backup.ts";
import { bucketOfFlags } from "./store-flags.ts";

/** One backup in its store, ready to be looked for. */
export interface OpenBackup {
  readonly store: ReadableStore;
  readonly key: string;
  /** Authenticates its manifest. */
  readonly manifestKey?: string;
  /** Why there is none. */
  readonly uncheckedBecause: string;
  /** What status says of it, which nobody changes who can only write to the store. */
  readonly expected?: { readonly sha256: string };
}

/**
 * Opens what a person named, for as long as `use` runs.
 *
 * @throws CliError, KubeApiError, ObjectStoreFailure
 */
export async function withBackup<T>(
  asked: string,
  flags: FlagValues,
  context: CommandContext,
  use: (backup: OpenBackup) => Promise<T>,
): Promise<T> {
  const target = askedBackup(asked);
  switch (target.kind) {
    case "path":
      if (isFolder(target.path)) throw new CliError(`${target.path} is a folder`, `List it: talos-operator backup list ${target.path}`);
      return use({
        store: fileStore,
        key: target.path.replaceAll("\\", "/"),
        uncheckedBecause: "an address does not say whose keys those are",
      });
    case "schedule":
    case "vitistack":
      throw new CliError(
        `${asked} stands for many backups`,
        `List them: talos-operator backup list ${asked}; then name one, talosetcdbackup/NAME.`,
        { exitCode: 2 },
      );
    case "bucket": {
      if (target.key === "" || target.key.endsWith("/"))
        throw new CliError(`${asked} names no object`, `List what is there: talos-operator backup list ${asked}`, { exitCode: 2 });
      const place = bucketOfFlags(target.bucket, flags, process.env);
      warnOfPlain(place, context);
      return withStore(place, { keys: undefined }, flags, (store) =>
        use({ store, key: target.key, uncheckedBecause: "an address does not say whose keys those are" }),
      );
    }
    case "backup":
      return withKube(flags, async ({ client, namespace }) => {
        const { name } = target;
        const backup = await client.resource<TalosEtcdBackup>(talosEtcdBackupResource).tryGet({ namespace, name });
        if (backup === undefined) throw noSuchObject({ type: talosEtcdBackupResource, name }, namespace);
        const access = await accessOf(client, namespace, name, backup.spec.backupStorage);
        warnOfPlain(access.place, context);
        const about = await aboutBackup(client, namespace, backup, access.place);
        return withStore(access.place, access, flags, (store) => use({ store, ...about }));
      });
  }
}

/** Opens a store for as long as `use` runs. */
export async function withStore<T>(
  place: StorePlace,
  { keys }: Pick<BackupAccess, "keys">,
  flags: FlagValues,
  use: (store: ObjectStore) => Promise<T>,
): Promise<T> {
  const root = givenString(flags, "backup-directory");
  if (place.kind === "directory" && root === undefined)
    throw new CliError(
      "the backup is in the operator's folder, and nothing says where that is",
      "Give --backup-directory FOLDER: .talos-operator/backups of `npm start`; in a cluster it is a volume, which is read where it is mounted.",
    );
  if (place.kind === "directory" && root !== undefined && !isFolder(root))
    throw new CliError(`${root} is no folder`, "Name the operator's folder of backups with --backup-directory.");
  const store = await openBackupStore(place, { keys: () => Promise.resolve(keys), ...(root === undefined ? {} : { root }) });
  try {
    return await use(store);
  } finally {
    store.close();
  }
}

/** Place and keys of an object. @throws CliError with what to do where they cannot be read */
export async function accessOf(client: KubeClient, namespace: string, name: string, storage: BackupStorage): Promise<BackupAccess> {
  const { s3 } = storage;
  const secrets = [s3?.accessKeyID, s3?.secretAccessKey, s3?.sessionToken].flatMap((one) => (one?.name === undefined ? [] : [one.name]));
  const address = s3 === undefined ? undefined : `s3://${s3.bucket}/KEY${s3.endpoint === undefined ? "" : ` --endpoint ${s3.endpoint}`}`;
  return withRights({ namespace, name, secrets, address }, () => readBackupAccess(client, namespace, storage));
}

interface Wanted {
  readonly namespace: string;
  readonly name: string;
  readonly secrets: readonly string[];
  /** How the same is read without the object. */
  readonly address: string | undefined;
}

/** @throws CliError in place of a Secret that is missing or forbidden */
export async function withRights<T>({ namespace, name, secrets, address }: Wanted, read: () => Promise<T>): Promise<T> {
  const own =
    address === undefined ? "" : ` Or give its address, with keys of yours in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: ${address}`;
  try {
    return await read();
  } catch (thrown) {
    if (thrown instanceof BackupAccessError)
      throw new CliError(
        `the store of ${name} cannot be opened: ${thrown.message.replace(/\.$/, "")}`,
        `Correct the object, or make the Secret in namespace ${namespace}.${own}`,
        { cause: thrown },
      );
    if (isForbidden(thrown))
      throw new CliError(
        `the keys of the store may not be read: Secret ${[...new Set(secrets)].join(", ")} in namespace ${namespace} is forbidden to you`,
        `Ask for the right to get that Secret.${own}`,
        { cause: thrown },
      );
    throw thrown;
  }
}

async function aboutBackup(
  client: KubeClient,
  namespace: string,
  backup: TalosEtcdBackup,
  place: StorePlace,
): Promise<Omit<OpenBackup, "store">> {
  const { status, metadata } = backup;
  const { slot, filename, sha256, controlPlane, clusterId } = status ?? {};
  if (filename === undefined || filename === "") {
    const ready = findCondition(status?.conditions, "Ready");
    throw new CliError(
      `TalosEtcdBackup ${metadata.name} is not stored yet${ready?.message === undefined ? "" : `: ${ready.message.replace(/\.$/, "")}`}`,
      `Wait for it: kubectl wait --for=condition=Ready talosetcdbackup/${metadata.name} -n ${namespace}`,
    );
  }
  // Finished by the operator that published the kind, which knows no slots.
  if (slot === undefined || controlPlane === undefined || clusterId === undefined)
    return { key: publishedKey(backup, filename), uncheckedBecause: "the operator that published these kinds signs nothing" };
  const key = backupKeys(place.prefix, { namespace, controlPlane, clusterId }).manifest(slot);
  const manifestKey = await readManifestKey(client, { namespace, controlPlane }, clusterId);
  return {
    key,
    ...(manifestKey.kind === "read" ? { manifestKey: manifestKey.key } : {}),
    uncheckedBecause: manifestKey.kind === "read" ? "" : manifestKey.why,
    ...(sha256 === undefined ? {} : { expected: { sha256 } }),
  };
}

function publishedKey({ spec }: TalosEtcdBackup, filename: string): string {
  return filename.includes("/") ? filename : `${PUBLISHED_FOLDER}/${spec.talosControlPlaneRef?.name ?? ""}/${filename}`;
}

/** Whoever is on the way reads along. */
export function warnOfPlain(place: StorePlace, { stderr }: CommandContext): void {
  if (place.kind !== "s3") return;
  const url = place.endpoint === undefined ? null : URL.parse(place.endpoint);
  const isHere = url !== null && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url?.protocol === "http:" && !isHere)
    stderr.write(`warning: ${url.origin} is not encrypted: anyone on the network path can read the backup\n`);
  else if (place.insecureSkipTLSVerify === true)
    stderr.write("warning: the endpoint's certificate is not checked: anyone on the network path can read the backup\n");
}

export function isFolder(path: string): boolean {
  return statSync(resolve(path), { throwIfNoEntry: false })?.isDirectory() === true;
}
