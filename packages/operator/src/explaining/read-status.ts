import {
  kubernetesClusterResource,
  talosClusterResource,
  talosControlPlaneResource,
  talosMachineResource,
  talosWorkerResource,
} from "@talos-operator/api";
import type { TalosCluster, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { isForbidden, isNotServed } from "@talos-operator/kube-runtime";
import type { KubeClient, ResourceType } from "@talos-operator/kube-runtime";
import type { TreeCluster, TreeInput } from "./status-tree.ts";

/** Reads what the trees of all clusters of a namespace are made from, of all namespaces without one. Five lists, whatever the number of machines. */
export async function readTreeInput(client: KubeClient, namespace?: string): Promise<TreeInput> {
  const listed = async <T extends object>(type: ResourceType): Promise<readonly T[]> => {
    const { items } = await client.resource<T>(type).list(namespace === undefined ? {} : { namespace });
    // Items of a list carry no kind.
    return items.map((item) => ({ ...item, kind: type.kind }));
  };
  const [talosClusters, controlPlanes, workers, machines, kubernetesClusters] = await Promise.all([
    listed<TalosCluster>(talosClusterResource),
    listed<TalosControlPlane>(talosControlPlaneResource),
    listed<TalosWorker>(talosWorkerResource),
    listed<TalosMachine>(talosMachineResource),
    whereServed(listed<TreeCluster>(kubernetesClusterResource)),
  ]);
  return { talosClusters, controlPlanes, workers, machines, kubernetesClusters };
}

/** An API may be without KubernetesClusters, and who reads may have no right to them: the rest is shown all the same. */
async function whereServed<T>(list: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await list;
  } catch (thrown) {
    if (isNotServed(thrown) || isForbidden(thrown)) return [];
    throw thrown;
  }
}
