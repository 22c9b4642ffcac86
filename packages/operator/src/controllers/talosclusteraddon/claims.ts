import type { TalosClusterAddon, TalosClusterAddonRelease } from "@talos-operator/api";
import { belongingOf } from "./compose.ts";
import { releaseTextOf, releaseTextOfAddon } from "./helm-release.ts";
import { isAtWork, releaseOn, selects, unsharedReferences } from "./seen.ts";
import type { AddonView } from "./seen.ts";
import type { Cluster } from "./selection.ts";

/** Somebody who asks for a Helm release on a cluster. */
export interface Claim {
  /** For people. */
  readonly who: string;
  readonly isOurs: boolean;
  /** 0 = there is a TalosClusterAddonRelease that asks for it, 1 = an addon is about to make one. */
  readonly stage: 0 | 1;
  /** Since when, RFC 3339; of the same stage the earlier one has it. */
  readonly since: string;
}

/**
 * Who asks for the Helm release of an addon on a cluster, in the order in which it is theirs. What exists comes before what is only wanted: an edit takes nobody's
 * release away.
 */
export function claimsOn(view: AddonView, addon: TalosClusterAddon, cluster: Cluster): readonly Claim[] {
  const text = releaseTextOfAddon(addon);
  // A set of objects has no name in the cluster that another one could ask for: its objects are disputed, one by one.
  if (text === "") return [wish(addon.metadata, true)];
  const on = view.releasesOn(cluster);
  const ours = releaseOn(view, addon, cluster);
  const holders = on.filter((release) => releaseTextOf(release) === text);
  const others = view.seen.addons.filter(
    (other) =>
      other.metadata.uid !== addon.metadata.uid &&
      isAtWork(other) &&
      releaseTextOfAddon(other) === text &&
      releaseOn(view, other, cluster) === undefined &&
      selects(view, other, cluster) &&
      unsharedReferences(other, cluster).length === 0,
  );
  // One of our name that is nobody's is taken over before it counts.
  const isHeldByUs = ours !== undefined && belongingOf(ours, addon) !== "other" && holders.includes(ours);
  return [
    ...holders.map((release) => claimOf(release, release === ours && isHeldByUs)),
    ...others.map(({ metadata }) => wish(metadata, false)),
    ...(isHeldByUs ? [] : [wish(addon.metadata, true)]),
  ].toSorted((a, b) => a.stage - b.stage || compare(a.since, b.since) || compare(a.who, b.who));
}

function claimOf({ metadata }: TalosClusterAddonRelease, isOurs: boolean): Claim {
  const who = `TalosClusterAddonRelease ${metadata.namespace ?? ""}/${metadata.name}`;
  return { who, isOurs, stage: 0, since: metadata.creationTimestamp ?? "" };
}

function wish({ namespace, name, creationTimestamp }: TalosClusterAddon["metadata"], isOurs: boolean): Claim {
  return { who: `TalosClusterAddon ${namespace ?? ""}/${name}`, isOurs, stage: 1, since: creationTimestamp ?? "" };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
