import type { YamlMappingNode, YamlNode } from "./node.ts";

/** The member of a mapping at a path of keys, `undefined` when any step is absent or of another shape. */
export function nodeAt(node: YamlNode | undefined, ...path: readonly string[]): YamlNode | undefined {
  let current = node;
  for (const key of path) {
    if (current?.type !== "mapping") return undefined;
    current = current.entries.find((entry) => entry.key === key)?.value;
  }
  return current;
}

/** The text of a scalar that is not null and not empty. */
export function textAt(node: YamlNode | undefined, ...path: readonly string[]): string | undefined {
  const found = nodeAt(node, ...path);
  return found?.type !== "scalar" || found.kind === "null" || found.text === "" ? undefined : found.text;
}

/** The scalars of a list; an absent list is empty. */
export function textsAt(node: YamlNode | undefined, ...path: readonly string[]): readonly string[] {
  const found = nodeAt(node, ...path);
  return found?.type !== "sequence" ? [] : found.items.flatMap((item) => (item.type === "scalar" ? [item.text] : []));
}

/** The scalars of a mapping. */
export function textMapAt(node: YamlNode | undefined, ...path: readonly string[]): Readonly<Record<string, string>> {
  const found = nodeAt(node, ...path);
  if (found?.type !== "mapping") return {};
  return Object.fromEntries(found.entries.flatMap(({ key, value }) => (value.type === "scalar" ? [[key, value.text] as const] : [])));
}

/** `true` or `false`; `undefined` when absent or something else. */
export function flagAt(node: YamlNode | undefined, ...path: readonly string[]): boolean | undefined {
  const found = nodeAt(node, ...path);
  return found?.type === "scalar" && found.kind === "bool" ? found.text.toLowerCase() === "true" : undefined;
}

/** True when the mapping has the key, whatever its value. */
export function hasKey(node: YamlMappingNode, key: string): boolean {
  return node.entries.some((entry) => entry.key === key);
}
