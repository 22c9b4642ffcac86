import { annotations, finalizers, labels } from "@talos-operator/api";
import { deleteExactly, isAlreadyExists } from "@talos-operator/kube-runtime";
import type { KubeClient, ObjectKey } from "@talos-operator/kube-runtime";
import { fingerprintSecretsBundle, parseSecretsBundle, printSecretsBundle } from "@talos-operator/talos";
import type { SecretsBundle } from "@talos-operator/talos";
import { EffectError } from "../errors.ts";
import { clusterLabel } from "./cluster-label.ts";
import { secretData, secretText, secretType } from "./secret.ts";
import type { Secret } from "./secret.ts";

/** Key of the bundle in its Secret. */
const BUNDLE_KEY = "bundle";

/** A bundle as it was read, with what the rules may know of it. */
export interface StoredBundle {
  /** `undefined` when the content is no bundle. */
  readonly bundle: SecretsBundle | undefined;
  readonly fingerprint: string;
  readonly clusterId: string;
  readonly isOurs: boolean;
  readonly isDeleting: boolean;
  /** UID of the TalosControlPlane that they were made for as new keys; absent = they came from elsewhere, or nobody can say. */
  readonly madeFor?: string;
}

/** The bundle Secrets of all clusters: made once, never changed, never owned by anything that could take them along. */
export interface BundleStore {
  /** `undefined` only when the API server said that there is none. */
  read(key: ObjectKey): Promise<StoredBundle | undefined>;
  /**
   * Create-only. A Secret that is there already is left as it is.
   *
   * @param madeFor UID of the TalosControlPlane that these keys were made for; absent = they came from elsewhere
   */
  create(key: ObjectKey, cluster: string, bundle: SecretsBundle, madeFor?: string): Promise<"created" | "existed">;
  /** Takes the finalizer off and deletes, if these keys are in it: another Secret of the name is left as it is. */
  delete(key: ObjectKey, ifFingerprint: string): Promise<void>;
}

export function createBundleStore(client: KubeClient): BundleStore {
  const secrets = client.resource<Secret>(secretType);
  return {
    async read(key) {
      const secret = await secrets.tryGet(key);
      return secret === undefined ? undefined : readBundle(secret);
    },
    async create(key, cluster, bundle, madeFor) {
      const namespace = key.namespace ?? "";
      try {
        await secrets.create({
          apiVersion: "v1",
          kind: "Secret",
          metadata: {
            namespace,
            name: key.name,
            finalizers: [finalizers.bundle],
            labels: { [labels.cluster]: clusterLabel(cluster), [labels.secretKind]: "bundle" },
            ...(madeFor === undefined ? {} : { annotations: { [annotations.madeFor]: madeFor } }),
          },
          type: "Opaque",
          immutable: true,
          data: secretData({ [BUNDLE_KEY]: printSecretsBundle(bundle) }),
        });
        return "created";
      } catch (thrown) {
        if (isAlreadyExists(thrown)) return "existed";
        throw thrown;
      }
    },
    async delete(key, ifFingerprint) {
      const secret = await secrets.tryGet(key);
      if (secret === undefined || readBundle(secret).fingerprint !== ifFingerprint) return;
      // Written as a whole: the right to patch Secrets would be one more to give.
      await secrets.update({
        ...secret,
        metadata: { ...secret.metadata, finalizers: (secret.metadata.finalizers ?? []).filter((one) => one !== finalizers.bundle) },
      });
      await deleteExactly(secrets, secret);
    },
  };
}

/** The bundle that the record names, or an error that says why it cannot be used. */
export function usableBundle(
  stored: StoredBundle | undefined,
  expected: { readonly secretName: string; readonly fingerprint: string },
): SecretsBundle {
  if (stored?.bundle === undefined)
    throw new EffectError("KEYS_UNUSABLE", `the Secret ${expected.secretName} is absent or holds no secrets bundle`);
  if (stored.fingerprint !== expected.fingerprint)
    throw new EffectError("KEYS_UNUSABLE", `the Secret ${expected.secretName} holds other keys than the record names`);
  return stored.bundle;
}

function readBundle(secret: Secret): StoredBundle {
  const isOurs = secret.metadata.labels?.[labels.secretKind] === "bundle";
  const isDeleting = secret.metadata.deletionTimestamp !== undefined;
  const text = secretText(secret, BUNDLE_KEY);
  try {
    if (text === undefined) return { bundle: undefined, fingerprint: "none", clusterId: "", isOurs: false, isDeleting };
    const bundle = parseSecretsBundle(text);
    const madeFor = secret.metadata.annotations?.[annotations.madeFor];
    const told = { bundle, fingerprint: fingerprintSecretsBundle(bundle), clusterId: bundle.cluster.id, isOurs, isDeleting };
    return madeFor === undefined ? told : { ...told, madeFor };
  } catch {
    // The cause may quote keys; that it is unreadable is all anyone may hear.
    return { bundle: undefined, fingerprint: "unreadable", clusterId: "", isOurs, isDeleting };
  }
}
