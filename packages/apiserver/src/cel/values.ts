import { Duration } from "@marcbachmann/cel-js/evaluator";
import { isObject } from "../json.ts";
import type { SchemaNode } from "../schema/types.ts";
import { escapeField } from "./names.ts";

/**
 * A JSON value as CEL sees it under a schema: integers as BigInt, date-times and durations as their types, property names escaped.
 * Objects come out without prototype, so a key named `__proto__` is a key like any other.
 */
export function toCel(value: unknown, node: SchemaNode | undefined): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value === "number") {
    if (node !== undefined && node.type === "number") return value;
    return Number.isSafeInteger(value) ? BigInt(value) : value;
  }
  if (typeof value === "string") return node === undefined ? value : textToCel(value, node);
  if (Array.isArray(value)) return value.map((item) => toCel(item, node?.items));
  if (!isObject(value)) return value;
  const copy = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(value)) {
    const property = node?.properties.get(key);
    const child = property ?? (node === undefined || node.additional === true ? undefined : node.additional);
    const name = property === undefined ? key : escapeField(key);
    if (name !== undefined) copy[name] = toCel(value[key], child);
  }
  return copy;
}

function textToCel(value: string, node: SchemaNode): unknown {
  if (node.type !== "string" || node.intOrString) return value;
  switch (node.source.format) {
    case "date-time":
    case "date": {
      const parsed = new Date(value);
      return Number.isNaN(parsed.getTime()) ? value : parsed;
    }
    case "duration":
      return parseGoDuration(value) ?? value;
    case "byte":
      return Uint8Array.from(Buffer.from(value, "base64"));
    default:
      return value;
  }
}

const unitNanos: Readonly<Record<string, number>> = { ns: 1, us: 1e3, µs: 1e3, μs: 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 };

/** A Go duration text (`1h30m`) as a CEL duration; `undefined` when it is none. */
function parseGoDuration(text: string): Duration | undefined {
  const parts = /^([+-]?)((?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+|0)$/u.exec(text);
  if (parts === null) return undefined;
  let nanos = 0;
  for (const part of (parts[2] ?? "").matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gu))
    nanos += Number(part[1]) * (unitNanos[part[2] ?? ""] ?? 0);
  if (parts[1] === "-") nanos = -nanos;
  return new Duration(BigInt(Math.trunc(nanos / 1e9)), Math.round(nanos % 1e9));
}
