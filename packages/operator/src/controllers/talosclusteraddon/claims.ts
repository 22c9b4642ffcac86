import { labels } from "@talos-operator/api";
import type { TalosClusterAddon, TalosClusterAddonRelease } from "@talos-operator/api";
import { fullName, nameFor } from "../../spec/places.ts";
import { belongingOf } from "./compose.ts";
import { releaseTextOf, releaseTextOfAddon } from "./helm-release.ts";
import { isAtWork, releaseOn, selects, unsharedReferences } from "./seen.ts";
import type { AddonView } from "./seen.ts";
import type { Cluster } from "./selection.ts";

/** Somebody who asks for a Helm release on a cluster. */
export interface Claim {
  /** Tells two of the same time apart, whoever asks. */
  readonly id: string;
  /** For people who may read the namespace of the addon alone. */
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
  const { namespace } = addon.metadata;
  // A set of objects has no name in the cluster that another one could ask for: its objects are disputed, one by one.
  if (text === "") return [wish(namespace, addon.metadata, true)];
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
    ...holders.map((release) => claimOf(namespace, release, release === ours && isHeldByUs)),
    ...others.map(({ metadata }) => wish(namespace, metadata, false)),
    ...(isHeldByUs ? [] : [wish(namespace, addon.metadata, true)]),
  ].toSorted((a, b) => a.stage - b.stage || compare(a.since, b.since) || compare(a.id, b.id));
}

/** One in another namespace that an addon of `namespace` made is no secret there. */
function claimOf(namespace: string | undefined, { metadata }: TalosClusterAddonRelease, isOurs: boolean): Claim {
  const object = { kind: "TalosClusterAddonRelease", metadata };
  const isMadeFromHere = metadata.labels?.[labels.addon]?.startsWith(`${namespace ?? ""}.`) === true;
  const id = fullName(object);
  return { id, who: isMadeFromHere ? id : nameFor(namespace, object), isOurs, stage: 0, since: metadata.creationTimestamp ?? "" };
}

function wish(namespace: string | undefined, metadata: TalosClusterAddon["metadata"], isOurs: boolean): Claim {
  const object = { kind: "TalosClusterAddon", metadata };
  return { id: fullName(object), who: nameFor(namespace, object), isOurs, stage: 1, since: metadata.creationTimestamp ?? "" };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
