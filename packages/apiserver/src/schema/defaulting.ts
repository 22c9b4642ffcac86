import { cloneJson, getOwn, isObject, setOwn, type JsonObject } from "../json.ts";
import type { SchemaNode } from "./types.ts";

/**
 * Fills in defaults, in place. A null that the schema does not allow is replaced by the default; without a default it is removed, or kept
 * when `keepNulls` says so (after server-side apply, where such a null is an error for validation to find).
 */
export function applyDefaults(value: unknown, node: SchemaNode, keepNulls = false): void {
  if (isObject(value)) {
    replaceNulls(value, node, keepNulls);
    for (const [name, child] of node.properties) {
      if (child.hasDefault && !Object.hasOwn(value, name)) setOwn(value, name, cloneJson(child.defaultValue));
    }
    for (const key of Object.keys(value)) {
      const child = node.properties.get(key) ?? (node.additional === true ? undefined : node.additional);
      const inner = value[key];
      if (child !== undefined && typeof inner === "object" && inner !== null) applyDefaults(inner, child, keepNulls);
    }
  } else if (Array.isArray(value) && node.items !== undefined) {
    const { items } = node;
    value.forEach((item: unknown, index) => {
      if (item === null && !items.nullable && items.hasDefault) value[index] = cloneJson(items.defaultValue);
      else if (typeof item === "object" && item !== null) applyDefaults(item, items, keepNulls);
    });
  }
}

function replaceNulls(value: JsonObject, node: SchemaNode, keepNulls: boolean): void {
  for (const key of Object.keys(value)) {
    if (getOwn(value, key) !== null) continue;
    const child = node.properties.get(key) ?? (node.additional === true ? undefined : node.additional);
    if (child === undefined || child.nullable) continue;
    if (child.hasDefault) setOwn(value, key, cloneJson(child.defaultValue));
    else if (!keepNulls) delete value[key];
  }
}
