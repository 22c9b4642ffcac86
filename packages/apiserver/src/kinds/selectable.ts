import { isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { metadataOf } from "../request/json.ts";
import { badRequest } from "../request/status.ts";
import type { StatusError } from "../request/status.ts";
import type { ServedKind } from "./kind.ts";

/** Values of an object's selectable fields, for one field selector. */
export function selectableFieldsOf(kind: ServedKind, object: JsonObject): Record<string, string> {
  const metadata = metadataOf(object);
  const fields: Record<string, string> = {
    "metadata.name": textOf(metadata["name"]),
    "metadata.namespace": textOf(metadata["namespace"]),
  };
  for (const field of kind.strategy.selectableFields) {
    fields[field] = textOf(valueAt(object, field));
  }
  return fields;
}

/** True for a field that this kind can be selected by. */
export function isSelectable(kind: ServedKind, field: string): boolean {
  return field === "metadata.name" || (kind.namespaced && field === "metadata.namespace") || kind.strategy.selectableFields.includes(field);
}

function valueAt(object: JsonObject, path: string): unknown {
  if (path === "source" && isObject(object["source"])) {
    return object["source"]["component"];
  }
  let value: unknown = object;
  for (const segment of path.split(".")) {
    value = isObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
  }
  // Selectors compare booleans and numbers as text; a field that a Node or Pod leaves out counts as false.
  return value === undefined && (path === "spec.unschedulable" || path === "spec.hostNetwork") ? false : value;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** The refusal of any other field, in the words that kube-apiserver has for this kind. */
export function refuseSelector(kind: ServedKind, field: string): StatusError {
  if (kind.custom || kind.strategy.selectableFields.length > 0) {
    return badRequest(`field label not supported: ${field}`);
  }
  return badRequest(`${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`);
}
