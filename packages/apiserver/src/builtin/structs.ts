import { getOwn, holdsNull, isObject, setOwn, type JsonObject } from "../json.ts";
import { canonicalQuantity } from "./canonical-quantity.ts";
import type { SchemaNode } from "../schema/index.ts";

/**
 * Adds the structs that the genuine server prints even when they are empty (`spec: {}`, `resources: {}`), in place, and returns the object.
 * Field ownership depends on them: what was always there is not added by anybody.
 */
export function fillStructs(object: JsonObject, node: SchemaNode): JsonObject {
  fill(object, node, false);
  const status = getOwn(object, "status");
  const child = node.properties.get("status");
  if (isObject(status) && child !== undefined) fill(status, child, true);
  return object;
}

const zeroes: Readonly<Record<string, unknown>> = { string: "", integer: 0, number: 0, boolean: false };

/** @param inStatus also fill in zero values of required scalars; elsewhere their absence is an error for validation to find */
function fill(value: unknown, node: SchemaNode, inStatus: boolean): void {
  if (Array.isArray(value)) {
    if (node.items !== undefined) for (const item of value) fill(item, node.items, inStatus);
    return;
  }
  if (!isObject(value)) return;
  for (const [name, child] of node.properties) {
    if (child.isStruct && !Object.hasOwn(value, name)) setOwn(value, name, child.type === "string" ? null : {});
    if (inStatus && !Object.hasOwn(value, name) && node.source.required?.includes(name) === true && child.type in zeroes)
      setOwn(value, name, zeroes[child.type]);
    const inner = getOwn(value, name);
    if (typeof inner === "object" && inner !== null) fill(inner, child, inStatus);
    else if (child.source.format === "quantity" && inner !== undefined) setOwn(value, name, canonicalQuantity(inner));
  }
  if (node.additional !== undefined && node.additional !== true) {
    const isQuantity = node.additional.source.format === "quantity";
    for (const key of Object.keys(value)) {
      if (node.properties.has(key)) continue;
      if (isQuantity) setOwn(value, key, canonicalQuantity(value[key]));
      else fill(value[key], node.additional, inStatus);
    }
  }
}

/**
 * Turns nulls into what Go reads them as, in place: an empty text where a map or list holds texts. Other nulls are absent fields.
 */
export function readNulls(object: JsonObject, node: SchemaNode): void {
  // Nearly nobody writes one, and the walk along the schema costs more than the search.
  if (holdsNull(object)) read(object, node);
}

function read(value: unknown, node: SchemaNode): void {
  if (Array.isArray(value)) {
    const { items } = node;
    if (items === undefined) return;
    value.forEach((item: unknown, index) => {
      if (item === null && isText(items)) value[index] = "";
      else read(item, items);
    });
    return;
  }
  if (!isObject(value)) return;
  for (const key of Object.keys(value)) {
    const child = node.properties.get(key);
    // Templates have metadata as objects do, and a time that Go leaves out when there is none.
    if (key === "creationTimestamp" && value[key] === null) delete value[key];
    else if (child !== undefined) read(value[key], child);
    else if (node.additional !== undefined && node.additional !== true) {
      if (value[key] === null && isText(node.additional)) setOwn(value, key, "");
      else read(value[key], node.additional);
    }
  }
}

const isText = (node: SchemaNode): boolean => node.type === "string" && (node.source.format ?? "") === "";

/**
 * Removes empty lists and maps that nobody must write, in place: the genuine server reads a built-in kind into a struct that does not print
 * them again. An empty struct stays, for it may mean something (`emptyDir: {}`).
 */
export function dropEmpty(value: unknown, node: SchemaNode): void {
  if (Array.isArray(value)) {
    if (node.items !== undefined) for (const item of value) dropEmpty(item, node.items);
    return;
  }
  if (!isObject(value)) return;
  for (const key of Object.keys(value)) {
    const child = node.properties.get(key);
    const inner = getOwn(value, key);
    if (typeof inner !== "object" || inner === null) continue;
    if (child === undefined) {
      if (node.additional !== undefined && node.additional !== true) dropEmpty(inner, node.additional);
      continue;
    }
    dropEmpty(inner, child);
    const isEmpty = Array.isArray(inner) ? inner.length === 0 : child.additional !== undefined && Object.keys(inner).length === 0;
    if (isEmpty && !child.isStruct && node.source.required?.includes(key) !== true) delete value[key];
  }
}
