import type { KubeObject, ResourceType } from "@talos-operator/kube-runtime";

/** Kubernetes Nodes of the managed cluster. */
export const nodeType: ResourceType = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };

/** Its pods. */
export const podType: ResourceType = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };

/** What is read of a taint; it is written back as it was read. */
export interface Taint {
  readonly key: string;
  readonly effect: string;
}

/** What is read of a Node. */
export type NodeObject = KubeObject & {
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[] };
  readonly status?: {
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly nodeInfo?: { readonly systemUUID?: string; readonly osImage?: string };
  };
};

/** What is read of a pod. */
export type PodObject = KubeObject & {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: { readonly phase?: string };
};
