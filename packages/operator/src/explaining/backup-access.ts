import {
  clusterRecordResource,
  findingsMessage,
  storageOfEtcdBackup,
  talosClusterResource,
  talosControlPlaneResource,
  validateEtcdBackupSpec,
} from "@talos-operator/api";
import type {
  BackupStorage,
  ClusterRecord,
  EtcdBackupSpec,
  TalosCluster,
  TalosControlPlane,
  TalosEtcdBackupSpec,
} from "@talos-operator/api";
import { backupKeys, manifestKeyOf } from "@talos-operator/backup";
import type { StoreKeys, StorePlace } from "@talos-operator/backup";
import { isForbidden, isNotServed } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { placeOf } from "../controllers/talosetcdbackup/place.ts";
import { readStoreKeys } from "../controllers/talosetcdbackup/store-keys.ts";
import { isEffectError } from "../errors.ts";
import type { SecretsBundle } from "@talos-operator/talos";
import { findBundles } from "../procedures/import/found-bundles.ts";
import { agreedBundle } from "../procedures/import/import-sources.ts";
import { createBundleStore, usableBundle } from "../secrets/bundle-store.ts";
import { secretText, secretType } from "../secrets/secret.ts";
import type { Secret } from "../secrets/secret.ts";

/** Where the backups of an object are kept, and what opens that. Holds keys: in memory only. */
export interface BackupAccess {
  readonly place: StorePlace;
  /** `undefined`: the object names none, which means what the process is itself. */
  readonly keys: StoreKeys | undefined;
}

/** The store could not be opened as the object says: a Secret is absent, or has no such key. */
export class BackupAccessError extends Error {
  override readonly name = "BackupAccessError";
}

/**
 * Reads what a store of an object is opened with.
 *
 * @throws KubeApiError, forbidden where the person may not read the Secret; BackupAccessError
 */
export async function readBackupAccess(client: KubeClient, namespace: string, storage: BackupStorage): Promise<BackupAccess> {
  const keys = await readStoreKeys(storage, namespace, client);
  if (keys.kind === "missing") throw new BackupAccessError(keys.message);
  // The operator took the endpoint as it is when it made the backup.
  return { place: placeOf(storage, true), keys: keys.value };
}

/**
 * The store of an EtcdBackup of vitistack.io in the words of a TalosEtcdBackup: bucket in the object, the rest in the Secret that it names.
 *
 * @throws KubeApiError, forbidden where the person may not read the Secret; BackupAccessError
 */
export async function readVitistackStorage(client: KubeClient, namespace: string, spec: EtcdBackupSpec): Promise<BackupStorage> {
  // Whether this operator may use the folder, or http, is not for this process to say.
  const problems = validateEtcdBackupSpec(spec, { hasDirectory: true, allowInsecureObjectStorage: true });
  if (problems.length > 0) throw new BackupAccessError(findingsMessage(problems));
  const { secretRef } = spec.storageLocation;
  if (secretRef === undefined || secretRef === "") return storageOfEtcdBackup(spec, {}).storage;
  const secret = await client.resource<Secret>(secretType).tryGet({ namespace, name: secretRef });
  if (secret === undefined) throw new BackupAccessError(`Secret ${secretRef} not found.`);
  const texts = Object.fromEntries(Object.keys(secret.data ?? {}).map((key) => [key, secretText(secret, key) ?? ""]));
  return storageOfEtcdBackup(spec, texts).storage;
}

/** What authenticates manifests of a cluster, or why nobody here can say. */
export type ManifestKey =
  | {
      readonly kind: "read";
      readonly key: string;
      /** The cluster's folder: `<control plane>-<12 hex digits>`. */
      readonly folder: string;
    }
  | { readonly kind: "unread"; readonly why: string };

/**
 * Reads the key that authenticates the manifests of a cluster's backups, as far as the person may.
 *
 * @param clusterId of the backup; another cluster of the name has other keys. Absent: of the cluster that there is
 * @throws KubeApiError for anything but a missing right
 */
export async function readManifestKey(
  client: KubeClient,
  cluster: { readonly namespace: string; readonly controlPlane: string },
  clusterId?: string,
): Promise<ManifestKey> {
  const { namespace, controlPlane } = cluster;
  const unread = (why: string): ManifestKey => ({ kind: "unread", why });
  try {
    const record = await client.resource<ClusterRecord>(clusterRecordResource).tryGet({ namespace, name: controlPlane });
    const found = record === undefined ? await foundBundle(client, cluster) : undefined;
    const { bundle, clusterId: id = found?.cluster.id } = record?.spec ?? {};
    if (id === undefined || (bundle === undefined && found === undefined))
      return unread(`there is no ClusterRecord ${controlPlane} that names the cluster's keys`);
    if (clusterId !== undefined && id !== clusterId)
      return unread(`the TalosControlPlane ${controlPlane} is that of another cluster by now`);
    const keys = bundle === undefined ? found : await recordedBundle(client, namespace, bundle);
    if (keys === undefined) return unread(`there is no ClusterRecord ${controlPlane} that names the cluster's keys`);
    const key = manifestKeyOf(keys);
    const { folder } = backupKeys("", { namespace, controlPlane, clusterId: id });
    return { kind: "read", key, folder: folder.slice(folder.lastIndexOf("/") + 1) };
  } catch (thrown) {
    if (isForbidden(thrown)) return unread("you have no right to read the ClusterRecord and the Secret with the cluster's keys");
    if (isNotServed(thrown)) return unread("there are no ClusterRecords there");
    if (isEffectError(thrown) || thrown instanceof RangeError) return unread(thrown.message);
    throw thrown;
  }
}

/** Keys that others left, while the import of the cluster is pending. */
async function foundBundle(
  client: KubeClient,
  { namespace, controlPlane: name }: { readonly namespace: string; readonly controlPlane: string },
): Promise<SecretsBundle | undefined> {
  const controlPlane = await client.resource<TalosControlPlane>(talosControlPlaneResource).tryGet({ namespace, name });
  return controlPlane === undefined ? undefined : agreedBundle(controlPlane, await findBundles(client, controlPlane));
}

async function recordedBundle(
  client: KubeClient,
  namespace: string,
  bundle: NonNullable<ClusterRecord["spec"]["bundle"]>,
): Promise<SecretsBundle> {
  return usableBundle(await createBundleStore(client).read({ namespace, name: bundle.secretName }), bundle);
}

/** The TalosControlPlane that a spec means; `undefined` where its TalosCluster is not there. @throws KubeApiError */
export async function controlPlaneOfBackup(
  client: KubeClient,
  namespace: string,
  { clusterRef, talosControlPlaneRef }: Pick<TalosEtcdBackupSpec, "clusterRef" | "talosControlPlaneRef">,
): Promise<string | undefined> {
  if (clusterRef === undefined) return talosControlPlaneRef?.name;
  const name = clusterRef.name ?? "";
  const cluster = await client.resource<TalosCluster>(talosClusterResource).tryGet({ namespace, name });
  if (cluster === undefined) return undefined;
  return cluster.spec?.controlPlane === undefined ? (cluster.spec?.controlPlaneRef?.name ?? name) : name;
}
