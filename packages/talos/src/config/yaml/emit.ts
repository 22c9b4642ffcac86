import { folded } from "./fold.ts";
import { BlockScalar, PlainScalar } from "./plain-scalar.ts";
import { styleOf, type QuoteStyle, type ScalarStyle } from "./scalar-style.ts";

/** A value that can be printed. Objects print in insertion order; `undefined` members are left out. */
export type YamlValue = string | number | bigint | boolean | null | PlainScalar | BlockScalar | readonly YamlValue[] | YamlMapping;
/** An ordered mapping: an object where the keys are ours, a `Map` where they come from outside (objects reorder keys such as `1`). */
export type YamlMapping = { readonly [key: string]: YamlValue | undefined } | ReadonlyMap<string, YamlValue>;

/** Choices that differ between generations of Talos. */
export interface EmitOptions {
  /** How `yes`, `on`, `n` are quoted. Default `double` (Talos 1.13 and older). */
  readonly oldBooleanQuotes?: QuoteStyle;
  /** Spaces per level, default 4. */
  readonly indent?: number;
  /** As the library before prints: lists as far left as their key, long lines broken, no tab in a block. Default false. */
  readonly isOlder?: boolean;
}

/**
 * Prints a value as Go's YAML library prints it for Talos: four spaces a level, lists indented under their key, two spaces inside a list
 * item, no line folding, a newline at the end.
 */
export function emitYaml(value: YamlValue, options: EmitOptions = {}): string {
  const writer: Writer = {
    out: "",
    step: options.indent ?? 4,
    isOlder: options.isOlder ?? false,
    quotes: options.oldBooleanQuotes ?? "double",
  };
  if (isMapping(value) && hasMembers(value)) writeMapping(writer, value, 0, false);
  else if (Array.isArray(value) && value.length > 0) writeSequence(writer, value as readonly YamlValue[], 0, false);
  else writer.out += `${inline(writer, value, 0)}\n`;
  return writer.out;
}

/** Prints several documents, separated by `---`. */
export function emitYamlDocuments(documents: readonly YamlValue[], options: EmitOptions = {}): string {
  return documents.map((document) => emitYaml(document, options)).join("---\n");
}

interface Writer {
  out: string;
  readonly step: number;
  readonly isOlder: boolean;
  readonly quotes: QuoteStyle;
}

/** Inside a list item the first level only skips the `- `; everything else goes to the next multiple of the step. */
function deeper(writer: Writer, indent: number, inItem: boolean): number {
  return inItem ? indent + 2 : writer.step * Math.floor((indent + writer.step) / writer.step);
}

function writeMapping(writer: Writer, mapping: YamlMapping, indent: number, startsOnLine: boolean): void {
  let first = startsOnLine;
  for (const [key, value] of entriesOf(mapping)) {
    if (value === undefined) continue;
    if (!first) writer.out += " ".repeat(indent);
    first = false;
    const isSimple = isSimpleKey(key);
    if (isSimple) writer.out += `${quoted(writer, key, true)}:`;
    else {
      writer.out += "? ";
      writer.out += `${inline(writer, key, deeper(writer, indent, false))}\n${" ".repeat(indent)}:`;
    }
    if (isSimple || !isCollection(value)) writeValue(writer, value, indent);
    else writeBesideColon(writer, value, indent, startsOnLine);
  }
}

/** Longer keys, and those of several lines, stand behind a question mark. */
function isSimpleKey(key: string): boolean {
  return (key.length <= 42 || Buffer.byteLength(key) <= 128) && !/[\n\r\u0085\u2028\u2029]/.test(key);
}

/** The value of a long key begins behind its colon. */
function writeBesideColon(writer: Writer, value: readonly YamlValue[] | YamlMapping, indent: number, inItem: boolean): void {
  const inner = deeper(writer, indent, inItem);
  writer.out += " ".repeat(inner - indent - 1);
  if (isMapping(value)) writeMapping(writer, value, inner, true);
  else writeSequence(writer, value, inner, true);
}

/** A list or mapping that holds something. */
function isCollection(value: YamlValue): value is readonly YamlValue[] | YamlMapping {
  return Array.isArray(value) ? value.length > 0 : isMapping(value) && hasMembers(value);
}

function writeValue(writer: Writer, value: YamlValue, indent: number): void {
  if (Array.isArray(value) && value.length > 0) {
    writer.out += "\n";
    writeSequence(writer, value as readonly YamlValue[], writer.isOlder ? indent : deeper(writer, indent, false), false);
  } else if (isMapping(value) && hasMembers(value)) {
    writer.out += "\n";
    writeMapping(writer, value, deeper(writer, indent, false), false);
  } else {
    const text = inline(writer, value, deeper(writer, indent, false));
    writer.out += text === "" ? "\n" : ` ${text}\n`;
  }
}

function writeSequence(writer: Writer, items: readonly YamlValue[], indent: number, startsOnLine: boolean): void {
  let first = startsOnLine;
  for (const item of items) {
    if (!first) writer.out += " ".repeat(indent);
    first = false;
    writer.out += "- ";
    const inner = deeper(writer, indent, true);
    if (Array.isArray(item) && item.length > 0) writeSequence(writer, item as readonly YamlValue[], inner, true);
    else if (isMapping(item) && hasMembers(item)) writeMapping(writer, item, inner, true);
    else writer.out += `${inline(writer, item, inner)}\n`;
  }
}

/** A scalar or an empty collection; `indent` is where the lines of a block scalar start. */
function inline(writer: Writer, value: YamlValue, indent: number): string {
  if (typeof value === "string") {
    const style = styleOf(value, false, writer.quotes, writer.isOlder);
    if (style === "literal") return literal(writer, value, indent);
    // Only what is longer than a line is broken.
    return writer.isOlder && value.length > 32 ? broken(writer, value, style, indent) : quoted(writer, value, false);
  }
  if (value === null) return "null";
  if (value instanceof PlainScalar) return value.text;
  if (value instanceof BlockScalar) return literal(writer, value.text, indent);
  if (Array.isArray(value)) return "[]";
  if (typeof value === "object") return "{}";
  return typeof value === "number" ? numberText(value) : String(value);
}

function literal(writer: Writer, text: string, indent: number): string {
  const hint = text.startsWith(" ") || (writer.isOlder && text.startsWith("\n")) ? String(writer.step) : "";
  const chomp = !text.endsWith("\n") ? "-" : text === "\n" || text.endsWith("\n\n") ? "+" : "";
  const body = chomp === "-" ? text : text.slice(0, -1);
  const pad = " ".repeat(indent);
  return `|${hint}${chomp}\n${body
    .split("\n")
    .map((line) => (line === "" ? "" : pad + line))
    .join("\n")}`;
}

/** A scalar with its long lines broken. */
function broken(writer: Writer, text: string, style: Exclude<ScalarStyle, "literal">, indent: number): string {
  const line = writer.out.slice(writer.out.lastIndexOf("\n") + 1);
  const column = Array.from(line).length + (line === "" || line.endsWith(" ") ? 0 : 1);
  const chars = Array.from(text);
  if (style === "plain") return folded(chars, style, { column, indent });
  const quote = style === "single" ? "'" : '"';
  const pieces = chars.map((char) => (style === "double" ? doubleQuoted(char).slice(1, -1) : char === "'" ? "''" : char));
  return `${quote}${folded(pieces, style, { column: column + 1, indent })}${quote}`;
}

function quoted(writer: Writer, text: string, isKey: boolean): string {
  switch (styleOf(text, isKey, writer.quotes, writer.isOlder)) {
    case "plain":
      return text;
    case "single":
      return `'${text.replaceAll("'", "''")}'`;
    case "double":
    case "literal":
      return doubleQuoted(text);
  }
}

const escapes: ReadonlyMap<string, string> = new Map([
  ["\0", "0"],
  ["\u0007", "a"],
  ["\b", "b"],
  ["\t", "t"],
  ["\n", "n"],
  ["\v", "v"],
  ["\f", "f"],
  ["\r", "r"],
  ["\u001b", "e"],
  ['"', '"'],
  ["\\", "\\"],
  ["\u0085", "N"],
  ["\u00a0", "_"],
  ["\u2028", "L"],
  ["\u2029", "P"],
]);
// eslint-disable-next-line no-control-regex
const escaped = /[\u0000-\u001f"\\\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff\u{10000}-\u{10ffff}]/gu;

function doubleQuoted(text: string): string {
  return `"${text.replace(escaped, (char) => {
    const short = escapes.get(char);
    if (short !== undefined) return `\\${short}`;
    const code = char.codePointAt(0) ?? 0;
    return code <= 0xff ? `\\x${hex(code, 2)}` : code <= 0xffff ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
  })}"`;
}

function hex(code: number, width: number): string {
  return code.toString(16).toUpperCase().padStart(width, "0");
}

/** Go prints the shortest form, with an exponent of two digits or more below 1e-4 and from 1e6 on. */
function numberText(value: number): string {
  if (Number.isNaN(value)) return ".nan";
  if (!Number.isFinite(value)) return value > 0 ? ".inf" : "-.inf";
  if (Object.is(value, -0)) return "-0";
  const size = Math.abs(value);
  const hasExponent = value !== 0 && (size < 1e-4 || size >= 1e6);
  return hasExponent ? value.toExponential().replace(/e([+-])(\d)$/, "e$10$2") : String(value);
}

function isMapping(value: YamlValue): value is YamlMapping {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof PlainScalar || value instanceof BlockScalar)
  );
}

function entriesOf(mapping: YamlMapping): Iterable<[string, YamlValue | undefined]> {
  return mapping instanceof Map ? mapping : Object.entries(mapping);
}

function hasMembers(mapping: YamlMapping): boolean {
  for (const [, value] of entriesOf(mapping)) if (value !== undefined) return true;
  return false;
}
