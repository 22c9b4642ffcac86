import { fieldError } from "./field-error.ts";
import type { FieldError, JsonSchema } from "./types.ts";

/** Checks that what `allOf`, `anyOf`, `oneOf` and `not` of the root speak of is declared outside of them too; those further inside are free to. */
export function checkCompleteness(root: JsonSchema, path: string, errors: FieldError[]): void {
  checkJunctors(root, root, path, path, errors);
}

function checkJunctors(part: JsonSchema, declared: JsonSchema, path: string, partPath: string, errors: FieldError[]): void {
  for (const word of ["allOf", "anyOf", "oneOf"] as const)
    (part[word] ?? []).forEach((inner, index) => checkPart(inner, declared, path, `${partPath}.${word}[${index}]`, errors));
  if (part.not !== undefined) checkPart(part.not, declared, path, `${partPath}.not`, errors);
}

function checkPart(part: JsonSchema, declared: JsonSchema, path: string, partPath: string, errors: FieldError[]): void {
  checkJunctors(part, declared, path, partPath, errors);
  const below = (inner: JsonSchema, outer: JsonSchema | undefined, step: string): void => {
    if (outer !== undefined) checkPart(inner, outer, `${path}.${step}`, `${partPath}.${step}`, errors);
    else errors.push(fieldError("FieldValueRequired", `${path}.${step}`, undefined, `because it is defined in ${partPath}.${step}`));
  };
  if (part.items !== undefined) below(part.items, declared.items, "items");
  for (const [name, child] of Object.entries(part.properties ?? {})) below(child, declared.properties?.[name], `properties[${name}]`);
}
