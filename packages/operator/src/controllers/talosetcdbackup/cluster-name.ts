import type { TalosEtcdBackupSpec } from "@talos-operator/api";
import type { ClustersByKey } from "../shared/mode.ts";

/** Who names a cluster to be backed up: a backup, or the template of a schedule with the schedule's metadata. */
export interface NamesCluster {
  readonly metadata: { readonly namespace?: string };
  readonly spec: Pick<TalosEtcdBackupSpec, "clusterRef" | "talosControlPlaneRef">;
}

/** Name of the TalosControlPlane that is meant; `undefined` while the TalosCluster of the reference is not there. */
export function controlPlaneNamed({ metadata, spec }: NamesCluster, talosClusters: ClustersByKey): string | undefined {
  const { clusterRef, talosControlPlaneRef } = spec;
  if (clusterRef === undefined) return talosControlPlaneRef?.name ?? "";
  const name = clusterRef.name ?? "";
  const cluster = talosClusters.get({ namespace: metadata.namespace, name });
  if (cluster === undefined) return undefined;
  return cluster.spec?.controlPlane === undefined ? (cluster.spec?.controlPlaneRef?.name ?? name) : name;
}
