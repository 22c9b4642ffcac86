import { ConfigError } from "../errors.ts";
import { tryParseInteger } from "../scalars/integer.ts";
import { isOldBoolean } from "../yaml/resolve.ts";
import { mergedMembers } from "../yaml/merged-members.ts";
import type { YamlNode, YamlScalarNode } from "../yaml/node.ts";

/** A JSON document, with maps that keep keys as they are. */
export type JsonValue = string | number | bigint | boolean | null | JsonValue[] | Map<string, JsonValue>;

/** A YAML node as JSON, by the rules of the older library that Talos uses for configs under JSON patches: `yes` and `on` are booleans. */
export function jsonOf(node: YamlNode): JsonValue {
  switch (node.type) {
    case "sequence":
      return node.items.map(jsonOf);
    case "mapping":
      return new Map(node.entries.map(({ keyNode, value }) => [keyOf(keyNode), jsonOf(value)]));
    case "scalar":
      return scalarOf(node);
  }
}

/** A YAML node as JSON, by the rules of the newer library, with which Talos reads the operations themselves: `yes` and `on` are texts. */
export function operationJsonOf(node: YamlNode): JsonValue {
  switch (node.type) {
    case "sequence":
      return node.items.map(operationJsonOf);
    case "mapping":
      return new Map(mergedMembers(node).map(({ key, keyNode, value }) => [textKey(key, keyNode), operationJsonOf(value)]));
    case "scalar":
      return node.style === "plain" && isOldBoolean(node.text) ? node.text : scalarOf(node);
  }
}

/** In operations the newer library makes no texts of keys that are numbers or booleans. */
function textKey(key: string, { kind, line, column }: YamlScalarNode): string {
  if (kind === "str" || kind === "merge") return key;
  throw new ConfigError("JSON_PATCH", "json: unsupported type: map[interface {}]interface {}", { line, column });
}

/** Keys are read like values and then made texts: `yes` becomes `true`, `0x1f` becomes `31`. */
function keyOf(node: YamlScalarNode): string {
  const value = scalarOf(node);
  return typeof value === "boolean" || typeof value === "bigint" ? String(value) : node.text;
}

function scalarOf({ text, kind, style, line, column }: YamlScalarNode): JsonValue {
  if (style === "plain" && isOldBoolean(text)) return /^(?:y|yes|on)$/i.test(text);
  switch (kind) {
    case "null":
      return null;
    case "bool":
      return text.toLowerCase() === "true";
    case "int":
      return tryParseInteger(text) ?? text;
    case "float": {
      const unlimited = /^([-+]?)\.(inf|nan)$/i.exec(text);
      if (unlimited !== null) {
        const value = /nan/i.test(text) ? "NaN" : unlimited[1] === "-" ? "-Inf" : "+Inf";
        throw new ConfigError("JSON_PATCH", `json: unsupported value: ${value}`, { line, column });
      }
      const number = Number(text.replaceAll("_", ""));
      return Number.isNaN(number) ? text : number;
    }
    default:
      return text;
  }
}

/** Deep equality of JSON values; the order of members does not count. */
export function isSameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => isSameJson(item, b[index]));
  if (a instanceof Map && b instanceof Map)
    return a.size === b.size && [...a].every(([key, value]) => b.has(key) && isSameJson(value, b.get(key)));
  if (isNumber(a) && isNumber(b)) return Number(a) === Number(b);
  return a === b;
}

function isNumber(value: JsonValue | undefined): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}
