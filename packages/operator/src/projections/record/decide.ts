import { annotations, conditionFor } from "@talos-operator/api";
import type { ClusterRecord, ConditionInput } from "@talos-operator/api";

/** What is done about the record of a cluster that was preserved. */
export type RecordDecision =
  /** Nobody deletes it, or it is not ours to speak of. */
  | { readonly kind: "nothing" }
  /** It is being deleted, and stays: what it says of itself. */
  | { readonly kind: "hold"; readonly condition: ConditionInput }
  /** A person let it go, with the keys. */
  | { readonly kind: "release" };

/**
 * Record and keys outlive the objects of a preserved cluster, for its machines run on. Only a person's word for exactly this cluster lets them go. Pure.
 *
 * @param hasControlPlane there is a TalosControlPlane of its name, which speaks of it itself
 */
export function decideRecord({ metadata, spec }: ClusterRecord, hasControlPlane: boolean): RecordDecision {
  if (metadata.deletionTimestamp === undefined || hasControlPlane) return { kind: "nothing" };
  if ((spec.clusterId ?? "") !== "" && metadata.annotations?.[annotations.releaseKeys] === spec.clusterId) return { kind: "release" };
  const secret = spec.bundle?.secretName ?? "of its bundle";
  const message =
    `This ClusterRecord and Secret ${secret} hold the keys of a cluster that may still run (deletionPolicy: preserve). ` +
    `Save both, then annotate this object with ${annotations.releaseKeys}: ${spec.clusterId}. See docs/runbooks/preserved-keys.md.`;
  return { kind: "hold", condition: conditionFor("DeletionHeld", "KeysOfPreserved", message, metadata.generation) };
}
