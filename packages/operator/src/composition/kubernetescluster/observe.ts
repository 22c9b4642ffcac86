import { controllerOf, normaliseCluster, parseEndpoint } from "@talos-operator/api";
import type {
  ClusterDefaults,
  KubernetesCluster,
  NormalisedCluster,
  ObjectMeta,
  TalosControlPlane,
  VitistackMachine,
} from "@talos-operator/api";
import { keyText } from "@talos-operator/kube-runtime";
import type { Informer, ObjectKey, Store } from "@talos-operator/kube-runtime";
import type { TalosCaches } from "../../controllers/shared/controller-ports.ts";
import { isOlder } from "../../controllers/shared/is-older.ts";
import { clusterAnnotations } from "./keys.ts";
import type { Seen } from "./model.ts";
import { workerPoolName } from "./pools.ts";
import { readBefore } from "./read-versions.ts";
import { isTakeoverOpen, takeoverOf } from "./takeover.ts";

/** The caches that a pass looks into; with the indexes of {@link childIndexers} and {@link clusterIndexers}. */
export interface CompositionCaches extends Omit<TalosCaches, "talosClusters"> {
  readonly clusters: Informer<KubernetesCluster>;
  readonly vitistackMachines: Informer<VitistackMachine>;
}

/** Finds Machines and pools by the UID of the object that controls them. */
export const childIndexers = {
  controller: ({ metadata }: { readonly metadata: ObjectMeta }): readonly string[] => {
    const uid = controllerOf(metadata)?.uid;
    return uid === undefined ? [] : [uid];
  },
};

/** Finds clusters by UID, those of one id in a namespace, and those whose control planes hold one address. */
export const clusterIndexers = {
  uid: ({ metadata }: KubernetesCluster): readonly string[] => (metadata.uid === undefined ? [] : [metadata.uid]),
  id: (cluster: KubernetesCluster): readonly string[] => {
    const id = idOf(cluster);
    return id === undefined ? [] : [`${cluster.metadata.namespace ?? ""}/${id}`];
  },
  heldAddress: ({ spec }: KubernetesCluster): readonly string[] => {
    const endpoint = spec?.clusterEndpoint ?? spec?.talosConfig?.cluster?.controlPlane?.endpoint;
    if (spec?.endpointMode !== "talosvip" || endpoint === undefined) return [];
    const parsed = parseEndpoint(endpoint);
    return "host" in parsed ? [parsed.host] : [];
  },
};

/** Looks at everything that the caches hold about a cluster. */
export function observeComposition(cluster: KubernetesCluster, caches: CompositionCaches, defaults: ClusterDefaults, now: number): Seen {
  const { metadata } = cluster;
  const namespace = metadata.namespace ?? "";
  const uid = metadata.uid ?? "";
  const composed = composedFor(cluster, caches);
  const { model, problems, inertFields, shape, resolvedVersions } = readCluster(cluster, composed, defaults);
  const needed =
    model === undefined ? [] : model.groups.filter(({ role }) => role === "worker").map((group) => workerPoolName(model, group));
  // One that a spec names otherwise by now is the cluster's all the same.
  const controlPlane = (model === undefined ? undefined : caches.controlPlanes.store.get({ namespace, name: model.name })) ?? composed;
  const workers = [
    ...new Set([
      ...caches.workers.store.byIndex("controller", uid),
      ...needed.flatMap((name) => caches.workers.store.get({ namespace, name }) ?? []),
    ]),
  ].toSorted(byName);
  const pools = [
    ...(controlPlane === undefined ? [] : caches.machines.store.byIndex("controlPlane", keyText(controlPlane.metadata))),
    ...workers.flatMap((worker) => caches.machines.store.byIndex("worker", keyText(worker.metadata))),
  ];
  return {
    cluster,
    model,
    problems,
    inertFields,
    resolvedVersions,
    shape,
    olderTwin: olderTwin(cluster, caches.clusters.store),
    olderHolder: olderHolder(cluster, caches.clusters.store),
    machines: caches.vitistackMachines.store
      .byIndex("controller", uid)
      .filter((machine) => machine.metadata.namespace === namespace)
      .toSorted(byName),
    holderOf: (name) => holderOf(caches.vitistackMachines.store.get({ namespace, name }), uid),
    controlPlane,
    workers,
    talosMachines: pools.toSorted(byName),
    holding: undefined,
    now,
    isPausedAfterFiles: metadata.annotations?.[clusterAnnotations.pauseAfterFiles] === "true",
  };
}

/** The control plane that was composed for a cluster, whatever its name. */
export function composedFor(
  { metadata }: KubernetesCluster,
  caches: Pick<CompositionCaches, "controlPlanes">,
): TalosControlPlane | undefined {
  return caches.controlPlanes.store.byIndex("controller", metadata.uid ?? "")[0];
}

/** Understands a cluster, with the versions that were read for it once. */
export function readCluster(
  cluster: KubernetesCluster,
  composed: TalosControlPlane | undefined,
  defaults: ClusterDefaults,
): NormalisedCluster {
  const isTakenOver = isTakeoverOpen(takeoverOf(cluster, { clusterId: "" }), composed);
  return normaliseCluster(cluster, defaults, readBefore(composed, isTakenOver));
}

/** Whose a Machine is, in words; `undefined` for none and for one of this UID. */
export function holderOf(machine: VitistackMachine | undefined, uid: string): string | undefined {
  if (machine === undefined) return undefined;
  const owner = controllerOf(machine.metadata);
  if (owner === undefined) return "nobody";
  return owner.uid === uid ? undefined : `${owner.kind} ${owner.name}`;
}

/** What tells clusters of a namespace apart: clusterId, in the flat shape clusterName. */
function idOf({ spec }: KubernetesCluster): string | undefined {
  return spec?.data?.clusterId ?? spec?.clusterName;
}

/** Clusters of the namespace with the same id, itself left out. */
export function twinsOf(cluster: KubernetesCluster, clusters: Store<KubernetesCluster>): readonly KubernetesCluster[] {
  const [id] = clusterIndexers.id(cluster);
  return id === undefined ? [] : clusters.byIndex("id", id).filter((other) => other.metadata.name !== cluster.metadata.name);
}

function olderTwin(cluster: KubernetesCluster, clusters: Store<KubernetesCluster>): string | undefined {
  return twinsOf(cluster, clusters).find((other) => isOlder(other, cluster) && isForUs(other))?.metadata.name;
}

/** Other clusters, of any namespace, whose control planes hold the same address: a network has it once. */
export function holdersBeside(cluster: KubernetesCluster, clusters: Store<KubernetesCluster>): readonly KubernetesCluster[] {
  const [address] = clusterIndexers.heldAddress(cluster);
  return address === undefined
    ? []
    : clusters.byIndex("heldAddress", address).filter((other) => other.metadata.uid !== cluster.metadata.uid && isForUs(other));
}

function olderHolder(cluster: KubernetesCluster, clusters: Store<KubernetesCluster>): string | undefined {
  const holder = holdersBeside(cluster, clusters).find((other) => isOlder(other, cluster));
  if (holder === undefined) return undefined;
  const { namespace = "", name } = holder.metadata;
  // Readers of this namespace may have no right to read others.
  return namespace === (cluster.metadata.namespace ?? "")
    ? `KubernetesCluster ${namespace}/${name}`
    : "a KubernetesCluster in another namespace";
}

/** Clusters of other providers are left to them entirely (A097). */
export function isForUs({ spec }: KubernetesCluster): boolean {
  return spec?.data === undefined || spec.data.provider === "talos";
}

function byName(a: { readonly metadata: ObjectMeta }, b: { readonly metadata: ObjectMeta }): number {
  return a.metadata.name < b.metadata.name ? -1 : a.metadata.name > b.metadata.name ? 1 : 0;
}

/** The cluster that controls an object. */
export function ownerKeys(object: { readonly metadata: ObjectMeta }): readonly ObjectKey[] {
  const owner = controllerOf(object.metadata);
  return owner?.kind === "KubernetesCluster" ? [{ namespace: object.metadata.namespace, name: owner.name }] : [];
}
