import type { StoreContent } from "@talos-operator/apiserver";
import type { WorkloadContents } from "@talos-operator/simulator";

/** What an embedded API keeps, as the etcd of a simulated cluster holds it. */
export function contentsOf({ revision, entries }: StoreContent): WorkloadContents {
  return { revision, objects: entries };
}
