import { resolve } from "node:path";
import { etcdBackupResource, talosEtcdBackupResource, talosEtcdBackupScheduleResource } from "@talos-operator/api";
import type {
  BackupStorage,
  EtcdBackup,
  EtcdBackupSpec,
  TalosEtcdBackup,
  TalosEtcdBackupSchedule,
  TalosEtcdBackupSpec,
} from "@talos-operator/api";
import { backupKeys } from "@talos-operator/backup";
import { PUBLISHED_FOLDER, type ListedBackup } from "@talos-operator/backup/reading";
import { isForbidden, type KubeClient } from "@talos-operator/kube-runtime";
import { controlPlaneOfBackup, readManifestKey, readVitistackStorage } from "@talos-operator/operator";
import type { ObjectStore } from "@talos-operator/ports";
import { CliError } from "../cli-error.ts";
import type { CommandContext, FlagValues } from "../command.ts";
import { noSuchObject } from "../commands/asked-object.ts";
import { withKube } from "../process/kube-of-flags.ts";
import { askedBackup } from "./asked-backup.ts";
import { accessOf, isFolder, warnOfPlain, withRights, withStore } from "./open-asked.ts";
import { bucketOfFlags } from "./store-flags.ts";

/** A store, and what of it is listed. */
export interface OpenPlace {
  readonly store: ObjectStore;
  /** One after the other. */
  readonly prefixes: readonly string[];
  /** A prefix may match more than was asked for. */
  readonly isWanted: (listed: ListedBackup) => boolean;
  readonly manifestKeyOf: (cluster: string) => string | undefined;
  /** What the cluster knows of a stored snapshot, by its key. */
  readonly objectOf: (key: string) => BackupObject | undefined;
}

/** What the object of a backup says. */
export interface BackupObject {
  readonly name: string;
  readonly proof?: { readonly how: string; readonly on: string; readonly at: string };
}

const everything = { isWanted: () => true, manifestKeyOf: () => undefined, objectOf: () => undefined } as const;

/**
 * Opens a place of many backups for as long as `use` runs: a bucket, a folder, or where an object keeps those of its cluster.
 *
 * @throws CliError, KubeApiError, ObjectStoreFailure
 */
export async function withPlace<T>(
  asked: string,
  flags: FlagValues,
  context: CommandContext,
  use: (place: OpenPlace) => Promise<T>,
): Promise<T> {
  const target = askedBackup(asked);
  switch (target.kind) {
    case "path":
      if (!isFolder(target.path))
        throw new CliError(
          `${target.path} is no folder`,
          "Name a folder, s3://BUCKET/PREFIX or talosetcdbackupschedule/NAME; a single backup is shown by `backup inspect`.",
        );
      return withStore(
        { kind: "directory", path: "", prefix: "" },
        { keys: undefined },
        { ...flags, "backup-directory": resolve(target.path) },
        (store) => use({ ...everything, store, prefixes: [""] }),
      );
    case "bucket": {
      const place = bucketOfFlags(target.bucket, flags, process.env);
      warnOfPlain(place, context);
      return withStore(place, { keys: undefined }, flags, (store) => use({ ...everything, store, prefixes: [target.key] }));
    }
    case "backup":
      return withKube(flags, async ({ client, namespace }) => {
        const { name } = target;
        const backup = await client.resource<TalosEtcdBackup>(talosEtcdBackupResource).tryGet({ namespace, name });
        if (backup === undefined) throw noSuchObject({ type: talosEtcdBackupResource, name }, namespace);
        return ofObject({ client, namespace, name, spec: backup.spec, flags, context }, use);
      });
    case "schedule":
      return withKube(flags, async ({ client, namespace }) => {
        const { name } = target;
        const schedule = await client.resource<TalosEtcdBackupSchedule>(talosEtcdBackupScheduleResource).tryGet({ namespace, name });
        if (schedule === undefined) throw noSuchObject({ type: talosEtcdBackupScheduleResource, name }, namespace);
        return ofObject({ client, namespace, name, spec: schedule.spec.backupTemplate.spec, flags, context }, use);
      });
    case "vitistack":
      return withKube(flags, async ({ client, namespace }) => {
        const { name } = target;
        const backup = await client.resource<EtcdBackup>(etcdBackupResource).tryGet({ namespace, name });
        if (backup === undefined) throw noSuchObject({ type: etcdBackupResource, name }, namespace);
        if (backup.spec === undefined)
          throw new CliError(`EtcdBackup ${name} has no spec`, "Give it one, or name the bucket: s3://BUCKET/PREFIX.");
        return ofVitistack({ client, namespace, name, flags, context }, backup.spec, use);
      });
  }
}

/** Those of every cluster in its namespace: the object does not say which one it is of. */
async function ofVitistack<T>(asked: Omit<AskedPlace, "spec">, spec: EtcdBackupSpec, use: (place: OpenPlace) => Promise<T>): Promise<T> {
  const { client, namespace, name, flags, context } = asked;
  const { bucket, secretRef } = spec.storageLocation;
  const address = bucket === undefined ? undefined : `s3://${bucket}`;
  const storage = await withRights({ namespace, name, secrets: secretRef === undefined ? [] : [secretRef], address }, () =>
    readVitistackStorage(client, namespace, spec),
  );
  const { place, keys } = await accessOf(client, namespace, name, storage);
  warnOfPlain(place, context);
  const objects = await backupObjects(client, namespace);
  const prefixes = [`${place.prefix}/${namespace}/`];
  return withStore(place, { keys }, flags, (store) => use({ ...everything, store, prefixes, objectOf: (key) => objects.get(key) }));
}

interface AskedPlace {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  readonly spec: Pick<TalosEtcdBackupSpec, "clusterRef" | "talosControlPlaneRef"> & { readonly backupStorage: BackupStorage };
  readonly flags: FlagValues;
  readonly context: CommandContext;
}

async function ofObject<T>(asked: AskedPlace, use: (place: OpenPlace) => Promise<T>): Promise<T> {
  const { client, namespace, name, spec, flags, context } = asked;
  const controlPlane = await controlPlaneOfBackup(client, namespace, spec);
  if (controlPlane === undefined || controlPlane === "")
    throw new CliError(
      `the cluster of ${name} is not there, so nothing says which backups are its own`,
      "List all that is in the store: s3://BUCKET/PREFIX, or its folder.",
    );
  const { place, keys } = await accessOf(client, namespace, name, spec.backupStorage);
  warnOfPlain(place, context);
  const manifestKey = await readManifestKey(client, { namespace, controlPlane });
  if (manifestKey.kind === "unread") context.stderr.write(`Signatures are not checked: ${manifestKey.why}.\n`);
  // Of every cluster that had this name, one after the other: the digits of their ids are left out.
  const { folder } = backupKeys(place.prefix, { namespace, controlPlane, clusterId: "any" });
  const ours = folder.slice(0, -12);
  const published = `${PUBLISHED_FOLDER}/${controlPlane}/`;
  const objects = await backupObjects(client, namespace);
  return withStore(place, { keys }, flags, (store) =>
    use({
      store,
      prefixes: [ours, published],
      isWanted: (listed) => {
        if (listed.kind === "published" || listed.kind === "published-keys") return true;
        const key = listed.kind === "unnamed" ? listed.object : listed.manifest;
        return key.startsWith(ours) && key.slice(ours.length).indexOf("/") === 12;
      },
      manifestKeyOf: (cluster) => (manifestKey.kind === "read" && manifestKey.folder === cluster ? manifestKey.key : undefined),
      objectOf: (key) => objects.get(key),
    }),
  );
}

/** Backups by the key of their snapshot. Who may not list them sees what the store says. */
async function backupObjects(client: KubeClient, namespace: string): Promise<ReadonlyMap<string, BackupObject>> {
  try {
    const { items } = await client.resource<TalosEtcdBackup>(talosEtcdBackupResource).list({ namespace });
    return new Map(
      items.flatMap(({ metadata, status }) => {
        const { filename, proof } = status ?? {};
        if (filename === undefined || filename === "") return [];
        return [
          [
            filename,
            { name: metadata.name, ...(proof === undefined ? {} : { proof: { how: proof.how, on: proof.on, at: proof.at } }) },
          ] as const,
        ];
      }),
    );
  } catch (thrown) {
    if (isForbidden(thrown)) return new Map();
    throw thrown;
  }
}
