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
