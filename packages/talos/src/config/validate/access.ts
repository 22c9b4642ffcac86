import type { ConfigMap, ConfigValue } from "../document/value.ts";

/** The member at a path, `undefined` when any step is absent. */
export function at(members: ConfigMap | undefined, ...path: readonly string[]): ConfigValue | undefined {
  let current: ConfigValue | undefined = members;
  for (const step of path) current = current instanceof Map ? current.get(step) : undefined;
  return current;
}

/** Whether something is at a path, be it empty or zero. */
export function isThere(members: ConfigMap | undefined, ...path: readonly string[]): boolean {
  const value = at(members, ...path);
  return value !== undefined && value !== null;
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

/** A list of texts at a path, empty when absent. */
export function textsAt(members: ConfigMap | undefined, ...path: readonly string[]): readonly string[] {
  return listAt(members, ...path).map((item) => (typeof item === "string" ? item : ""));
}

/** A list of structs at a path, empty when absent. An empty item is an empty struct. */
export function mapsAt(members: ConfigMap | undefined, ...path: readonly string[]): readonly ConfigMap[] {
  return listAt(members, ...path).map((item) => (item instanceof Map ? item : new Map<string, ConfigValue>()));
}

/** A number at a path, 0 when absent. */
export function integerAt(members: ConfigMap | undefined, ...path: readonly string[]): bigint {
  const value = at(members, ...path);
  return typeof value === "bigint" ? value : 0n;
}

/** True when `true` stands at the path. */
export function isOn(members: ConfigMap | undefined, ...path: readonly string[]): boolean {
  return at(members, ...path) === true;
}
