import { getOwn, isObject } from "../json.ts";

/** Reads nested fields without trusting their types. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const key of path) found = isObject(found) ? getOwn(found, key) : undefined;
  return found;
}

/** A list at a path; anything else counts as empty. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** A text at a path, else `fallback`. */
export function textAt(fallback: string, value: unknown, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === "string" && found !== "" ? found : fallback;
}
