import { identityRefusal, mayUseIdentity, validateBackupSpec } from "@talos-operator/api";
import type { BackupOptions, Finding, TalosEtcdBackup } from "@talos-operator/api";
import type { StoreKeys } from "@talos-operator/backup";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Needs } from "./model.ts";
import { readStoreKeys } from "./store-keys.ts";

/** What opens the store of a backup, or why it is not given away. In memory only. */
export type StoreNeeds =
  | { readonly kind: "read"; readonly value: StoreKeys | undefined; readonly unlabelled: readonly string[] }
  | Extract<Needs, { readonly kind: "missing" }>;

/** What is wrong with the spec of a backup, by what the operator allows in its namespace. */
export function problemsOf({ metadata: { namespace }, spec }: TalosEtcdBackup, limits: BackupOptions): readonly Finding[] {
  return validateBackupSpec(spec, { ...limits, ...(namespace === undefined ? {} : { namespace }) });
}

/**
 * Reads what opens the store of a backup, as far as the operator allows.
 *
 * @throws KubeApiError when nobody can say what is in its Secrets
 */
export async function readStoreNeeds(
  { metadata: { namespace = "" }, spec: { backupStorage } }: TalosEtcdBackup,
  client: KubeClient,
  { requireStoreLabel = false, identityNamespaces }: BackupOptions,
): Promise<StoreNeeds> {
  const keys = await readStoreKeys(backupStorage, namespace, client, requireStoreLabel);
  const { unlabelled } = keys;
  if (keys.kind === "missing") {
    const reason = requireStoreLabel && unlabelled.length > 0 ? "BackupStoreSecretUnlabelled" : "KeysNotReadable";
    return { kind: "missing", reason, message: keys.message, unlabelled };
  }
  // Also where the spec names keys: those that are optional may be absent.
  if (backupStorage.s3 !== undefined && keys.value === undefined && !mayUseIdentity(identityNamespaces, namespace)) {
    const { message, remedy } = identityRefusal(namespace);
    return { kind: "missing", reason: "SpecRefused", message: `spec.backupStorage.s3: ${message}. ${remedy}.` };
  }
  return { kind: "read", value: keys.value, unlabelled };
}
