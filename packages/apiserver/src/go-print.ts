import { isObject } from "./json.ts";

/** A JSON value as Go's `%v` prints it: `map[a:1 b:[x y]]`. */
export function printGo(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => printGo(item)).join(" ")}]`;
  if (isObject(value)) {
    const pairs = Object.keys(value).sort();
    return `map[${pairs.map((key) => `${key}:${printGo(value[key])}`).join(" ")}]`;
  }
  return typeof value === "string" ? value : value === null ? "<nil>" : JSON.stringify(value);
}

/** A JSON value as Go's `%#v` prints it: `map[string]interface {}{"a":1}`. */
export function printGoSyntax(value: unknown): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map((item) => printGoSyntax(item)).join(", ")}}`;
  if (isObject(value)) {
    const pairs = Object.keys(value).sort();
    return `map[string]interface {}{${pairs.map((key) => `${JSON.stringify(key)}:${printGoSyntax(value[key])}`).join(", ")}}`;
  }
  return value === null ? "interface {}(nil)" : JSON.stringify(value);
}

const goEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
};

/** A text as Go's `%q` prints it: what cannot be seen is escaped. */
export function quoteGo(text: string): string {
  const escape = (char: string): string => {
    const known = goEscapes[char];
    if (known !== undefined) return known;
    const code = char.codePointAt(0) ?? 0;
    const hex = code.toString(16);
    return code < 0x80 ? `\\x${hex.padStart(2, "0")}` : code <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
  };
  return `"${text.replaceAll(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, escape)}"`;
}
