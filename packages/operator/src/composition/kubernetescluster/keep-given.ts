import { apiVersionOf, controllerOf, controllerReference, isConditionTrue, kubernetesClusterResource } from "@talos-operator/api";
import { isAlreadyExists } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { givenSecretKeys } from "../../secrets/given-secrets.ts";
import { secretType } from "../../secrets/secret.ts";
import type { Secret } from "../../secrets/secret.ts";
import { CompositionError } from "./errors.ts";
import type { OwnerQuestion } from "./live-cluster.ts";
import type { Seen } from "./model.ts";
import { givenSecretNameOf } from "./pools.ts";

/**
 * Puts a token and an authority that stand in a KubernetesCluster into a Secret, from which the keys of the cluster are made. The Secret goes with the
 * cluster; once the cluster runs nobody needs it, and it is not made again.
 *
 * @param isOwnerThere asked before it is made
 * @throws CompositionError when a Secret of that name is somebody else's
 */
export async function keepGivenSecrets(
  client: KubeClient,
  { cluster, model, controlPlane }: Seen,
  isOwnerThere: OwnerQuestion,
): Promise<void> {
  const { token, ca } = cluster.spec?.talosConfig?.machine ?? {};
  if (model?.givenSecrets?.kind !== "inline" || token === undefined || ca === undefined) return;
  if (isConditionTrue(controlPlane?.status?.conditions, "Bootstrapped")) return;
  const secrets = client.resource<Secret>(secretType);
  const key = { namespace: cluster.metadata.namespace ?? "", name: givenSecretNameOf(model, model.givenSecrets) };
  const stored = await secrets.tryGet(key);
  if (stored !== undefined) return demandOwn(stored, cluster.metadata.uid ?? "");
  if (!(await isOwnerThere())) return;
  const owner = { apiVersion: apiVersionOf(kubernetesClusterResource), kind: cluster.kind, metadata: cluster.metadata };
  try {
    await secrets.create({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { ...key, ownerReferences: [controllerReference(owner)] },
      type: "Opaque",
      immutable: true,
      data: {
        [givenSecretKeys.token]: Buffer.from(token, "utf8").toString("base64"),
        // Both are base64 in the spec already, as they stand in a Talos configuration.
        [givenSecretKeys.certificate]: packed(ca.crt),
        [givenSecretKeys.key]: packed(ca.key),
      },
    });
  } catch (thrown) {
    // Somebody was faster: the next pass sees who.
    if (!isAlreadyExists(thrown)) throw thrown;
  }
}

function demandOwn(secret: Secret, uid: string): void {
  if (controllerOf(secret.metadata)?.uid === uid) return;
  throw new CompositionError(
    "MachineCreationError",
    `Secret ${secret.metadata.name} exists and is not this cluster's: rename it, or name it with secretRef if it holds what is to be given`,
  );
}

function packed(base64: string): string {
  return base64.replaceAll(/\s/g, "");
}
