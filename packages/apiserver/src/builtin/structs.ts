import { getOwn, isObject, setOwn, type JsonObject } from "../json.ts";
import type { SchemaNode } from "../schema/index.ts";

/**
 * Adds the structs that the genuine server prints even when they are empty (`spec: {}`, `resources: {}`), in place, and returns the object.
 * Field ownership depends on them: what was always there is not added by anybody.
 */
export function fillStructs(object: JsonObject, node: SchemaNode): JsonObject {
  fill(object, node);
  return object;
}

function fill(value: unknown, node: SchemaNode): void {
  if (Array.isArray(value)) {
    if (node.items !== undefined) for (const item of value) fill(item, node.items);
    return;
  }
  if (!isObject(value)) return;
  for (const [name, child] of node.properties) {
    if (child.isStruct && !Object.hasOwn(value, name)) setOwn(value, name, {});
    const inner = getOwn(value, name);
    if (typeof inner === "object" && inner !== null) fill(inner, child);
  }
  if (node.additional !== undefined && node.additional !== true) {
    for (const key of Object.keys(value)) if (!node.properties.has(key)) fill(value[key], node.additional);
  }
}
