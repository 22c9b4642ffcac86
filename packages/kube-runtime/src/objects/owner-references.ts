import { apiVersionOf, type ResourceType } from "../request/resource-type.ts";
import type { KubeObject, OwnerReference } from "./kube-object.ts";

/**
 * Reference that makes `owner` the controller of an object: the object is deleted with it, and nobody else may control it.
 *
 * @throws RangeError when the owner was not read from the server (no uid)
 */
export function controllerReference(owner: KubeObject, type: ResourceType): OwnerReference {
  return { ...ownerReference(owner, type), controller: true, blockOwnerDeletion: true };
}

/**
 * Plain owner reference.
 *
 * @throws RangeError when the owner was not read from the server (no uid)
 */
export function ownerReference(owner: KubeObject, type: ResourceType): OwnerReference {
  const { name, uid } = owner.metadata ?? {};
  if (name === undefined || uid === undefined)
    throw new RangeError(`an owner reference needs name and uid of the ${type.kind}; read it first`);
  return { apiVersion: apiVersionOf(type), kind: type.kind, name, uid };
}

/** The controller owner, if any. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata?.ownerReferences?.find((owner) => owner.controller === true);
}

/** True when exactly this object (by uid, not by name) is the controller. */
export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  const uid = owner.metadata?.uid;
  return uid !== undefined && controllerOf(object)?.uid === uid;
}
