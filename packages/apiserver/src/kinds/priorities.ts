import type { JsonObject } from "../json.ts";
import { metadataOf, stringAt } from "../request/json.ts";
import { forbidden } from "../request/status.ts";

/** The priorities that every cluster has: what it cannot live without. */
export const systemPriorities: Readonly<Record<string, { readonly value: number; readonly description: string }>> = {
  "system-node-critical": {
    value: 2_000_001_000,
    description: "Used for system critical pods that must not be moved from their current node.",
  },
  "system-cluster-critical": {
    value: 2_000_000_000,
    description: "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  },
};

/** A PriorityClass that is to be the default, which one may be. */
export function refuseSecondDefault(priority: JsonObject, classes: readonly JsonObject[]): JsonObject {
  if (priority["globalDefault"] !== true) return priority;
  const nameOf = (one: JsonObject): string => stringAt(metadataOf(one), "name") ?? "";
  const other = classes.find((one) => one["globalDefault"] === true && nameOf(one) !== nameOf(priority));
  if (other === undefined) return priority;
  const why = `PriorityClass ${nameOf(other)} is already marked as default. Only one default can exist`;
  throw forbidden({ group: "scheduling.k8s.io", plural: "priorityclasses" }, nameOf(priority), why);
}
