import { ConfigError } from "../errors.ts";
import type { YamlMappingNode, YamlNode, YamlScalarNode } from "./node.ts";

/** One member of a mapping as it counts. */
export interface MergedMember {
  readonly key: string;
  readonly keyNode: YamlScalarNode;
  readonly value: YamlNode;
}

/** Whether the key is `<<`, without quotes: its value's members count as members of the mapping. */
export function isMergeKey(keyNode: YamlScalarNode): boolean {
  return keyNode.kind === "merge";
}

/**
 * Members of a mapping as Go's library gives them to maps: those of `<<` are taken in unless the mapping or an earlier one has the key, and
 * members without a key are lost. Structs do not know `<<`.
 *
 * @throws ConfigError `WRONG_TYPE` where `<<` holds anything but mappings
 */
export function mergedMembers(node: YamlMappingNode): readonly MergedMember[] {
  if (!node.entries.some(({ keyNode }) => keyNode.kind === "merge" || keyNode.kind === "null")) return node.entries;
  const members = new Map<string, MergedMember>();
  for (const entry of node.entries) {
    if (entry.keyNode.kind !== "merge") continue;
    const sources = entry.value.type === "sequence" ? entry.value.items : [entry.value];
    for (const source of sources) {
      if (source.type !== "mapping") {
        const detail = "yaml: map merge requires map or sequence of maps as the value";
        throw new ConfigError("WRONG_TYPE", detail, { line: source.line, column: source.column });
      }
      for (const member of mergedMembers(source)) if (!members.has(member.key)) members.set(member.key, member);
    }
  }
  for (const entry of node.entries) {
    if (entry.keyNode.kind !== "merge" && entry.keyNode.kind !== "null") members.set(entry.key, entry);
  }
  return [...members.values()];
}
