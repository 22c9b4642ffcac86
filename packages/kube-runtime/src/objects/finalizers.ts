import type { KubeCallOptions } from "@talos-operator/ports";
import { isNotFound } from "../client/error-predicates.ts";
import type { ResourceClient } from "../client/resource-client.ts";
import type { KubeObject } from "./kube-object.ts";

/** True when the object carries the finalizer. */
export function hasFinalizer(object: KubeObject, finalizer: string): boolean {
  return object.metadata?.finalizers?.includes(finalizer) === true;
}

/** True when the object is being deleted. */
export function isBeingDeleted(object: KubeObject): boolean {
  return typeof object.metadata?.deletionTimestamp === "string";
}

/**
 * Adds a finalizer by compare-and-swap; no call when it is there. Returns the object as it is afterwards.
 *
 * @throws KubeApiError `CONFLICT` when the object changed since it was read; `FORBIDDEN` or `INVALID` for one that is being deleted
 */
export async function addFinalizer<T extends KubeObject>(
  resource: ResourceClient<T>,
  object: T,
  finalizer: string,
  options: KubeCallOptions = {},
): Promise<T> {
  if (hasFinalizer(object, finalizer)) return object;
  return patchFinalizers(resource, object, [...(object.metadata?.finalizers ?? []), finalizer], options);
}

/**
 * Removes a finalizer by compare-and-swap; no call when it is not there. `undefined` when the object is gone, which is what was wanted.
 *
 * @throws KubeApiError `CONFLICT` when the object changed since it was read
 */
export async function removeFinalizer<T extends KubeObject>(
  resource: ResourceClient<T>,
  object: T,
  finalizer: string,
  options: KubeCallOptions = {},
): Promise<T | undefined> {
  if (!hasFinalizer(object, finalizer)) return object;
  const kept = (object.metadata?.finalizers ?? []).filter((other) => other !== finalizer);
  try {
    return await patchFinalizers(resource, object, kept, options);
  } catch (thrown) {
    if (isNotFound(thrown)) return undefined;
    throw thrown;
  }
}

// A merge patch replaces the whole list, so it must carry the version that the list was read from.
function patchFinalizers<T extends KubeObject>(
  resource: ResourceClient<T>,
  object: T,
  finalizers: readonly string[],
  options: KubeCallOptions,
): Promise<T> {
  const { namespace, name = "", uid, resourceVersion } = object.metadata ?? {};
  const metadata = { finalizers, resourceVersion, ...(uid === undefined ? {} : { uid }) };
  return resource.patch({ namespace, name }, { type: "merge", value: { metadata } }, options);
}
