import { isObject } from "../../json.ts";
import type { JsonObject } from "../../json.ts";

/** The object with values for the fields that are absent; what is there stays. */
export function fill(object: JsonObject, defaults: JsonObject): JsonObject {
  const result = { ...object };
  for (const [name, value] of Object.entries(defaults)) {
    if (result[name] === undefined || result[name] === null) result[name] = value;
  }
  return result;
}

/** The object with one field changed, when it is an object itself. */
export function inside(object: JsonObject, field: string, change: (value: JsonObject) => JsonObject): JsonObject {
  const value = object[field];
  return isObject(value) ? { ...object, [field]: change(value) } : object;
}

/** The object with each object of a list changed. */
export function each(object: JsonObject, field: string, change: (value: JsonObject) => JsonObject): JsonObject {
  const list = object[field];
  return Array.isArray(list) ? { ...object, [field]: list.map((item: unknown) => (isObject(item) ? change(item) : item)) } : object;
}
