import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, stringAt, stringsAt } from "../request/json.ts";
import { qosClassOf } from "./defaults/pod.ts";

/** True when an object is one of those that the scopes of a quota single out. Only pods and claims have scopes. */
export function isInScopes(quota: JsonObject, resource: string, object: JsonObject): boolean {
  const spec = objectAt(quota, "spec");
  const wanted = [
    ...stringsAt(spec, "scopes").map((scopeName): JsonObject => ({ scopeName, operator: "Exists" })),
    ...objectsAt(objectAt(spec, "scopeSelector"), "matchExpressions"),
  ];
  return wanted.every((requirement) => {
    if (resource === "/pods") return isPodInScope(requirement, object);
    if (resource !== "/persistentvolumeclaims" || requirement["scopeName"] !== "VolumeAttributesClass") return false;
    return matches(requirement, stringAt(objectAt(object, "spec"), "volumeAttributesClassName") ?? "");
  });
}

/** True for a pod that ends by itself. */
export function isTerminating(pod: JsonObject): boolean {
  const { activeDeadlineSeconds } = objectAt(pod, "spec");
  return typeof activeDeadlineSeconds === "number" && activeDeadlineSeconds >= 0;
}

function isPodInScope(requirement: JsonObject, pod: JsonObject): boolean {
  switch (requirement["scopeName"]) {
    case "Terminating":
      return isTerminating(pod);
    case "NotTerminating":
      return !isTerminating(pod);
    case "BestEffort":
      return qosClassOf(pod) === "BestEffort";
    case "NotBestEffort":
      return qosClassOf(pod) !== "BestEffort";
    case "PriorityClass":
      return matches(requirement, stringAt(objectAt(pod, "spec"), "priorityClassName") ?? "");
    case "CrossNamespacePodAffinity":
      return looksAcrossNamespaces(pod);
    default:
      return false;
  }
}

function matches(requirement: JsonObject, value: string): boolean {
  const values = stringsAt(requirement, "values");
  switch (requirement["operator"]) {
    case "In":
      return values.includes(value);
    case "NotIn":
      return !values.includes(value);
    case "Exists":
      return value !== "";
    default:
      return value === "";
  }
}

function looksAcrossNamespaces(pod: JsonObject): boolean {
  const affinity = objectAt(objectAt(pod, "spec"), "affinity");
  return ["podAffinity", "podAntiAffinity"].some((side) => {
    const rules = objectAt(affinity, side);
    const preferred = objectsAt(rules, "preferredDuringSchedulingIgnoredDuringExecution");
    const terms = [
      ...objectsAt(rules, "requiredDuringSchedulingIgnoredDuringExecution"),
      ...preferred.map((weighted) => objectAt(weighted, "podAffinityTerm")),
    ];
    return terms.some((term) => stringsAt(term, "namespaces").length > 0 || term["namespaceSelector"] !== undefined);
  });
}
