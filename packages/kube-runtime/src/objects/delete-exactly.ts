import type { KubeCallOptions } from "@talos-operator/ports";
import { isConflict, isNotFound } from "../client/error-predicates.ts";
import type { ResourceClient } from "../client/resource-client.ts";
import type { KubeObject } from "./kube-object.ts";

/**
 * Deletes this very object: a call that takes effect late never meets a successor of the same name. One that is gone, or has a successor, is what was wanted.
 *
 * @throws KubeApiError any other refusal, or no answer
 * @throws RangeError when the object was not read from a server: without a UID it could be any
 */
export async function deleteExactly<T extends KubeObject>(
  resource: ResourceClient<T>,
  object: KubeObject,
  options: KubeCallOptions = {},
): Promise<void> {
  const { namespace, name = "", uid } = object.metadata ?? {};
  if (uid === undefined) throw new RangeError(`${name} has no UID to be deleted by`);
  try {
    await resource.delete({ namespace, name }, { ...options, preconditions: { uid } });
  } catch (thrown) {
    if (!isNotFound(thrown) && !isConflict(thrown)) throw thrown;
  }
}
