import { ConfigError } from "../errors.ts";
import type { Type } from "../schema/notation.ts";
import { emitYaml, type YamlValue } from "../yaml/emit.ts";
import { sortedByKey } from "../yaml/key-order.ts";
import { isMergeKey } from "../yaml/merged-members.ts";
import { PlainScalar } from "../yaml/plain-scalar.ts";
import { nearestName } from "./nearest-name.ts";
import type { YamlNode, YamlScalarNode } from "../yaml/node.ts";

/**
 * Refuses keys that the type does not have. The detail shows the unknown part of the tree, as Talos does.
 *
 * @throws ConfigError `UNKNOWN_FIELD` with the place of the first
 */
export function checkUnknownKeys(type: Type, node: YamlNode): void {
  let first: { node: YamlNode; path: string; meant: string | undefined } | undefined;
  const unknown = unknownPart(type, node, "", (found, path, meant) => {
    if (first === undefined || found.line < first.node.line) first = { node: found, path, meant };
  });
  if (unknown === undefined || first === undefined) return;
  const detail = `unknown keys found during decoding:\n${emitYaml(unknown)}`;
  throw new ConfigError("UNKNOWN_FIELD", detail, {
    path: first.path,
    line: first.node.line,
    column: first.node.column,
    meant: first.meant,
  });
}

type Report = (node: YamlNode, path: string, meant: string | undefined) => void;

function unknownPart(type: Type, node: YamlNode, path: string, report: Report): YamlValue | undefined {
  if (type.kind === "pointer") return unknownPart(type.to, node, path, report);
  // Talos looks at a part where it stands, not where it is repeated: what another type does not know there is left out without a word.
  if (node.alias !== undefined) return undefined;
  if (type.kind === "list" && node.type === "sequence") {
    const items = node.items.flatMap((item, index) => unknownPart(type.item, item, `${path}[${index}]`, report) ?? []);
    return items.length === 0 ? undefined : items;
  }
  if ((type.kind !== "struct" && type.kind !== "map") || node.type !== "mapping") return undefined;
  const found = new Map<string, YamlValue>();
  for (const { key, keyNode, value } of node.entries) {
    const inner = path === "" ? key : `${path}.${key}`;
    if (type.kind === "map" && isMergeKey(keyNode)) {
      // What is merged is read where its anchor stands.
      if (value.alias !== undefined) continue;
      checkMerged(type.value, value);
    }
    const memberType = type.kind === "map" ? type.value : type.byName.get(key)?.type;
    const part = memberType === undefined ? asWritten(value) : unknownPart(memberType, value, inner, report);
    if (memberType === undefined) {
      const meant = type.kind === "struct" ? nearestName(key, type.byName.keys()) : undefined;
      report(keyNode, path === "" ? shownName(key) : `${path}.${shownName(key)}`, meant);
    }
    if (part !== undefined) found.set(key, part);
  }
  return found.size === 0 ? undefined : sortedByKey(found);
}

/** A name as an error may tell it: what no field is called, as a key whose own name was lost, may be a secret. */
function shownName(key: string): string {
  return /^[A-Za-z][A-Za-z0-9_-]{0,39}$/.test(key) ? key : `${key.slice(0, 8)}...`;
}

/** Talos takes the value of `<<` for a member of the map, and is puzzled where that is a text. */
function checkMerged(memberType: Type, { type, line, column }: YamlNode): void {
  if (type === "scalar" || ["struct", "map", "list", "pointer", "any"].includes(memberType.kind)) return;
  throw new ConfigError("WRONG_TYPE", `unexpected type for yaml ${type}: string`, { line, column });
}

/** A node as it stands in the text, brackets and quotes included. */
function asWritten(node: YamlNode): YamlValue {
  if (node.alias !== undefined) return new PlainScalar(`*${node.alias}`);
  if (node.anchor !== undefined && node.type === "scalar" && node.style !== "literal")
    return new PlainScalar(`&${node.anchor} ${scalarText(node.text, node.style)}${commentOf(node)}`);
  switch (node.type) {
    case "scalar":
      return node.style === "literal" ? node.text : new PlainScalar(`${scalarText(node.text, node.style)}${commentOf(node)}`);
    case "sequence":
      return node.isFlow ? new PlainScalar(flowText(node)) : node.items.map(asWritten);
    case "mapping":
      return node.isFlow ? new PlainScalar(flowText(node)) : new Map(node.entries.map(({ key, value }) => [key, asWritten(value)]));
  }
}

function commentOf({ comment }: YamlScalarNode): string {
  return comment === undefined ? "" : ` ${comment}`;
}

function flowText(node: YamlNode): string {
  switch (node.type) {
    case "scalar":
      return scalarText(node.text, node.style);
    case "sequence":
      return `[${node.items.map(flowText).join(", ")}]`;
    case "mapping":
      return `{${node.entries.map(({ keyNode, value }) => `${scalarText(keyNode.text, keyNode.style)}: ${flowText(value)}`).join(", ")}}`;
  }
}

function scalarText(text: string, style: string): string {
  if (style === "single") return `'${text.replaceAll("'", "''")}'`;
  return style === "plain" ? text : JSON.stringify(text);
}
