import type { FieldError } from "../schema/index.ts";
import { invalidValue } from "./rule-errors.ts";

/** A port number lies between 1 and 65535. */
export function validatePortNumber(number: unknown, at: string): readonly FieldError[] {
  return typeof number === "number" && number >= 1 && number <= 65_535
    ? []
    : [invalidValue(at, number, "must be between 1 and 65535, inclusive")];
}

/** What is wrong with the name of a container's port, in kube-apiserver's words. */
export function problemsOfPortName(name: string): readonly string[] {
  return [
    ...(name.length > 15 ? ["must be no more than 15 characters"] : []),
    ...(/^[-a-z0-9]+$/.test(name) ? [] : ["must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"]),
    ...(/[a-z]/.test(name) ? [] : ["must contain at least one letter (a-z)"]),
    ...(name.includes("--") ? ["must not contain consecutive hyphens"] : []),
    ...(/^-|-$/.test(name) ? ["must not begin or end with a hyphen"] : []),
  ];
}
