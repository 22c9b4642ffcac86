import { tryParseInteger } from "../scalars/integer.ts";
import type { YamlValue } from "./emit.ts";
import { mergedMembers } from "./merged-members.ts";
import { PlainScalar } from "./plain-scalar.ts";
import type { YamlNode, YamlScalarNode } from "./node.ts";

/**
 * A node of a part without a type, as the value that Go makes of it: numbers lose the way they were written, dates get a time, integers
 * beyond 64 bits become floats, and a member whose key is null is lost.
 */
export function freeValue(node: YamlNode): YamlValue {
  switch (node.type) {
    case "sequence":
      return node.items.map(freeValue);
    case "mapping":
      return new Map(mergedMembers(node).map(({ key, value }) => [key, freeValue(value)]));
    case "scalar":
      return freeScalar(node);
  }
}

/** A scalar of such a part. */
export function freeScalar({ text, kind }: YamlScalarNode): string | boolean | number | bigint | null | PlainScalar {
  switch (kind) {
    case "null":
      return null;
    case "bool":
      return text.toLowerCase() === "true";
    case "int":
      return freeInteger(text);
    case "float":
      return freeFloat(text.replaceAll("_", ""));
    case "timestamp":
      return new PlainScalar(rfc3339(text));
    default:
      return text;
  }
}

function freeInteger(text: string): string | number | bigint {
  if (text === "-0") return -0;
  const value = tryParseInteger(text);
  if (value === undefined) return text;
  return value < -(1n << 63n) || value >= 1n << 64n ? Number(value) : value;
}

function freeFloat(text: string): number {
  if (/nan$/i.test(text)) return Number.NaN;
  if (/inf$/i.test(text)) return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return Number(text);
}

const parts = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt]| )(\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,](\d+))?(Z|[-+]\d{2}:\d{2})?)?$/;

/** Date and time as Go prints them: two digits each, no zeros at the end of a fraction, UTC as `Z`. */
function rfc3339(text: string): string {
  const [, year = "", month = "", day = "", hour = "0", minute = "0", second = "0", fraction = "", zone = "Z"] = parts.exec(text) ?? [];
  const two = (digits: string): string => digits.padStart(2, "0");
  const rest = fraction.slice(0, 9).replace(/0+$/, "");
  return `${year}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}${rest === "" ? "" : `.${rest}`}${zone === "+00:00" ? "Z" : zone}`;
}
