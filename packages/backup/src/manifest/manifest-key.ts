import { hkdfSync } from "node:crypto";

/** What of a secrets bundle the key of its manifests comes from. */
export interface ManifestKeySource {
  readonly cluster: { readonly id: string };
  /** Every bundle has one of the two. */
  readonly secrets: { readonly secretboxEncryptionSecret?: string; readonly aescbcEncryptionSecret?: string };
}

/**
 * The key that authenticates manifests of a cluster's backups: 32 bytes, base64.
 *
 * It comes from the key with which the cluster encrypts its Secrets: control planes alone have that one, unlike the cluster's own secret, which is on workers too,
 * and no rotation of authorities changes it. Manifests stay readable as long as the bundle is there.
 */
export function manifestKeyOf({ cluster, secrets }: ManifestKeySource): string {
  const secret = secrets.secretboxEncryptionSecret ?? secrets.aescbcEncryptionSecret;
  if (secret === undefined || secret === "") throw new RangeError("the secrets bundle has no encryption secret");
  return Buffer.from(hkdfSync("sha256", secret, cluster.id, "talos-operator/backup/manifest/1", 32)).toString("base64");
}
