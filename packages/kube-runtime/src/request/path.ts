import { KubeApiError } from "../client/kube-api-error.ts";
import type { ObjectKey, ResourceType } from "./resource-type.ts";

/**
 * Path of a collection: all namespaces when `namespace` is left out.
 *
 * @throws KubeApiError `INVALID_CALL` for a namespace on a cluster-scoped kind or a segment that is no name
 */
export function collectionPath(type: ResourceType, namespace?: string): string {
  const root = type.group === "" ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  if (namespace === undefined) return `${root}/${type.plural}`;
  if (!type.namespaced) throw invalidCall(type, `${type.kind} is cluster-scoped, yet a namespace was given`);
  return `${root}/namespaces/${segment(type, namespace, "namespace")}/${type.plural}`;
}

/**
 * Path of one object or of its subresource.
 *
 * @throws KubeApiError `INVALID_CALL` when the namespace is missing or superfluous, or a segment is no name
 */
export function objectPath(type: ResourceType, key: ObjectKey, subresource?: string): string {
  if (type.namespaced && (key.namespace === undefined || key.namespace === "")) {
    throw invalidCall(type, `${type.kind} is namespaced, yet no namespace was given`);
  }
  const path = `${collectionPath(type, key.namespace === "" ? undefined : key.namespace)}/${segment(type, key.name, "name")}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

// `.` and `..` survive percent-encoding and would address another path; an empty name addresses the collection.
function segment(type: ResourceType, text: string, what: string): string {
  if (text === "" || text === "." || text === ".." || /[/%\0]/.test(text)) {
    throw invalidCall(type, `"${text}" is not a valid ${what}`);
  }
  return encodeURIComponent(text);
}

function invalidCall(type: ResourceType, detail: string): KubeApiError {
  return new KubeApiError("INVALID_CALL", { call: `request for ${type.plural}`, detail });
}
