import { spendStep } from "./request/deadline.ts";

/** A parsed JSON object. Keys may be anything, `__proto__` included: read with `Object.hasOwn`, write with `setOwn`. */
export type JsonObject = Record<string, unknown>;

/** True for a JSON object (not an array, not null). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The own property `key` of `object`, else `undefined`: never what a prototype holds. */
export function getOwn(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets an own property, also for the key `__proto__`, which plain assignment would turn into a prototype. */
export function setOwn(object: JsonObject, key: string, value: unknown): void {
  if (key === "__proto__") Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

/** A deep copy of a JSON value. Recursive: the caller has bounded the depth (see `depthExceeds`). */
export function cloneJson<T>(value: T): T;
export function cloneJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => cloneJson(item as unknown));
  if (!isObject(value)) return value;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) {
    const item = value[key];
    setOwn(copy, key, typeof item === "object" ? cloneJson(item) : item);
  }
  return copy;
}

/** Deep equality of two JSON values; the order of keys does not matter, the order of items does. */
export function equalJson(a: unknown, b: unknown): boolean {
  // Whoever looks for one item among many compares with each: where both are many, the request ends in time.
  spendStep();
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, index) => equalJson(item, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equalJson(a[key], b[key]));
}

/** True when a null stands anywhere in `value`. Recursive, as `cloneJson` is. */
export function holdsNull(value: unknown): boolean {
  if (value === null) return true;
  if (typeof value !== "object") return false;
  if (Array.isArray(value)) return value.some(holdsNull);
  for (const key in value) if (holdsNull((value as JsonObject)[key])) return true;
  return false;
}

/**
 * True when `value` nests deeper than `limit` levels. Iterative, so it is safe on a body that `JSON.parse` accepted 20,000 levels deep;
 * call it once on every body before anything recursive sees it.
 */
export function depthExceeds(value: unknown, limit: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== "object" || item === null) continue;
      for (const child of Array.isArray(item) ? item : Object.values(item))
        if (typeof child === "object" && child !== null) next.push(child);
    }
    level = next;
  }
  return false;
}
