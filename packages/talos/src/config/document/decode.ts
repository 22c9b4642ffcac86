import { ConfigError } from "../errors.ts";
import { tryParseInteger } from "../scalars/integer.ts";
import type { StructType, Type } from "../schema/notation.ts";
import type { YamlNode, YamlScalarNode } from "../yaml/read.ts";
import type { ConfigMap, ConfigValue } from "./value.ts";

/**
 * A node as a value of a type, strictly by Go's rules: `null` is absent, numbers and booleans are taken as strings where a string is asked
 * for but not the other way round, and `yes` is a boolean only where a boolean is asked for. Unknown keys are looked for separately.
 *
 * @throws ConfigError `WRONG_TYPE`, `INVALID_VALUE` with path and place
 */
export function decode(type: Type, node: YamlNode, path: string): ConfigValue | undefined {
  if (node.type === "scalar" && node.kind === "null") return undefined;
  switch (type.kind) {
    case "pointer":
      return decode(type.to, node, path) ?? zeroBehindPointer(type.to);
    case "struct":
      return decodeStruct(type, node, path);
    case "list":
      if (node.type !== "sequence") throw wrongType(node, `[]${nameOf(type.item)}`, path);
      return node.items.map((item, index) => decode(type.item, item, `${path}[${index}]`) ?? zeroOf(type.item));
    case "map":
      if (node.type !== "mapping") throw wrongType(node, `map[string]${nameOf(type.value)}`, path);
      return new Map(node.entries.map(({ key, value }) => [key, decode(type.value, value, join(path, key)) ?? zeroOf(type.value)]));
    case "any":
      if (type.isMapping && node.type !== "mapping") throw wrongType(node, "map[string]interface {}", path);
      return decodeAny(node);
    case "argument":
      return node.type === "sequence" ? node.items.map((item) => textOf(item, "[]string", path)) : textOf(node, "string", path);
    case "string":
      return textOf(node, "string", path);
    case "bool":
      return decodeBool(node, path);
    case "int":
    case "uint":
      return decodeInteger(node, type.kind, type.bits, type.name, path);
    case "codec": {
      if (type.name === "time.Duration" && node.type === "scalar" && node.kind !== "str") throw wrongType(node, type.name, path);
      const parsed = type.codec.parse(textOf(node, type.name, path));
      if ("refusal" in parsed)
        throw new ConfigError("INVALID_VALUE", `yaml: construct errors:\n  line ${node.line}: ${parsed.refusal}`, place(node, path));
      return parsed.text;
    }
  }
}

function decodeStruct(type: StructType, node: YamlNode, path: string): ConfigMap {
  if (node.type !== "mapping") throw wrongType(node, type.name, path);
  const out: ConfigMap = new Map();
  for (const { key, value } of node.entries) {
    const field = type.byName.get(key);
    const decoded = field === undefined ? undefined : decode(field.type, value, join(path, key));
    if (decoded !== undefined) out.set(key, decoded);
  }
  return out;
}

/** `key:` with a present but empty struct behind it. */
function zeroBehindPointer(type: Type): ConfigValue | undefined {
  return type.kind === "struct" ? new Map() : undefined;
}

/** What an empty list item or map member holds. */
function zeroOf(type: Type): ConfigValue {
  switch (type.kind) {
    case "struct":
      return new Map();
    case "string":
    case "argument":
      return "";
    case "bool":
      return false;
    case "int":
    case "uint":
      return 0n;
    case "codec":
      return type.codec.zero;
    default:
      return null;
  }
}

function decodeBool(node: YamlNode, path: string): boolean {
  if (node.type !== "scalar") throw wrongType(node, "bool", path);
  if (node.kind === "bool") return node.text.toLowerCase() === "true";
  if (node.kind === "str" && ["y", "Y", "yes", "on"].includes(node.text)) return true;
  if (node.kind === "str" && ["n", "N", "no", "off"].includes(node.text)) return false;
  throw wrongType(node, "bool", path);
}

function decodeInteger(node: YamlNode, kind: "int" | "uint", bits: number, name: string, path: string): bigint {
  if (node.type !== "scalar") throw wrongType(node, name, path);
  const value =
    node.kind === "int"
      ? tryParseInteger(node.text)
      : node.kind === "float" && Number.isInteger(Number(node.text))
        ? BigInt(Number(node.text))
        : undefined;
  const low = kind === "uint" ? 0n : -(1n << BigInt(bits - 1));
  const high = kind === "uint" ? (1n << BigInt(bits)) - 1n : (1n << BigInt(bits - 1)) - 1n;
  if (value === undefined || value < low || value > high) throw wrongType(node, name, path);
  return value;
}

function decodeAny(node: YamlNode): ConfigValue {
  switch (node.type) {
    case "sequence":
      return node.items.map(decodeAny);
    case "mapping":
      return new Map(node.entries.map(({ key, value }) => [key, decodeAny(value)]));
    case "scalar":
      return anyScalar(node);
  }
}

function anyScalar({ text, kind }: YamlScalarNode): ConfigValue {
  switch (kind) {
    case "null":
      return null;
    case "bool":
      return text.toLowerCase() === "true";
    case "int":
      return tryParseInteger(text) ?? text;
    case "float":
      return floatOf(text.replaceAll("_", ""));
    default:
      return text;
  }
}

function floatOf(text: string): number {
  if (/nan$/i.test(text)) return Number.NaN;
  if (/inf$/i.test(text)) return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return Number(text);
}

function textOf(node: YamlNode, wanted: string, path: string): string {
  if (node.type !== "scalar") throw wrongType(node, wanted, path);
  return node.kind === "null" ? "" : node.text;
}

function wrongType(node: YamlNode, wanted: string, path: string): ConfigError {
  const given = node.type === "scalar" ? `!!${node.kind} \`${short(node.text)}\`` : node.type === "sequence" ? "!!seq" : "!!map";
  return new ConfigError(
    "WRONG_TYPE",
    `yaml: construct errors:\n  line ${node.line}: cannot construct ${given} into ${wanted}`,
    place(node, path),
  );
}

/** Ten characters of the value at most: enough to find it, too little to give a key away. */
function short(text: string): string {
  return text.length > 10 ? `${text.slice(0, 7)}...` : text;
}

function place(node: YamlNode, path: string): { path: string; line: number; column: number } {
  return { path, line: node.line, column: node.column };
}

function nameOf(type: Type): string {
  switch (type.kind) {
    case "struct":
    case "codec":
      return type.name;
    case "pointer":
      return `*${nameOf(type.to)}`;
    default:
      return type.kind;
  }
}

function join(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}
