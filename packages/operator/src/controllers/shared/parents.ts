import { controllerOf } from "@talos-operator/api";
import type { KubernetesCluster, TalosCluster, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import type { Store } from "@talos-operator/kube-runtime";
import type { Told, ToldStatus } from "./kstatus.ts";

/** Caches of what composes control planes and pools. */
export interface ParentCaches {
  readonly talosClusters: { readonly store: Store<TalosCluster> };
  readonly clusters: { readonly store: Store<KubernetesCluster> };
}

/** What a control plane and its pools are composed by: a TalosCluster that made or names one of them, a KubernetesCluster that made the control plane. */
export function parentsOf(
  { talosClusters, clusters }: ParentCaches,
  controlPlane: TalosControlPlane,
  pools: readonly TalosWorker[],
): readonly Told[] {
  const { namespace } = controlPlane.metadata;
  const objects = [controlPlane, ...pools];
  const owners = new Set(objects.map(({ metadata }) => controllerOf(metadata)?.uid));
  const workers = new Set(pools.map(({ metadata }) => metadata.name));
  const composing = talosClusters.store
    .list(namespace)
    .filter(
      ({ metadata, spec }) =>
        owners.has(metadata.uid) || spec?.controlPlaneRef?.name === controlPlane.metadata.name || workers.has(spec?.workerRef?.name ?? ""),
    );
  const owner = controllerOf(controlPlane.metadata);
  const cluster = owner?.kind === "KubernetesCluster" ? clusters.store.get({ namespace, name: owner.name }) : undefined;
  if (cluster === undefined || cluster.metadata.uid !== owner?.uid) return composing;
  // Its conditions are plain texts by the published schema; those that are read here are this operator's.
  return [...composing, { kind: cluster.kind, metadata: cluster.metadata, status: cluster.status as ToldStatus | undefined }];
}
