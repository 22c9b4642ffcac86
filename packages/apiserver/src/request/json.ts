import { isObject, setOwn } from "../json.ts";
import type { JsonObject } from "../json.ts";

/** Deepest nesting that a request body may have; deeper ones are refused with 400 before recursive code sees them. */
export const maxNestingDepth = 64;

/** The object at `key`, or an empty one. For reading only: the empty one is not attached. */
export function objectAt(parent: unknown, key: string): JsonObject {
  const value = isObject(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined;
  return isObject(value) ? value : {};
}

/** The string at `key`, or `undefined`. */
export function stringAt(parent: unknown, key: string): string | undefined {
  const value = isObject(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined;
  return typeof value === "string" ? value : undefined;
}

/** The strings of a list at `key`; anything else in it is left out. */
export function stringsAt(parent: unknown, key: string): readonly string[] {
  const value = isObject(parent) ? parent[key] : undefined;
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

/** The objects of a list at `key`; anything else in it is left out. */
export function objectsAt(parent: unknown, key: string): readonly JsonObject[] {
  const value = isObject(parent) ? parent[key] : undefined;
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A deep copy as a trip over the wire would give it: members that are `undefined` vanish, such items become `null`. The depth was bounded before. */
export function wireCopy<T>(value: T): T;
export function wireCopy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map((item) => wireCopy(item as unknown) ?? null);
  }
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) {
    const item = (value as JsonObject)[key];
    if (item !== undefined) {
      setOwn(copy, key, typeof item === "object" ? wireCopy(item) : item);
    }
  }
  return copy;
}

/** `base` without the members named. */
export function without(base: JsonObject, ...keys: readonly string[]): JsonObject {
  const copy: JsonObject = {};
  for (const [key, value] of Object.entries(base)) {
    if (!keys.includes(key)) {
      setOwn(copy, key, value);
    }
  }
  return copy;
}

/** The metadata of an object, for reading. */
export function metadataOf(object: JsonObject): JsonObject {
  return objectAt(object, "metadata");
}

/** The object with its metadata replaced by the old one plus `changes`; a change to `undefined` removes the member. */
export function withMetadata(object: JsonObject, changes: JsonObject): JsonObject {
  const metadata: JsonObject = {};
  for (const [key, value] of Object.entries({ ...metadataOf(object), ...changes })) {
    if (value !== undefined) {
      metadata[key] = value;
    }
  }
  return { ...object, metadata };
}
