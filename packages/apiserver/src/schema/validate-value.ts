import { equalJson, isObject } from "../json.ts";
import { spendStep } from "../request/deadline.ts";
import { fieldError, notSupported } from "./field-error.ts";
import { formatError } from "./formats.ts";
import { indexByKeys, listItemKey } from "./list-keys.ts";
import type { ValidationNode } from "./node.ts";
import type { FieldError } from "./types.ts";

/** Stands for "there is no old value to compare with". */
export const noOldValue: unique symbol = Symbol("no old value");

/**
 * Validates a value against types, formats, limits, enums and value validations (`allOf`, `anyOf`, `oneOf`, `not`), in the order and words of
 * kube-openapi's validator. Errors of a value that equals its old value are forgiven.
 *
 * @param path without leading dot; empty for the whole object
 * @param old the value at the same place before, or `noOldValue`
 */
export function validateValue(value: unknown, node: ValidationNode, path: string, old: unknown, errors: FieldError[]): void {
  // A text that stayed the same, and parts that both share, need no look: whatever is wrong with them is forgiven.
  if (value === old) return;
  spendStep();
  const before = errors.length;
  checkNode(value, node, path, old, errors);
  if (errors.length > before && old !== noOldValue && equalJson(value, old)) errors.length = before;
}

function checkNode(value: unknown, node: ValidationNode, path: string, old: unknown, errors: FieldError[]): void {
  if (value === null) {
    if (!node.nullable && (node.type !== "" || node.intOrString)) errors.push(wrongType(path, typeNames(node), "null"));
    return;
  }
  // A wrong type does not spare a value the other checks, as far as they apply to what it is.
  checkType(value, node, path, errors);
  if (node.allOf.length > 0 || node.anyOf.length > 0 || node.oneOf.length > 0 || node.not !== undefined)
    checkJunctors(value, node, path, errors);
  if (typeof value === "string") checkString(value, node, path, errors);
  else if (typeof value === "number") checkNumber(value, node, path, errors);
  if (Array.isArray(value)) checkArray(value, node, path, old, errors);
  if (node.enumValues !== undefined && !node.enumValues.some((allowed) => equalJson(allowed, value))) {
    errors.push(notSupported(path, value, node.enumValues));
  }
  if (isObject(value)) checkObject(value, node, path, old, errors);
}

function typeNames(node: ValidationNode): string {
  return node.intOrString ? "integer,string" : node.type;
}

function wrongType(path: string, wanted: string, got: string): FieldError {
  return fieldError(
    "FieldValueTypeInvalid",
    path === "" ? "<nil>" : path,
    got,
    `${path} in body must be of type ${wanted}: ${JSON.stringify(got)}`,
  );
}

/** Type of a JSON value as the genuine validator infers it, with the format it infers for numbers. */
function inferType(value: unknown): [type: string, format: string] {
  if (typeof value === "string") return ["string", ""];
  if (typeof value === "boolean") return ["boolean", ""];
  if (typeof value === "number") return isInt64(value) ? ["integer", "int64"] : ["number", "float64"];
  return [Array.isArray(value) ? "array" : "object", ""];
}

function checkType(value: unknown, node: ValidationNode, path: string, errors: FieldError[]): void {
  const [type, format] = inferType(value);
  if (node.intOrString) {
    if (type !== "integer" && type !== "string") errors.push(wrongType(path, "integer,string", type));
    return;
  }
  if (node.type === "" || node.type === type || (node.type === "number" && type === "integer")) return;
  const wantedFormat = node.source.format ?? "";
  const isText = typeof value === "string" || Array.isArray(value);
  if (!isText && wantedFormat !== "") errors.push(wrongType(path, wantedFormat, format));
  else if (!isText || wantedFormat === "" || node.type === "number" || node.type === "integer")
    errors.push(wrongType(path, node.type, type));
}

function invalid(path: string, value: unknown, text: string): FieldError {
  return fieldError("FieldValueInvalid", path === "" ? "<nil>" : path, value, `${path} in body ${text}`);
}

/** True for a whole number that Go would hold in 64 bits. */
function isInt64(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) <= 2 ** 63;
}

function checkString(value: string, node: ValidationNode, path: string, errors: FieldError[]): void {
  const { maxLength, minLength, format } = node.source;
  const length = maxLength === undefined && minLength === undefined ? 0 : codePoints(value);
  if (maxLength !== undefined && length > maxLength) {
    errors.push(fieldError("FieldValueTooLong", path, value, `may not be more than ${maxLength} bytes`));
  } else if (minLength !== undefined && length < minLength) {
    errors.push(invalid(path, value, `should be at least ${minLength} chars long`));
  } else if (node.pattern?.isCheap(value) === false) {
    errors.push(invalid(path, value.slice(0, 100), `is too long to be matched against '${node.source.pattern ?? ""}'`));
  } else if (node.pattern?.test(value) === false) {
    errors.push(invalid(path, value, `should match '${node.source.pattern ?? ""}'`));
  }
  if (format !== undefined && !node.intOrString && formatError(format, value)) {
    errors.push(fieldError("FieldValueTypeInvalid", path, value, `${path} in body must be of type ${format}: ${JSON.stringify(value)}`));
  }
}

function codePoints(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) !== 0xdc00) count++;
  return count;
}

function checkNumber(value: number, node: ValidationNode, path: string, errors: FieldError[]): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, format } = node.source;
  if (node.type === "integer" && (!isInt64(value) || (format === "int32" && Math.abs(value + 0.5) > 2 ** 31))) {
    const size = format === undefined || format === "" ? "(default format)" : `with format ${format}`;
    errors.push(fieldError("FieldValueInvalid", "<nil>", "", `Checked value must be of type integer ${size} in ${path}`));
  }
  if (multipleOf !== undefined) checkMultiple(value, multipleOf, path, errors);
  if (maximum !== undefined && (exclusiveMaximum === true ? value >= maximum : value > maximum)) {
    errors.push(invalid(path, value, `should be less than ${exclusiveMaximum === true ? "" : "or equal to "}${maximum}`));
  }
  if (minimum !== undefined && (exclusiveMinimum === true ? value <= minimum : value < minimum)) {
    errors.push(invalid(path, value, `should be greater than ${exclusiveMinimum === true ? "" : "or equal to "}${minimum}`));
  }
}

/** The genuine server divides whole numbers by a whole number: what is left of a factor below 1 divides nothing. */
function checkMultiple(value: number, multipleOf: number, path: string, errors: FieldError[]): void {
  const factor = Number.isInteger(value) ? Math.trunc(multipleOf) : multipleOf;
  if (factor <= 0)
    errors.push(fieldError("FieldValueInvalid", path, factor, `factor MultipleOf declared for ${path} must be positive: ${factor}`));
  else if (!isMultiple(value, factor)) errors.push(invalid(path, value, `should be a multiple of ${factor}`));
}

function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
}

function checkArray(value: readonly unknown[], node: ValidationNode, path: string, old: unknown, errors: FieldError[]): void {
  const { minItems, maxItems, uniqueItems } = node.source;
  const { items } = node;
  if (items !== undefined) {
    // Items of a list of type map keep their identity when they move; those of other lists have none.
    const oldItems = node.listType === "map" && Array.isArray(old) ? indexByKeys(old, node.listMapKeys) : undefined;
    value.forEach((item, index) => {
      const key = oldItems === undefined ? undefined : listItemKey(item, node.listMapKeys);
      const oldItem = key !== undefined && oldItems?.has(key) === true ? oldItems.get(key) : noOldValue;
      validateValue(item, items, `${path}[${index}]`, oldItem, errors);
    });
  }
  if (minItems !== undefined && value.length < minItems) errors.push(invalid(path, value.length, `should have at least ${minItems} items`));
  if (maxItems !== undefined && value.length > maxItems) {
    errors.push(tooMany(path, value.length, maxItems));
  }
  if (uniqueItems === true && value.some((item, index) => value.slice(0, index).some((earlier) => equalJson(earlier, item)))) {
    errors.push(invalid(path, value, "shouldn't contain duplicates"));
  }
}

function tooMany(field: string, actual: number, max: number): FieldError {
  return { reason: "FieldValueTooMany", field, message: `Too many: ${actual}: must have at most ${max} item${max === 1 ? "" : "s"}` };
}

function checkObject(value: Record<string, unknown>, node: ValidationNode, path: string, old: unknown, errors: FieldError[]): void {
  const { minProperties, maxProperties } = node.source;
  const keys = Object.keys(value);
  if (minProperties !== undefined && keys.length < minProperties) {
    errors.push(invalid(path, keys.length, `should have at least ${minProperties} properties`));
    return;
  }
  if (maxProperties !== undefined && keys.length > maxProperties) {
    errors.push(tooMany(path, keys.length, maxProperties));
    return;
  }
  const oldObject = isObject(old) ? old : undefined;
  for (const name of node.required) {
    if (!Object.hasOwn(value, name)) errors.push(fieldError("FieldValueRequired", path === "" ? name : `${path}.${name}`, undefined, ""));
  }
  for (const key of keys) {
    const child = node.properties.get(key) ?? (node.additional === true ? undefined : node.additional);
    if (child === undefined) continue;
    const oldValue = oldObject !== undefined && Object.hasOwn(oldObject, key) ? oldObject[key] : noOldValue;
    validateValue(value[key], child, path === "" ? key : `${path}.${key}`, oldValue, errors);
  }
}

function checkJunctors(value: unknown, node: ValidationNode, path: string, errors: FieldError[]): void {
  const add = (text: string): void => {
    errors.push(fieldError("FieldValueInvalid", "<nil>", "", `${JSON.stringify(path)} ${text}`));
  };
  const failuresOf = (part: ValidationNode): FieldError[] => {
    const found: FieldError[] = [];
    validateValue(value, part, path, noOldValue, found);
    return found;
  };
  if (node.anyOf.length > 0) {
    const failures = node.anyOf.map(failuresOf);
    if (failures.every((found) => found.length > 0)) {
      add("must validate at least one schema (anyOf)");
      errors.push(...(failures[0] ?? []));
    }
  }
  if (node.oneOf.length > 0) {
    const failures = node.oneOf.map(failuresOf);
    const matching = failures.filter((found) => found.length === 0).length;
    if (matching === 0) {
      add("must validate one and only one schema (oneOf). Found none valid");
      errors.push(...(failures[0] ?? []));
    } else if (matching > 1) add(`must validate one and only one schema (oneOf). Found ${matching} valid alternatives`);
  }
  if (node.allOf.length > 0) {
    const failures = node.allOf.map(failuresOf);
    const failing = failures.filter((found) => found.length > 0);
    for (const found of failing) errors.push(...found);
    if (failing.length > 0) {
      add(`must validate all the schemas (allOf)${failing.length === node.allOf.length ? ". None validated" : ""}`);
    }
  }
  if (node.not !== undefined && failuresOf(node.not).length === 0) add("must not validate the schema (not)");
}
