import { annotations, findCondition, isConditionTrue, reconcileModeOf } from "@talos-operator/api";
import type { ClusterModel, Condition, KubernetesCluster, TalosControlPlane } from "@talos-operator/api";
import { compositionFinalizers } from "./keys.ts";
import type { Seen } from "./model.ts";

/** A cluster that another operator made and that this one is to take over. */
export interface Takeover {
  /** The Secret with the keys of the running cluster. */
  readonly bundle: string;
  /** A person asks for it; false when only the traces of the other operator are there. */
  readonly isAsked: boolean;
}

/**
 * Whether a KubernetesCluster is one that runs already: a person says `reconcile-mode: import`, or the finalizer of the operator that published these kinds
 * stands on it. That operator keeps the keys in a Secret named like the clusterId; another name is told by `import-bundle`. Pure.
 */
export function takeoverOf({ metadata }: KubernetesCluster, { clusterId }: Pick<ClusterModel, "clusterId">): Takeover | undefined {
  const isAsked = reconcileModeOf(metadata) === "import";
  if (!isAsked && metadata.finalizers?.includes(compositionFinalizers.clusterOfOthers) !== true) return undefined;
  const named = metadata.annotations?.[annotations.importBundle] ?? "";
  return { bundle: named === "" ? clusterId : named, isAsked };
}

/** True until the control plane is taken over: Machines stay as they are so long, as their providers act on each change. */
export function isTakeoverOpen(takeover: Takeover | undefined, controlPlane: TalosControlPlane | undefined): boolean {
  if (takeover === undefined) return false;
  return controlPlane?.status?.imported !== true && !isConditionTrue(controlPlane?.status?.conditions, "Imported");
}

/**
 * True for a cluster that another operator made, whose Machines run, and that was not taken over: what makes Machines go is not known to be this operator's to
 * do. One that was taken over has Machines with our finalizer; one that was taken over while it went says in its status that it goes on, also once its control
 * plane is gone.
 */
export function isStillOfOthers({ cluster, controlPlane, machines }: Pick<Seen, "cluster" | "controlPlane" | "machines">): boolean {
  if (machines.length === 0 || !isTakeoverOpen(takeoverOf(cluster, { clusterId: "" }), controlPlane)) return false;
  const goes = findCondition(cluster.status?.conditions as readonly Condition[] | undefined, "Deleting")?.reason ?? "Blocked";
  return goes === "Blocked" && !machines.some(({ metadata }) => metadata.finalizers?.includes(compositionFinalizers.machineInUse) === true);
}
