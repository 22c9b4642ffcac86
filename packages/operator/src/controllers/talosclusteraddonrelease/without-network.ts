import { findCondition } from "@talos-operator/api";
import type { TalosControlPlane } from "@talos-operator/api";
import type { HelmOptions } from "@talos-operator/helm";
import type { ClusterFacts } from "../../model/record.ts";

/** Whether pods of this cluster cannot run yet, for the network plugin is to be installed by somebody: a release, for all that is known. */
export function lacksNetwork(controlPlane: TalosControlPlane | undefined, { cni }: ClusterFacts): boolean {
  const nodes = findCondition(controlPlane?.status?.conditions, "NodesReady");
  if (nodes?.reason === "NoNetworkPlugin") return true;
  // Made a moment ago: nobody has looked at its Nodes yet, and none was ever Ready.
  return cni?.name === "none" && (nodes === undefined || nodes.reason === "NotBootstrapped");
}

/**
 * Switches of a run that must not wait for pods: which of the releases brings the network nobody knows but by `dependsOn`, and those that wait for theirs would take
 * the turn of the one that they wait for. What they run is looked at afterwards, and the release is Ready only when that is.
 */
export function withoutWaits(options: HelmOptions): HelmOptions {
  const { wait: _wait, waitForJobs: _jobs, atomic: _atomic, ...others } = options;
  return others;
}
