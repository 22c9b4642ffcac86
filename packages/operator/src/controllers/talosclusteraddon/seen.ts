import { addonReleaseName, annotations, isConditionTrue, reconcileModeOf } from "@talos-operator/api";
import type { Finding, TalosClusterAddon, TalosClusterAddonRelease } from "@talos-operator/api";
import { belongingOf } from "./compose.ts";
import { helmSpecOf, manifestsOf, namedReferences } from "./helm-release.ts";
import { grants, readSelector } from "./selection.ts";
import type { Cluster, ReadSelector } from "./selection.ts";

/** Everything that one pass over an addon looks at. */
export interface AddonSeen {
  readonly addon: TalosClusterAddon;
  readonly problems: readonly Finding[];
  readonly clusters: readonly Cluster[];
  /** Everybody's, wherever the operator watches. */
  readonly releases: readonly TalosClusterAddonRelease[];
  /** All addons, this one too. */
  readonly addons: readonly TalosClusterAddon[];
  /** Annotations of Namespaces by their name. One that is not known grants nothing. */
  readonly namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/** Finds what belongs together. */
export interface AddonView {
  readonly seen: AddonSeen;
  release(namespace: string | undefined, name: string): TalosClusterAddonRelease | undefined;
  /** Releases that say they are on this cluster. */
  releasesOn(cluster: Cluster): readonly TalosClusterAddonRelease[];
  /** The cluster of a release as it was made for; `undefined` when it is gone, or another one has its name. */
  clusterOf(release: TalosClusterAddonRelease): Cluster | undefined;
}

export function viewOf(seen: AddonSeen): AddonView {
  const key = (namespace: string | undefined, name: string | undefined): string => `${namespace ?? ""}/${name ?? ""}`;
  const releases = new Map(seen.releases.map((release) => [key(release.metadata.namespace, release.metadata.name), release]));
  const byControlPlane = new Map(
    seen.clusters.map((one) => [key(one.controlPlane.metadata.namespace, one.controlPlane.metadata.name), one]),
  );
  const byTalosCluster = new Map(
    seen.clusters.flatMap((one) => one.talosClusters.map(({ metadata }) => [key(metadata.namespace, metadata.name), one] as const)),
  );
  const clusterOf = ({ metadata, spec }: TalosClusterAddonRelease): Cluster | undefined => {
    const { kind, name, namespace = metadata.namespace, uid = "" } = spec.clusterRef;
    // A release reaches no other namespace.
    if (namespace !== "" && namespace !== metadata.namespace) return undefined;
    if (kind === "TalosCluster") return byTalosCluster.get(key(metadata.namespace, name));
    const cluster = byControlPlane.get(key(metadata.namespace, name));
    return uid !== "" && cluster?.controlPlane.metadata.uid !== uid ? undefined : cluster;
  };
  const on = Map.groupBy(seen.releases, clusterOf);
  return {
    seen,
    release: (namespace, name) => releases.get(key(namespace, name)),
    releasesOn: (cluster) => on.get(cluster) ?? [],
    clusterOf,
  };
}

/** True for a release of an earlier control plane of that name: it goes, and another one is made. */
export function isOfEarlier({ spec }: TalosClusterAddonRelease, { controlPlane }: Cluster): boolean {
  const { kind, name, uid = "" } = spec.clusterRef;
  return kind !== "TalosCluster" && name === controlPlane.metadata.name && uid !== "" && uid !== controlPlane.metadata.uid;
}

/** True for a release that this addon answers for. */
export function isOurs(release: TalosClusterAddonRelease, addon: TalosClusterAddon): boolean {
  const belonging = belongingOf(release, addon);
  return belonging === "own" || belonging === "published" || belonging === "named";
}

/** The release of an addon on a cluster, whoever's it is. */
export function releaseOn(view: AddonView, addon: TalosClusterAddon, { controlPlane }: Cluster): TalosClusterAddonRelease | undefined {
  const { namespace, name } = controlPlane.metadata;
  return view.release(namespace, addonReleaseName(name, addon.metadata.name));
}

/**
 * Whether an addon selects a cluster that is to stay. One of another namespace only where that Namespace grants it.
 *
 * An empty selector selects none, but for the clusters on which the operator that published these kinds installed the addon: there it meant all.
 */
export function selects(view: AddonView, addon: TalosClusterAddon, cluster: Cluster, selector: ReadSelector = selectorOf(addon)): boolean {
  const { namespace = "", deletionTimestamp } = cluster.controlPlane.metadata;
  const own = addon.metadata.namespace ?? "";
  if (deletionTimestamp !== undefined) return false;
  if (namespace !== own && !grants(view.seen.namespaces.get(namespace), own)) return false;
  if (selector.kind === "selector") return selector.matches(cluster);
  if (selector.kind === "invalid") return false;
  const existing = releaseOn(view, addon, cluster);
  if (existing === undefined || isOfEarlier(existing, cluster) || !isOurs(existing, addon)) return false;
  return belongingOf(existing, addon) === "published" || existing.metadata.annotations?.[annotations.addonAdopted] === "published";
}

export function selectorOf({ spec }: TalosClusterAddon): ReadSelector {
  return readSelector(spec.clusterSelector);
}

/** The fields that keep an addon from a cluster of another namespace: nothing is read across namespaces. */
export function unsharedReferences(addon: TalosClusterAddon, { controlPlane }: Cluster): readonly string[] {
  return controlPlane.metadata.namespace === addon.metadata.namespace ? [] : namedReferences(helmSpecOf(addon), manifestsOf(addon));
}

/** Whether an addon makes releases at all. */
export function isAtWork({ metadata }: TalosClusterAddon): boolean {
  return metadata.deletionTimestamp === undefined && reconcileModeOf(metadata) === "reconcile";
}

/** Whether a release does what its spec asks for, as its newest status says. */
export function isReleaseReady({ metadata, status }: TalosClusterAddonRelease): boolean {
  return isConditionTrue(status?.conditions, "Ready") && status?.observedGeneration === metadata.generation;
}
