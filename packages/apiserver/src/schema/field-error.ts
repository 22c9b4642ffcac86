import type { FieldError, FieldErrorReason } from "./types.ts";

const titles: Readonly<Record<FieldErrorReason, string>> = {
  FieldValueNotFound: "Not found",
  FieldValueRequired: "Required value",
  FieldValueDuplicate: "Duplicate value",
  FieldValueInvalid: "Invalid value",
  FieldValueNotSupported: "Unsupported value",
  FieldValueForbidden: "Forbidden",
  FieldValueTooLong: "Too long",
  FieldValueTooMany: "Too many",
  FieldValueTypeInvalid: "Invalid value",
  InternalError: "Internal error",
};

/** Marks that an error shows no value, because the value is an object or a list and would say nothing. */
export const omitValue: unique symbol = Symbol("omit value");

/** Builds a field error with the wording of `field.Error` of Kubernetes. `value` is `omitValue` where none is shown. */
export function fieldError(reason: FieldErrorReason, field: string, value: unknown, detail: string): FieldError {
  const title = titles[reason];
  const silent =
    value === omitValue || ["FieldValueRequired", "FieldValueForbidden", "FieldValueTooLong", "FieldValueTooMany"].includes(reason);
  const head = silent ? title : `${title}: ${printValue(value)}`;
  return { reason, field, message: detail === "" ? head : `${head}: ${detail}` };
}

/** A value as field errors show it: JSON, in which Go escapes what HTML would read, inside of objects and lists alone. */
function printValue(value: unknown): string {
  if (value === undefined) return "null";
  const text = JSON.stringify(value);
  return typeof value === "object" ? text.replaceAll(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`) : text;
}

/** "Unsupported value" with the list of what is supported. */
export function notSupported(field: string, value: unknown, supported: readonly unknown[]): FieldError {
  const list = supported.map((item) => JSON.stringify(typeof item === "string" ? item : JSON.stringify(item))).join(", ");
  return fieldError("FieldValueNotSupported", field, value, list === "" ? "" : `supported values: ${list}`);
}
