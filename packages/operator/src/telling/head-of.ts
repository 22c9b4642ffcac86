import { apiVersionOf, kubernetesClusterResource, talosClusterResource } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";

const HEADS: ReadonlySet<string> = new Set(
  [talosClusterResource, kubernetesClusterResource].map((type) => `${apiVersionOf(type)} ${type.kind}`),
);

/** The object that a person wrote and reads: the TalosCluster or KubernetesCluster that made this one, else the object itself. */
export function headOf(object: KubeObject): KubeObject {
  const { namespace, ownerReferences = [] } = object.metadata ?? {};
  const owner = ownerReferences.find(({ controller }) => controller === true);
  if (owner === undefined || !HEADS.has(`${owner.apiVersion} ${owner.kind}`)) return object;
  const { apiVersion, kind, name, uid } = owner;
  return { apiVersion, kind, metadata: { ...(namespace === undefined ? {} : { namespace }), name, uid } };
}
