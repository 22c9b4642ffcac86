import type { TalosCluster, TalosClusterAddonRelease, TalosControlPlane } from "@talos-operator/api";
import type { KubeClient, ObjectKey } from "@talos-operator/kube-runtime";
import { annotations, clusterRecordResource, controllerOf, talosClusterResource, talosControlPlaneResource } from "@talos-operator/api";
import type { ClusterRecord } from "@talos-operator/api";
import type { ClusterValues } from "../../addons/values-template.ts";
import { effectiveMode, isTakenOver } from "../shared/mode.ts";
import type { ClustersByKey } from "../shared/mode.ts";
import { readRecord } from "../../record/facts-codec.ts";
import { lacksNetwork } from "./without-network.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { SeenCluster } from "./model.ts";

/** The cluster of a release, with what is written down about it once something can be installed. */
export interface ClusterOfRelease {
  readonly seen: SeenCluster;
  readonly facts?: ClusterFacts;
  readonly values?: ClusterValues;
  /** Its network plugin is yet to be installed: no run waits for pods. */
  readonly lacksNetwork?: boolean;
}

/** Where objects are found: a cache, or what was read just now. */
interface Found<T> {
  readonly store: { get(key: ObjectKey): T | undefined };
}

interface Caches {
  readonly controlPlanes: Found<TalosControlPlane>;
  readonly talosClusters: Found<TalosCluster>;
}

/** Where KubePrism listens on every Node where nothing else is configured. */
const KUBEPRISM = { KubePrismHost: "localhost", KubePrismPort: "7445" } as const;

/** Name of the TalosControlPlane that a release is for. References of the published operator have neither kind nor apiVersion. */
export function controlPlaneOf(
  { metadata, spec }: Pick<TalosClusterAddonRelease, "metadata" | "spec">,
  talosClusters: Found<TalosCluster>,
): { readonly name: string } | { readonly message: string } {
  const { kind = "", name = "", namespace = metadata.namespace } = spec.clusterRef;
  if (name === "") return { message: "spec.clusterRef names no cluster." };
  if (namespace !== metadata.namespace)
    return { message: `spec.clusterRef leads to the namespace ${namespace ?? ""}, and a release is for a cluster of its own namespace.` };
  if (kind !== "" && kind !== "TalosControlPlane" && kind !== "TalosCluster")
    return { message: `spec.clusterRef names a ${kind.slice(0, 63)}; it may name a TalosControlPlane or a TalosCluster.` };
  if (kind !== "TalosCluster") return { name };
  const cluster = talosClusters.store.get({ namespace, name });
  if (cluster === undefined) return { message: `TalosCluster ${name} not found.` };
  const { controlPlane, controlPlaneRef } = cluster.spec ?? {};
  return { name: controlPlane === undefined ? (controlPlaneRef?.name ?? name) : name };
}

/** Reads the cluster of a release and its record. @throws KubeApiError */
export async function clusterOf(release: TalosClusterAddonRelease, caches: Caches, client: KubeClient): Promise<ClusterOfRelease> {
  const named = controlPlaneOf(release, caches.talosClusters);
  if ("message" in named) return { seen: { kind: "absent", message: named.message } };
  const { name } = named;
  const key: ObjectKey = { namespace: release.metadata.namespace, name };
  const controlPlane = caches.controlPlanes.store.get(key);
  if (controlPlane === undefined) return { seen: { kind: "absent", message: `TalosControlPlane ${name} not found.` } };
  // The one that the release was for is gone where another one has its name by now.
  const { uid, kind = "" } = release.spec.clusterRef;
  const isOther = uid !== undefined && kind !== "TalosCluster" && uid !== controlPlane.metadata.uid;
  if (isOther || controlPlane.metadata.deletionTimestamp !== undefined) return { seen: { kind: "going", name } };
  const record = await client.resource<ClusterRecord>(clusterRecordResource).tryGet(key);
  const facts = record === undefined ? undefined : readRecord(record)?.facts;
  if (facts === undefined || facts.controlPlaneUid !== controlPlane.metadata.uid)
    return { seen: { kind: "waiting", name, message: `${name} has no ClusterRecord of its own yet.` } };
  if (facts.bootstrapDone === undefined) return { seen: { kind: "waiting", name, message: `etcd of ${name} is not bootstrapped yet.` } };
  const paused = pauseOf(controlPlane, caches.talosClusters.store);
  const seen: SeenCluster = paused === undefined ? { kind: "present", name } : { kind: "paused", name, message: paused };
  return { seen, facts, values: valuesOf(controlPlane, facts), lacksNetwork: lacksNetwork(controlPlane, facts) };
}

/** Why nothing is done in a cluster by a person's word; `undefined` = something may be. */
function pauseOf(controlPlane: TalosControlPlane, clusters: ClustersByKey): string | undefined {
  const mode = effectiveMode(controlPlane.metadata, clusters);
  if (mode === "reconcile" || (mode === "import" && isTakenOver(controlPlane))) return undefined;
  const { name } = controlPlane.metadata;
  return mode === "import"
    ? `${name} is to be imported: nothing is done in it until it is taken over.`
    : `${name} is paused: nothing is done in it until the annotation ${annotations.reconcileMode}: ${mode} is removed.`;
}

/** Reads once more whether something may be done in the cluster of a release: a cache may not show yet that it was paused or deleted. @throws KubeApiError */
export async function isOpenNow(namespace: string | undefined, seen: SeenCluster, client: KubeClient): Promise<boolean> {
  if (seen.kind !== "present") return false;
  const controlPlane = await client.resource<TalosControlPlane>(talosControlPlaneResource).tryGet({ namespace, name: seen.name });
  if (controlPlane === undefined || controlPlane.metadata.deletionTimestamp !== undefined) return false;
  const owner = controllerOf(controlPlane.metadata);
  const cluster =
    owner?.kind === "TalosCluster"
      ? await client.resource<TalosCluster>(talosClusterResource).tryGet({ namespace, name: owner.name })
      : undefined;
  return pauseOf(controlPlane, { get: () => cluster }) === undefined;
}

function valuesOf({ metadata, spec }: TalosControlPlane, facts: ClusterFacts): ClusterValues {
  const url = URL.parse(facts.endpoint);
  return {
    Name: metadata.name,
    Namespace: metadata.namespace ?? "",
    Endpoint: facts.endpoint,
    EndpointHost: url?.hostname.replace(/^\[|\]$/g, "") ?? "",
    EndpointPort: url?.port === "" ? "443" : (url?.port ?? ""),
    ...KUBEPRISM,
    PodCIDR: facts.podCIDR.join(","),
    ServiceCIDR: facts.serviceCIDR.join(","),
    Domain: spec?.clusterDomain ?? "cluster.local",
    KubernetesVersion: facts.kubernetesVersion,
    TalosVersion: facts.talosVersion,
    Provider: spec?.mode ?? "metal",
  };
}
