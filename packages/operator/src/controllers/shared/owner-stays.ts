import type { ObjectMeta } from "@talos-operator/api";

/**
 * True when the object that a cache shows is there, and not being deleted. What one owns again that was deleted with `--cascade=orphan` would go with it, and be
 * wiped.
 *
 * @param live as it was read now; `undefined` = there is none
 */
export function ownerStays({ uid }: ObjectMeta, live: ObjectMeta | undefined): live is ObjectMeta {
  return live !== undefined && live.uid === uid && live.deletionTimestamp === undefined;
}
