import { finalizers } from "@talos-operator/api";
import type { TalosClusterAddonRelease } from "@talos-operator/api";
import type { ReleaseSeen } from "./model.ts";

export function hasOurFinalizer({ metadata }: TalosClusterAddonRelease): boolean {
  return metadata.finalizers?.includes(finalizers.talosClusterAddonRelease) === true;
}

/** It is installed in another cluster than the one that its spec names by now. */
export function isElsewhere({ release, cluster }: ReleaseSeen): boolean {
  const installedIn = release.status?.cluster;
  return installedIn !== undefined && cluster.kind !== "absent" && cluster.name !== installedIn;
}

export function elsewhereWords({ release }: ReleaseSeen): string {
  return `spec.clusterRef: it is installed in the cluster ${release.status?.cluster ?? ""}, and stays there. Name that one again, or delete this object and make another.`;
}
