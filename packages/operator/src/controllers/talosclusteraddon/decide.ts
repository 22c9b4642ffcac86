import { isDeepStrictEqual } from "node:util";
import { annotations, conditionFor, findCondition, findingsMessage, releaseOf } from "@talos-operator/api";
import type {
  ConditionInput,
  ReadyReason,
  TalosClusterAddon,
  TalosClusterAddonRelease,
  TalosClusterAddonStatus,
} from "@talos-operator/api";
import type { Part } from "../shared/kstatus.ts";
import { claimsOn } from "./claims.ts";
import { belongingOf, patchBetween, releaseFor } from "./compose.ts";
import { helmSpecOf, manifestsOf, releaseTextOf, releaseTextOfAddon } from "./helm-release.ts";
import { isOfEarlier, isOurs, isReleaseReady, releaseOn, selectorOf, selects, unsharedReferences, viewOf } from "./seen.ts";
import type { AddonSeen, AddonView } from "./seen.ts";
import type { Cluster } from "./selection.ts";

/** Clusters that a message names. */
const MOST_NAMED = 3;

/** Longest word of another object that a message repeats. */
const LONGEST = 512;

/** `status` without its conditions. */
export type AddonFields = Omit<TalosClusterAddonStatus, "conditions" | "observedGeneration">;

/** A release that goes, and why: `deselected` is uninstalled from its cluster, with `cluster-gone` there is no such cluster any more. */
export interface Removal {
  readonly release: TalosClusterAddonRelease;
  readonly why: "deselected" | "cluster-gone";
}

/** What a pass does, in this order, and says. */
export interface AddonDecision {
  readonly create: readonly Cluster[];
  /** Releases that are to be as the addon says. */
  readonly fit: readonly { readonly release: TalosClusterAddonRelease; readonly cluster: Cluster }[];
  /** Releases that get the mark that their cluster is not selected any more. */
  readonly mark: readonly TalosClusterAddonRelease[];
  readonly remove: readonly Removal[];
  readonly fields: AddonFields;
  readonly conditions: readonly ConditionInput[];
  /** Releases of selected clusters. */
  readonly parts: readonly Part[];
}

interface Said {
  readonly reason: ReadyReason;
  readonly message: string;
}

/** What becomes of an addon on a selected cluster. */
type Place =
  | { readonly kind: "create"; readonly cluster: Cluster }
  | { readonly kind: "fit" | "settled"; readonly cluster: Cluster; readonly release: TalosClusterAddonRelease }
  /** A release of that name has to go first. */
  | { readonly kind: "waiting"; readonly message: string }
  | { readonly kind: "refused"; readonly said: Said; readonly release: TalosClusterAddonRelease | undefined };

/** Decides about one addon that is not being deleted. Pure. */
export function decideAddon(seen: AddonSeen): AddonDecision {
  const { addon } = seen;
  const view = viewOf(seen);
  const selector = selectorOf(addon);
  const obstacle = obstacleOf(seen);
  const ours = seen.releases.filter((release) => isOurs(release, addon));
  const clusters = seen.clusters.filter((cluster) => selects(view, addon, cluster, selector));
  const chosen = new Set(clusters.map((cluster) => releaseOn(view, addon, cluster)));
  // Of a cluster that is gone nothing is left to be asked for, whatever else is wrong.
  const gone = ours.filter((release) => release.metadata.deletionTimestamp === undefined && isClusterGone(view, addon, release));
  const rest = ours.filter((release) => !chosen.has(release) && !gone.includes(release));
  const left = rest.filter((release) => isToStay(view, release));
  const places = obstacle === undefined ? clusters.map((cluster) => placeOn(view, addon, cluster)) : [];
  const releases = obstacle === undefined ? places.flatMap(releaseOfPlace) : ours.filter((release) => chosen.has(release));
  const isUninstalling = addon.spec.onDeselect === "uninstall";
  const mayLeave = obstacle === undefined && selector.kind !== "invalid";
  const ready = releases.filter(isReleaseReady);
  const failed = releases.filter((release) => !isReleaseReady(release) && isHelpless(release)).length;
  const refused = places.filter(({ kind }) => kind === "refused").length;
  const said = obstacle ?? readyOf(seen, places, releases, clusters.length);
  const { generation } = addon.metadata;
  return {
    create: places.flatMap((place) => (place.kind === "create" ? [place.cluster] : [])),
    fit: places.flatMap((place) => (place.kind === "fit" ? [place] : [])),
    mark: mayLeave && !isUninstalling ? left.filter(({ metadata }) => metadata.annotations?.[annotations.addonNotSelected] !== "true") : [],
    remove: [
      ...gone.map((release) => ({ release, why: "cluster-gone" as const })),
      ...(mayLeave && isUninstalling ? left.map((release) => ({ release, why: "deselected" as const })) : []),
    ],
    fields: { clusters: clusters.length, ready: ready.length, failed: failed + refused, notSelected: isUninstalling ? 0 : left.length },
    conditions: [
      conditionFor("Ready", said.reason, said.message, generation),
      ...(obstacle === undefined ? disputesOf(view, clusters) : []),
    ],
    parts: releases,
  };
}

/** Why nothing of the addon is touched. */
function obstacleOf({ addon, problems, addons }: AddonSeen): Said | undefined {
  const [problem] = problems;
  if (problem !== undefined) return { reason: problem.reason, message: findingsMessage(problems) };
  const selector = selectorOf(addon);
  if (selector.kind === "invalid") return { reason: "ListClustersFailed", message: selector.message };
  const cycle = cycleOf(addon, addons);
  if (cycle !== undefined)
    return {
      reason: "DependencyCycle",
      message: `spec.dependsOn leads back to the addon: ${cycle.join(" → ")}. None of them would ever be installed. Take one of them out.`,
    };
  return undefined;
}

/** The way by which an addon waits for itself. */
function cycleOf(addon: TalosClusterAddon, addons: readonly TalosClusterAddon[]): readonly string[] | undefined {
  const { namespace, name } = addon.metadata;
  const needs = new Map(
    addons.filter(({ metadata }) => metadata.namespace === namespace).map((one) => [one.metadata.name, one.spec.dependsOn ?? []]),
  );
  const asked = new Set<string>();
  const walk = (at: string, way: readonly string[]): readonly string[] | undefined => {
    for (const next of needs.get(at) ?? []) {
      if (next === name) return [...way, next];
      if (asked.has(next)) continue;
      asked.add(next);
      const found = walk(next, [...way, next]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return walk(name, [name]);
}

/** Neither its cluster nor itself is going. */
function isToStay(view: AddonView, release: TalosClusterAddonRelease): boolean {
  return release.metadata.deletionTimestamp === undefined && view.clusterOf(release)?.controlPlane.metadata.deletionTimestamp === undefined;
}

/** One whose reference somebody edited is put right, where its own name says which cluster it is for. */
function isClusterGone(view: AddonView, addon: TalosClusterAddon, release: TalosClusterAddonRelease): boolean {
  if (view.clusterOf(release) !== undefined) return false;
  return !view.seen.clusters.some((cluster) => releaseOn(view, addon, cluster) === release && !isOfEarlier(release, cluster));
}

function placeOn(view: AddonView, addon: TalosClusterAddon, cluster: Cluster): Place {
  const release = releaseOn(view, addon, cluster);
  const isOwn = release !== undefined && isOurs(release, addon);
  const refused = (reason: ReadyReason, message: string): Place => ({
    kind: "refused",
    said: { reason, message },
    release: isOwn ? release : undefined,
  });
  const fields = unsharedReferences(addon, cluster);
  if (fields.length > 0)
    return refused(
      "ReferencesNotShared",
      `${nameOf(cluster)} is in another namespace, and ${fields.join(", ")} would be read there. Leave them out, or make the addon in that namespace.`,
    );
  if (release !== undefined) {
    const { namespace = "", name, deletionTimestamp } = release.metadata;
    if (!isOwn && !isAdoptable(view, addon, cluster, release))
      return refused(
        "CreateOrUpdateReleaseFailed",
        `TalosClusterAddonRelease ${namespace}/${name} is there and not this addon's. Rename the addon, or delete what is there.`,
      );
    if (deletionTimestamp !== undefined || isOfEarlier(release, cluster))
      return { kind: "waiting", message: `TalosClusterAddonRelease ${namespace}/${name} of before is being removed first.` };
  }
  const [first] = claimsOn(view, addon, cluster);
  if (first !== undefined && !first.isOurs)
    return refused(
      "ReleaseNotOurs",
      `The Helm release ${releaseTextOfAddon(addon)} on ${nameOf(cluster)} is that of ${first.who}. Give this addon another helmSpec.releaseName.`,
    );
  if (release === undefined) return { kind: "create", cluster };
  const isSettled = patchBetween(release, releaseFor(addon, cluster.controlPlane, release)).length === 0;
  return { kind: isSettled ? "settled" : "fit", cluster, release };
}

/** One that a person made by the published name is taken over when it is the same chart in the same place: only then nobody loses anything. */
function isAdoptable(view: AddonView, addon: TalosClusterAddon, cluster: Cluster, release: TalosClusterAddonRelease): boolean {
  return (
    belongingOf(release, addon) === "nobody" &&
    view.clusterOf(release) === cluster &&
    release.spec.helmSpec?.chartName === helmSpecOf(addon)?.chartName &&
    releaseTextOf(release) === releaseTextOfAddon(addon) &&
    isDeepStrictEqual(release.spec.manifests, manifestsOf(addon))
  );
}

function releaseOfPlace(place: Place): readonly TalosClusterAddonRelease[] {
  return place.kind === "create" || place.kind === "waiting" || place.release === undefined ? [] : [place.release];
}

/** Only a person helps it on. */
function isHelpless({ status }: TalosClusterAddonRelease): boolean {
  const ready = findCondition(status?.conditions, "Ready");
  return ready !== undefined && releaseOf(ready) === "person";
}

function readyOf(
  { addon, clusters: known }: AddonSeen,
  places: readonly Place[],
  releases: readonly TalosClusterAddonRelease[],
  selected: number,
): Said {
  const refused = places.flatMap((place) => (place.kind === "refused" ? [place.said] : []));
  const [refusal] = refused;
  if (refusal !== undefined) {
    const same = refused.filter(({ reason }) => reason === refusal.reason);
    const more = same.length > MOST_NAMED ? ` And ${same.length - MOST_NAMED} more clusters.` : "";
    return {
      reason: refusal.reason,
      message: `${same
        .slice(0, MOST_NAMED)
        .map(({ message }) => message)
        .join(" ")}${more}`,
    };
  }
  if (selected === 0) {
    const isEmpty = selectorOf(addon).kind === "empty";
    const message = isEmpty
      ? "spec.clusterSelector is empty, which selects no cluster. Give it labels of the TalosControlPlane or TalosCluster."
      : known.length === 0
        ? "There is no cluster yet. Make a TalosCluster with the labels of spec.clusterSelector."
        : "No TalosControlPlane or TalosCluster has the labels of spec.clusterSelector in this namespace, or in one that grants it. Label one, or correct the selector.";
    return { reason: "NoClusterSelected", message };
  }
  const waiting = places.find((place) => place.kind === "waiting");
  const unready = releases.find((release) => !isReleaseReady(release));
  const ready = releases.filter(isReleaseReady).length;
  if (ready === selected)
    return { reason: "Reconciled", message: `${ready === 1 ? "The selected cluster runs" : `All ${ready} selected clusters run`} it.` };
  const first = waiting?.kind === "waiting" ? waiting.message : unready === undefined ? "The others are being begun." : wordsOf(unready);
  return { reason: "ReleasesNotReady", message: `${ready} of ${selected} selected clusters run it. ${first}` };
}

function wordsOf({ metadata, status }: TalosClusterAddonRelease): string {
  const ready = status?.observedGeneration === metadata.generation ? findCondition(status?.conditions, "Ready") : undefined;
  const words = ready === undefined ? "Nothing is known of it yet." : `${ready.reason}: ${ready.message.slice(0, LONGEST)}`;
  return `${metadata.namespace ?? ""}/${metadata.name}: ${words}`;
}

function nameOf({ controlPlane }: Cluster): string {
  return `${controlPlane.metadata.namespace ?? ""}/${controlPlane.metadata.name}`;
}

/** Both sides hear of it. */
function disputesOf(view: AddonView, clusters: readonly Cluster[]): readonly ConditionInput[] {
  const { addon } = view.seen;
  const disputes = clusters.flatMap((cluster) => {
    const others = claimsOn(view, addon, cluster).filter((claim) => !claim.isOurs);
    return others.length === 0 ? [] : [`${releaseTextOfAddon(addon)} on ${nameOf(cluster)}: ${others.map(({ who }) => who).join(", ")}.`];
  });
  if (disputes.length === 0) return [];
  const more = disputes.length > MOST_NAMED ? ` And on ${disputes.length - MOST_NAMED} more clusters.` : "";
  const message = `The same Helm release is asked for by others: ${disputes.slice(0, MOST_NAMED).join(" ")}${more}`;
  return [conditionFor("ReleaseDisputed", "WantedTwice", message, addon.metadata.generation)];
}
