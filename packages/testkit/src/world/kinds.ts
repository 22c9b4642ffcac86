import { crds } from "@talos-operator/api";
import type { KubeObject, ResourceType } from "@talos-operator/kube-runtime";

/** A kind of ours, or of vitistack.io, by its plural. */
export function ours(plural: string): ResourceType {
  const crd = crds.find(({ spec }) => spec.names.plural === plural);
  if (crd === undefined) throw new Error(`no CRD serves ${plural}`);
  return { group: crd.spec.group, version: "v1alpha1", plural, kind: crd.spec.names.kind, namespaced: true };
}

const core = (plural: string, kind: string): ResourceType => ({ group: "", version: "v1", plural, kind, namespaced: true });
export const secretType = core("secrets", "Secret");
export const configMapType = core("configmaps", "ConfigMap");
export const podType = core("pods", "Pod");
export const nodeType: ResourceType = { ...core("nodes", "Node"), namespaced: false };
export const budgetType: ResourceType = { ...core("poddisruptionbudgets", "PodDisruptionBudget"), group: "policy" };
export const claimType = core("persistentvolumeclaims", "PersistentVolumeClaim");
export const volumeType: ResourceType = { ...core("persistentvolumes", "PersistentVolume"), namespaced: false };
export const attachmentType: ResourceType = {
  ...core("volumeattachments", "VolumeAttachment"),
  group: "storage.k8s.io",
  namespaced: false,
};
export const crdType: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

/** A Secret, as it is stored. */
export type Secret = KubeObject & {
  readonly data?: Readonly<Record<string, string>>;
  readonly type?: string;
  readonly immutable?: boolean;
};
