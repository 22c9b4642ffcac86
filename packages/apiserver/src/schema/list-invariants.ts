import { getOwn, isObject, type JsonObject } from "../json.ts";
import { fieldError } from "./field-error.ts";
import { listItemKey } from "./list-keys.ts";
import type { ValidationNode } from "./node.ts";
import type { FieldError } from "./types.ts";

/** Finds duplicates in lists of type set and map, everywhere below `value`. */
export function checkListInvariants(value: unknown, node: ValidationNode, path: string, errors: FieldError[]): void {
  if (!node.listsBelow) return;
  if (Array.isArray(value)) {
    if (node.listType === "set")
      checkDuplicates(
        value,
        (item) => JSON.stringify(item),
        (item) => item,
        path,
        errors,
      );
    if (node.listType === "map") {
      value.forEach((item: unknown, index) => {
        if (!isObject(item))
          errors.push(fieldError("FieldValueInvalid", `${path}[${index}]`, item, "must be an object for an array of list-type map"));
      });
      const keyed = (item: unknown): string | undefined => listItemKey(item, node.listMapKeys);
      checkDuplicates(value, keyed, (item) => keyFieldsOf(item as JsonObject, node.listMapKeys), path, errors);
    }
    const { items } = node;
    if (items !== undefined) value.forEach((item, index) => checkListInvariants(item, items, `${path}[${index}]`, errors));
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      const property = node.properties.get(key);
      const child = property ?? (node.additional === true ? undefined : node.additional);
      if (child === undefined) continue;
      checkListInvariants(value[key], child, property === undefined ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`, errors);
    }
  }
}

function keyFieldsOf(item: JsonObject, keys: readonly string[]): JsonObject {
  const fields: JsonObject = {};
  for (const key of [...keys].sort()) if (Object.hasOwn(item, key)) fields[key] = getOwn(item, key);
  return fields;
}

function checkDuplicates(
  list: readonly unknown[],
  identify: (item: unknown) => string | undefined,
  show: (item: unknown) => unknown,
  path: string,
  errors: FieldError[],
): void {
  const seen = new Set<string>();
  const reported = new Set<string>();
  list.forEach((item, index) => {
    const identity = identify(item);
    if (identity === undefined) return;
    if (seen.has(identity) && !reported.has(identity)) {
      reported.add(identity);
      errors.push(fieldError("FieldValueDuplicate", `${path}[${index}]`, show(item), ""));
    }
    seen.add(identity);
  });
}
