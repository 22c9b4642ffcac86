import { deleteExactly } from "@talos-operator/kube-runtime";
import type { KubeObject, ResourceClient } from "@talos-operator/kube-runtime";

/**
 * Deletes an object if it still belongs to this owner, as it is stored now: who deletes an owner with `--cascade=orphan` has it taken off what it made, and a
 * cache may not show that yet.
 *
 * @returns false for one that belongs to somebody else, or to nobody, by now
 */
export async function deleteOwned<T extends KubeObject>(resource: ResourceClient<T>, object: KubeObject, owner: string): Promise<boolean> {
  const { namespace, name = "", uid } = object.metadata ?? {};
  const live = await resource.tryGet({ namespace, name });
  if (live === undefined || live.metadata?.uid !== uid) return true;
  if (live.metadata?.ownerReferences?.some((reference) => reference.uid === owner) !== true) return false;
  await deleteExactly(resource, live);
  return true;
}

/** `kubectl delete --cascade=orphan`: the garbage collector takes the owner off what it made, and then this word off the owner. */
export function isBeingOrphaned({ finalizers = [] }: { readonly finalizers?: readonly string[] }): boolean {
  return finalizers.includes("orphan");
}
