import type { ConfigMap, ConfigValue } from "../document/value.ts";

/** The member at a path, `undefined` when any step is absent. */
export function at(members: ConfigMap | undefined, ...path: readonly string[]): ConfigValue | undefined {
  let current: ConfigValue | undefined = members;
  for (const step of path) current = current instanceof Map ? current.get(step) : undefined;
  return current;
}

/** A struct or map at a path. */
export function mapAt(members: ConfigMap | undefined, ...path: readonly string[]): ConfigMap | undefined {
  const value = at(members, ...path);
  return value instanceof Map ? value : undefined;
}

/** A text at a path, empty when absent. */
export function textAt(members: ConfigMap | undefined, ...path: readonly string[]): string {
  const value = at(members, ...path);
  return typeof value === "string" ? value : "";
}

/** A list at a path, empty when absent. */
export function listAt(members: ConfigMap | undefined, ...path: readonly string[]): readonly ConfigValue[] {
  const value = at(members, ...path);
  return Array.isArray(value) ? value : [];
}
