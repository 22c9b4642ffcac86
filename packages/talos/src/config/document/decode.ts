import { ConfigError } from "../errors.ts";
import { tryParseInteger } from "../scalars/integer.ts";
import type { CodecType, StructType, Type } from "../schema/notation.ts";
import { freeScalar } from "../yaml/free-value.ts";
import { mergedMembers } from "../yaml/merged-members.ts";
import type { YamlMappingNode, YamlNode, YamlScalarNode } from "../yaml/node.ts";
import { oldBoolean } from "../yaml/resolve.ts";
import type { ConfigMap, ConfigValue } from "./value.ts";

/** How values are read that two releases of Go's library read differently. */
export interface DecodeOptions {
  /** A date without quotes is a text where one is asked for: up to Talos 1.13. Default true. */
  readonly datesAreTexts?: boolean;
  /** An alias stands for no value that reads itself from a text: up to Talos 1.13. Default false. */
  readonly refusesAliases?: boolean;
}

/**
 * A node as a value of a type, strictly by Go's rules: `null` is absent, numbers and booleans are taken as strings where a string is asked
 * for but not the other way round, and `yes` is a boolean only where a boolean is asked for. Unknown keys are looked for separately.
 *
 * @throws ConfigError `WRONG_TYPE`, `INVALID_VALUE`: its detail has a line for each value that is wrong, its place is that of the first
 */
export function decode(type: Type, node: YamlNode, path: string, options: DecodeOptions = {}): ConfigValue | undefined {
  const wrong: WrongValues = Object.assign([], {
    datesAreTexts: options.datesAreTexts ?? true,
    refusesAliases: options.refusesAliases ?? false,
  });
  const value = decodeAt(type, node, path, wrong);
  const [first] = wrong;
  if (first === undefined) return value;
  const lines = wrong.map(({ line, detail }) => `\n  line ${line}: ${detail}`);
  throw new ConfigError(first.code, `yaml: construct errors:${lines.join("")}`, {
    path: first.path,
    line: first.line,
    column: first.column,
  });
}

/** What was found wrong so far, and the rules that hold. */
type WrongValues = WrongValue[] & Readonly<Required<DecodeOptions>>;

/** A value that is not of its type. */
interface WrongValue {
  readonly code: "WRONG_TYPE" | "INVALID_VALUE";
  readonly detail: string;
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

function decodeAt(type: Type, node: YamlNode, path: string, wrong: WrongValues): ConfigValue | undefined {
  if (node.type === "scalar" && node.kind === "null") return undefined;
  const mismatch = (wanted: string): undefined => {
    wrong.push(wrongType(node, wanted, path));
    return undefined;
  };
  switch (type.kind) {
    case "pointer":
      return decodeAt(type.to, node, path, wrong) ?? zeroBehindPointer(type.to);
    case "struct":
      return node.type === "mapping" ? decodeStruct(type, node, path, wrong) : mismatch(type.name);
    case "list":
      return node.type === "sequence"
        ? node.items
            .filter((item) => mayBeNull(type.item) || !isNull(item))
            .map((item, index) => decodeAt(type.item, item, `${path}[${index}]`, wrong) ?? zeroOf(type.item))
        : mismatch(`[]${nameOf(type.item)}`);
    case "map":
      return node.type === "mapping"
        ? new Map(
            mergedMembers(node).map(({ key, keyNode, value }) => {
              checkKey(keyNode, path, wrong);
              return [key, decodeAt(type.value, value, join(path, key), wrong) ?? zeroOf(type.value)] as const;
            }),
          )
        : mismatch(`map[string]${nameOf(type.value)}`);
    case "any":
      if (type.isMapping && node.type === "mapping") for (const { keyNode } of node.entries) checkKey(keyNode, path, wrong);
      return type.isMapping && node.type !== "mapping" ? mismatch("map[string]interface {}") : decodeAny(node);
    case "argument":
      return node.type === "sequence"
        ? node.items.filter((item) => !isNull(item)).map((item, index) => textOf(item, "[]string", `${path}[${index}]`, wrong) ?? "")
        : textOf(node, "string", path, wrong);
    case "string":
      return textOf(node, "string", path, wrong);
    case "bool":
      return boolOf(node) ?? mismatch("bool");
    case "int":
    case "uint":
      return integerOf(node, type.kind, type.bits) ?? mismatch(type.name);
    case "codec":
      return decodeText(type, node, path, wrong);
  }
}

/** Types that are read as a string first; the others take the text of any scalar. */
const readAsString: ReadonlySet<string> = new Set(["meta.URL", "v1alpha1.Endpoint", "v1alpha1.InstallDiskType"]);

/** Types that read YAML, not a text. */
const readsYaml = /^(?:v1alpha1\.|meta\.URL$|time\.Duration$|network\.PortRange$|base64$)/;

function decodeText(type: CodecType, node: YamlNode, path: string, wrong: WrongValues): string | undefined {
  if (wrong.refusesAliases && node.alias !== undefined && !readsYaml.test(type.name)) {
    const detail = `cannot construct  into ${type.name} (TextUnmarshaler)`;
    wrong.push({ code: "WRONG_TYPE", detail, path, line: node.line, column: node.column });
    return undefined;
  }
  if (node.type === "scalar" && type.codec.takes?.(node.kind, node.text) === false) {
    wrong.push(wrongType(node, type.name, path));
    return undefined;
  }
  const text = textOf(node, type.name, path, wrong, !readAsString.has(type.name));
  const parsed = text === undefined ? undefined : type.codec.parse(text);
  if (parsed === undefined) return undefined;
  if ("text" in parsed) return parsed.text;
  wrong.push({ code: "INVALID_VALUE", detail: parsed.refusal, path, line: node.line, column: node.column });
  return undefined;
}

function decodeStruct(type: StructType, node: YamlMappingNode, path: string, wrong: WrongValues): ConfigMap {
  const out: ConfigMap = new Map();
  const before = wrong.length;
  for (const { key, keyNode, value } of node.entries) {
    checkKey(keyNode, path, wrong);
    const field = type.byName.get(key);
    const decoded = field === undefined ? undefined : decodeAt(field.type, value, join(path, key), wrong);
    if (decoded !== undefined) out.set(key, decoded);
  }
  if (type.name === "v1alpha1.ClusterInlineManifest") trimContents(out);
  if (type.name.startsWith("x509.") && wrong.length > before) {
    const own = wrong.splice(before);
    wrong.push(...ofEncodedKeys(own, type, node, path));
  }
  return out;
}

/** Talos drops the empty lines before a manifest. */
function trimContents(manifest: ConfigMap): void {
  const contents = manifest.get("contents");
  if (typeof contents === "string") manifest.set("contents", contents.replace(/^[\t\n\v\f\r]+/, ""));
}

/** Talos reads a certificate and its key in one go: texts first, then what they encode, up to the first that is wrong, at the place of both. */
function ofEncodedKeys(wrong: readonly WrongValue[], type: StructType, node: YamlMappingNode, path: string): readonly WrongValue[] {
  const types = wrong.filter(({ code }) => code === "WRONG_TYPE");
  if (types.length > 0) return types;
  const first = type.fields.flatMap(({ name }) => wrong.filter((value) => value.path === join(path, name)))[0];
  return first === undefined ? wrong : [{ ...first, line: node.line }];
}

function isNull(node: YamlNode): boolean {
  return node.type === "scalar" && node.kind === "null";
}

/** Whether null is an item of a list; of other types Talos skips it. */
function mayBeNull(type: Type): boolean {
  return type.kind === "pointer" || type.kind === "list" || type.kind === "map" || (type.kind === "any" && !type.isMapping);
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

function boolOf(node: YamlNode): boolean | undefined {
  if (node.type !== "scalar") return undefined;
  if (node.kind === "bool") return node.text.toLowerCase() === "true";
  return node.kind === "str" ? oldBoolean(node.text) : undefined;
}

function integerOf(node: YamlNode, kind: "int" | "uint", bits: number): bigint | undefined {
  if (node.type !== "scalar") return undefined;
  const value =
    node.kind === "int"
      ? tryParseInteger(node.text)
      : node.kind === "float" && Number.isInteger(Number(node.text))
        ? BigInt(Number(node.text))
        : undefined;
  const low = kind === "uint" ? 0n : -(1n << BigInt(bits - 1));
  const high = kind === "uint" ? (1n << BigInt(bits)) - 1n : (1n << BigInt(bits - 1)) - 1n;
  return value === undefined || value < low || value > high ? undefined : value;
}

function decodeAny(node: YamlNode): ConfigValue {
  switch (node.type) {
    case "sequence":
      return node.items.map(decodeAny);
    case "mapping":
      return new Map(mergedMembers(node).map(({ key, value }) => [key, decodeAny(value)]));
    case "scalar":
      return freeScalar(node);
  }
}

function textOf(node: YamlNode, wanted: string, path: string, wrong: WrongValues, takesDates = wrong.datesAreTexts): string | undefined {
  if (node.type === "scalar" && (takesDates || wrong.datesAreTexts || node.kind !== "timestamp"))
    return node.kind === "null" ? "" : node.text;
  wrong.push(wrongType(node, wanted, path));
  return undefined;
}

/** Keys are texts. */
function checkKey(keyNode: YamlScalarNode, path: string, wrong: WrongValues): void {
  if (keyNode.kind === "timestamp") textOf(keyNode, "string", join(path, keyNode.text), wrong);
}

function wrongType(node: YamlNode, wanted: string, path: string): WrongValue {
  const given = node.type === "scalar" ? `!!${node.kind} \`${short(node.text)}\`` : node.type === "sequence" ? "!!seq" : "!!map";
  return { code: "WRONG_TYPE", detail: `cannot construct ${given} into ${wanted}`, path, line: node.line, column: node.column };
}

/** Ten characters of the value at most: enough to find it, too little to give a key away. */
function short(text: string): string {
  return text.length > 10 ? `${text.slice(0, 7)}...` : text;
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
