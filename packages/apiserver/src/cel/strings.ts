import type { Environment } from "@marcbachmann/cel-js";
import { compileRe2 } from "../patterns/re2.ts";
import { longestText, weighsMoreThan } from "./cost/guard.ts";

/** Adds the string functions that the engine lacks. Positions count code points, as in CEL. */
export function registerStrings(environment: Environment): void {
  const add = (signature: string, handler: (...args: never[]) => unknown): unknown => environment.registerFunction(signature, handler);
  add("string.matchesRe2(string): bool", (text: string, pattern: string) => compileRe2(pattern).test(text));
  add("string.charAt(int): string", (text: string, index: bigint) => {
    const characters = Array.from(text);
    if (index < 0n || index > characters.length) throw new Error(`index out of range: ${index}`);
    return characters[Number(index)] ?? "";
  });
  add("string.replace(string, string): string", (text: string, from: string, to: string) => replace(text, from, to, Infinity));
  add("string.replace(string, string, int): string", (text: string, from: string, to: string, limit: bigint) =>
    replace(text, from, to, limit < 0n ? Infinity : Number(limit)),
  );
  add("string.find(string): string", (text: string, pattern: string) => compileRe2(pattern).find(text) ?? "");
  add("string.findAll(string): list<string>", (text: string, pattern: string) => compileRe2(pattern).findAll(text));
  add("string.findAll(string, int): list<string>", (text: string, pattern: string, limit: bigint) =>
    compileRe2(pattern).findAll(text, Number(limit)),
  );
  add("string.format(list): string", (text: string, args: readonly unknown[]) => format(text, args));
}

function replace(text: string, from: string, to: string, limit: number): string {
  let left = limit;
  let length = text.length;
  return text.replaceAll(from, (found) => {
    if (left <= 0) return found;
    left -= 1;
    length = refuseLong(length + to.length - from.length);
    return to;
  });
}

function refuseLong(length: number): number {
  if (length > longestText) throw new Error(`a text of more than ${longestText} characters`);
  return length;
}

/** CEL's `format`: %s, %d, %f, %e, %b, %x, %X, %o and %%. */
function format(text: string, args: readonly unknown[]): string {
  let next = 0;
  if (weighsMoreThan([text, ...args], longestText, 1)) refuseLong(Infinity);
  return text.replaceAll(/%(?:\.(\d+))?([sdfebxXo%])/gu, (_, precision: string | undefined, verb: string) => {
    if (verb === "%") return "%";
    if (next >= args.length) throw new Error(`index ${next} out of range`);
    const value = args[next++];
    switch (verb) {
      case "s":
        return print(value);
      case "d":
        return print(value);
      case "f":
        return Number(value).toFixed(precision === undefined ? 6 : Number(precision));
      case "e":
        return Number(value).toExponential(precision === undefined ? 6 : Number(precision));
      case "b":
        return typeof value === "boolean" ? (value ? "1" : "0") : (value as bigint).toString(2);
      case "o":
        return (value as bigint).toString(8);
      default: {
        const hex = typeof value === "string" ? Buffer.from(value).toString("hex") : (value as bigint).toString(16);
        return verb === "X" ? hex.toUpperCase() : hex;
      }
    }
  });
}

/** A CEL value as `%s` prints it. */
function print(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null) return "null";
  if (value instanceof Date) return value.toISOString().replace(".000Z", "Z");
  if (Array.isArray(value)) return `[${value.map((item) => print(item)).join(", ")}]`;
  if (typeof value === "object" && Object.getPrototypeOf(value) === null) {
    const pairs = Object.entries(value).map(([key, item]) => `${key}: ${print(item)}`);
    return `{${pairs.sort().join(", ")}}`;
  }
  return typeof value === "bigint" || typeof value === "number" || typeof value === "boolean" ? `${value}` : JSON.stringify(value);
}
