import type { JsonObject } from "../json.ts";
import { isIP } from "../net-address.ts";
import type { FieldError } from "../schema/index.ts";
import { invalidValue } from "./rule-errors.ts";

/** The largest number of Go's int32. */
export const largestInt32 = 2_147_483_647;

/** Numbers that count something: each of `fields` that is there is 0 or more. */
export function notNegative(holder: JsonObject, at: string, fields: readonly string[]): readonly FieldError[] {
  return fields.flatMap((field) => {
    const value = holder[field];
    return typeof value === "number" && value < 0 ? [invalidValue(`${at}.${field}`, value, "must be greater than or equal to 0")] : [];
  });
}

/** A number, when it is there, lies between two others. */
export function between(value: unknown, at: string, least: number, most: number): readonly FieldError[] {
  const isGood = typeof value !== "number" || (value >= least && value <= most);
  return isGood ? [] : [invalidValue(at, value, `must be between ${least} and ${most}, inclusive`)];
}

/** A number of pods, or a share of them such as `25%`. */
export function countOrPercent(value: unknown, at: string, mostPercent = Number.POSITIVE_INFINITY): readonly FieldError[] {
  if (typeof value === "number") return value < 0 ? [invalidValue(at, value, "must be greater than or equal to 0")] : [];
  if (typeof value !== "string") return [];
  if (!/^[0-9]+%$/.test(value)) {
    const why =
      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
    return [invalidValue(at, value, why)];
  }
  return Number(value.slice(0, -1)) > mostPercent ? [invalidValue(at, value, "must not be greater than 100%")] : [];
}

/** An address of either family. */
export function address(value: unknown, at: string): readonly FieldError[] {
  return typeof value === "string" && isIP(value)
    ? []
    : [invalidValue(at, value ?? "", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")];
}
