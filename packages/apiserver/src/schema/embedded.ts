import { getOwn, isObject } from "../json.ts";
import { fieldError } from "./field-error.ts";
import type { ValidationNode } from "./node.ts";
import type { FieldError } from "./types.ts";

/** Checks that apiVersion and kind of embedded resources are not empty, everywhere below `value`; that they are there is a matter of the schema. */
export function checkEmbedded(value: unknown, node: ValidationNode, path: string, errors: FieldError[]): void {
  if (!node.embeddedBelow) return;
  if (Array.isArray(value)) {
    const { items } = node;
    if (items !== undefined) value.forEach((item, index) => checkEmbedded(item, items, `${path}[${index}]`, errors));
    return;
  }
  if (!isObject(value)) return;
  if (node.embedded) {
    for (const name of ["apiVersion", "kind"]) {
      const text = getOwn(value, name);
      if (text === "") errors.push(fieldError("FieldValueRequired", `${path}.${name}`, undefined, "must not be empty"));
    }
  }
  for (const key of Object.keys(value)) {
    const property = node.properties.get(key);
    const child = property ?? (node.additional === true ? undefined : node.additional);
    if (child !== undefined)
      checkEmbedded(value[key], child, property === undefined ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`, errors);
  }
}
