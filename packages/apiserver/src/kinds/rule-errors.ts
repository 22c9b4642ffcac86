import type { FieldError } from "../schema/index.ts";

/** A field that must be there. */
export function required(field: string, why = ""): FieldError {
  return { reason: "FieldValueRequired", field, message: why === "" ? "Required value" : `Required value: ${why}` };
}

/** A value that breaks a rule; it is shown as JSON. */
export function invalidValue(field: string, value: unknown, why: string): FieldError {
  return { reason: "FieldValueInvalid", field, message: `Invalid value: ${JSON.stringify(value ?? null)}: ${why}` };
}

/** A text that is none of those supported. */
export function unsupported(field: string, value: string, supported: readonly string[]): FieldError {
  const names = supported.map((name) => JSON.stringify(name)).join(", ");
  return { reason: "FieldValueNotSupported", field, message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${names}` };
}

/** Something that may not be done. */
export function forbiddenValue(field: string, why: string): FieldError {
  return { reason: "FieldValueForbidden", field, message: `Forbidden: ${why}` };
}

/** A name that is there twice. */
export function duplicate(field: string, value: unknown): FieldError {
  return { reason: "FieldValueDuplicate", field, message: `Duplicate value: ${JSON.stringify(value)}` };
}
