import type { KubeClient } from "@talos-operator/kube-runtime";

const namespaces = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };

/** Whether a namespace is going away, read now: nothing can be made in it any more, and nothing may hold it up. */
export async function namespaceTerminates(name: string | undefined, client: KubeClient): Promise<boolean> {
  const namespace = await client.resource(namespaces).tryGet({ name: name ?? "" });
  return namespace?.metadata?.deletionTimestamp !== undefined;
}
