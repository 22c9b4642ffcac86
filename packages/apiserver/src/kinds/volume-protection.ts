import type { JsonObject } from "../json.ts";
import { metadataOf, stringsAt, withMetadata } from "../request/json.ts";

/** With this a claim waits until no pod uses it. */
export const claimFinalizer = "kubernetes.io/pvc-protection";
/** With this a volume waits until no claim has it. */
export const volumeFinalizer = "kubernetes.io/pv-protection";

/** The object with a finalizer among its own. */
export function protectedBy(object: JsonObject, finalizer: string): JsonObject {
  const finalizers = stringsAt(metadataOf(object), "finalizers");
  return finalizers.includes(finalizer) ? object : withMetadata(object, { finalizers: [...finalizers, finalizer] });
}
