import type { KubeObject, ResourceType } from "@talos-operator/kube-runtime";

/** Kubernetes Nodes of the managed cluster. */
export const nodeType: ResourceType = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };

/** Its pods. */
export const podType: ResourceType = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };

/** How many pods of a kind may be away at once. */
export const budgetType: ResourceType = {
  group: "policy",
  version: "v1",
  plural: "poddisruptionbudgets",
  kind: "PodDisruptionBudget",
  namespaced: true,
};

/** Its claims for volumes. */
export const claimType: ResourceType = {
  group: "",
  version: "v1",
  plural: "persistentvolumeclaims",
  kind: "PersistentVolumeClaim",
  namespaced: true,
};

/** Which volumes are attached to which Node. */
export const volumeAttachmentType: ResourceType = {
  group: "storage.k8s.io",
  version: "v1",
  plural: "volumeattachments",
  kind: "VolumeAttachment",
  namespaced: false,
};

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
  readonly spec?: {
    readonly nodeName?: string;
    readonly volumes?: readonly {
      readonly name: string;
      readonly persistentVolumeClaim?: { readonly claimName: string };
      /** With a claim that is made for the pod, under the names of both. */
      readonly ephemeral?: object;
    }[];
  };
  readonly status?: { readonly phase?: string };
};

/** What is read of a claim. */
export type ClaimObject = KubeObject & { readonly spec?: { readonly volumeName?: string } };

/** What is read of a volume that is attached, or about to be. */
export type VolumeAttachmentObject = KubeObject & {
  readonly spec?: { readonly nodeName?: string; readonly source?: { readonly persistentVolumeName?: string } };
  readonly status?: { readonly attached?: boolean };
};
