import { getOwn, isObject } from "../json.ts";
import { oldLabelRule } from "../request/names.ts";
import { fieldError } from "./field-error.ts";
import type { ValidationNode } from "./node.ts";
import { validateEmbeddedMetadata } from "./object-meta-rules.ts";
import type { FieldError } from "./types.ts";

const kindText = `may have mixed case, but should otherwise match: ${oldLabelRule}`;

/** Checks apiVersion, kind and metadata of embedded resources, everywhere below `value`; that they are there is a matter of the schema. */
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
      if (text === "") errors.push(fieldError("FieldValueInvalid", `${path}.${name}`, "", "must not be empty"));
      else if (name === "apiVersion" && typeof text === "string" && text.split("/").length > 2)
        errors.push(fieldError("FieldValueInvalid", `${path}.${name}`, text, `unexpected GroupVersion string: ${text}`));
      else if (name === "kind" && typeof text === "string" && !/^[a-z]([-a-z0-9]*[a-z0-9])?$/i.test(text))
        errors.push(fieldError("FieldValueInvalid", `${path}.${name}`, text, kindText));
    }
    const metadata = getOwn(value, "metadata");
    if (isObject(metadata)) errors.push(...validateEmbeddedMetadata(metadata, `${path}.metadata`));
  }
  for (const key of Object.keys(value)) {
    const property = node.properties.get(key);
    const child = property ?? (node.additional === true ? undefined : node.additional);
    if (child !== undefined)
      checkEmbedded(value[key], child, property === undefined ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`, errors);
  }
}
