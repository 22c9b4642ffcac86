import { cloneJson, getOwn, isObject, setOwn, type JsonObject } from "../json.ts";
import type { SchemaNode } from "./types.ts";

/**
 * Fills in defaults, in place. A null that the schema does not allow counts as absent: it is removed, or replaced by the default.
 */
export function applyDefaults(value: unknown, node: SchemaNode): void {
  if (isObject(value)) {
    dropNulls(value, node);
    for (const [name, child] of node.properties) {
      if (child.hasDefault && !Object.hasOwn(value, name)) setOwn(value, name, cloneJson(child.defaultValue));
    }
    for (const key of Object.keys(value)) {
      const child = node.properties.get(key) ?? (node.additional === true ? undefined : node.additional);
      const inner = value[key];
      if (child !== undefined && typeof inner === "object" && inner !== null) applyDefaults(inner, child);
    }
  } else if (Array.isArray(value) && node.items !== undefined) {
    const { items } = node;
    value.forEach((item: unknown, index) => {
      if (item === null && !items.nullable && items.hasDefault) value[index] = cloneJson(items.defaultValue);
      else if (typeof item === "object" && item !== null) applyDefaults(item, items);
    });
  }
}

function dropNulls(value: JsonObject, node: SchemaNode): void {
  for (const key of Object.keys(value)) {
    if (getOwn(value, key) !== null) continue;
    const child = node.properties.get(key) ?? (node.additional === true ? undefined : node.additional);
    if (child === undefined || child.nullable) continue;
    if (node.properties.has(key) || child.hasDefault) {
      delete value[key];
      if (child.hasDefault) setOwn(value, key, cloneJson(child.defaultValue));
    }
  }
}
