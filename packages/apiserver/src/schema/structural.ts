import { cloneJson, isObject } from "../json.ts";
import { applyDefaults } from "./defaulting.ts";
import { fieldError } from "./field-error.ts";
import { compileNode } from "./node.ts";
import { prune } from "./pruning.ts";
import { compileRe2 } from "./re2.ts";
import { checkListType } from "./structural-lists.ts";
import type { FieldError, JsonSchema } from "./types.ts";
import { noOldValue, validateValue } from "./validate-value.ts";

type Place = "root" | "field" | "item";

/**
 * Checks that a schema is structural, that its patterns compile, that list types fit, and that defaults are valid values.
 *
 * @param path where the schema stands in the CRD
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
export function checkStructural(schema: JsonSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  checkForm(schema, path, errors);
  if (errors.length > 0) return errors;
  checkSchema(schema, path, "root", errors);
  // Defaults are compiled and tried only in a schema that is sound otherwise.
  if (errors.length === 0) checkDefaults(schema, path, errors);
  return errors;
}

const knownTypes = ["array", "boolean", "integer", "number", "object", "string"];

/** What JSON Schema has and Kubernetes does not; nothing else is looked at where it stands. */
function checkForm(schema: unknown, path: string, errors: FieldError[]): void {
  if (!isObject(schema)) return;
  if (typeof schema["$ref"] === "string" && schema["$ref"] !== "")
    errors.push(fieldError("FieldValueForbidden", `${path}.$ref`, undefined, "$ref is not supported"));
  const { items, properties, additionalProperties } = schema;
  if (Array.isArray(items))
    errors.push(fieldError("FieldValueForbidden", `${path}.items`, undefined, "items must be a schema object and not an array"));
  else checkForm(items, `${path}.items`, errors);
  checkForm(additionalProperties, `${path}.additionalProperties`, errors);
  for (const [name, child] of Object.entries(isObject(properties) ? properties : {}))
    checkForm(child, `${path}.properties[${name}]`, errors);
}

function checkSchema(schema: JsonSchema, path: string, place: Place, errors: FieldError[]): void {
  if (typeof schema !== "object" || schema === null) {
    errors.push(fieldError("FieldValueRequired", path, undefined, "must be a schema"));
    return;
  }
  checkType(schema, path, place, errors);
  checkExtensions(schema, path, errors);
  checkListType(schema, path, errors);
  checkPlain(schema, path, errors);
  if (place === "root") checkRootMetadata(schema, path, errors);
  for (const word of ["allOf", "anyOf", "oneOf"] as const) {
    (schema[word] ?? []).forEach((part, index) =>
      checkValueValidation(part, `${path}.${word}[${index}]`, isIntOrStringPattern(schema, word), errors),
    );
  }
  if (schema.not !== undefined) checkValueValidation(schema.not, `${path}.not`, false, errors);
  for (const [name, child] of Object.entries(schema.properties ?? {})) checkSchema(child, `${path}.properties[${name}]`, "field", errors);
  if (typeof schema.additionalProperties === "object")
    checkSchema(schema.additionalProperties, `${path}.additionalProperties`, "field", errors);
  if (schema.items !== undefined) checkSchema(schema.items, `${path}.items`, "item", errors);
}

function checkType(schema: JsonSchema, path: string, place: Place, errors: FieldError[]): void {
  const intOrString = schema["x-kubernetes-int-or-string"] === true;
  const open = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const type = schema.type ?? "";
  const at = `${path}.type`;
  if (type === "" && place === "root") errors.push(fieldError("FieldValueRequired", at, undefined, "must not be empty at the root"));
  else if (type === "" && !intOrString && !open) {
    errors.push(
      fieldError(
        "FieldValueRequired",
        at,
        undefined,
        `must not be empty for specified ${place === "item" ? "array items" : "object fields"}`,
      ),
    );
  } else if (type !== "" && !knownTypes.includes(type)) {
    errors.push(
      fieldError("FieldValueNotSupported", at, type, `supported values: ${knownTypes.map((known) => JSON.stringify(known)).join(", ")}`),
    );
  } else if (type !== "object" && place === "root") errors.push(fieldError("FieldValueInvalid", at, type, "must be object at the root"));
  if (type === "array" && schema.items === undefined) {
    errors.push(fieldError("FieldValueRequired", `${path}.items`, undefined, "must be specified"));
  }
}

function checkExtensions(schema: JsonSchema, path: string, errors: FieldError[]): void {
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    errors.push(fieldError("FieldValueInvalid", `${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"));
  }
  if (schema["x-kubernetes-embedded-resource"] === true) {
    if (schema.type !== "object")
      errors.push(
        fieldError("FieldValueInvalid", `${path}.type`, schema.type ?? "", "must be object if x-kubernetes-embedded-resource is true"),
      );
    if (schema["x-kubernetes-preserve-unknown-fields"] !== true && Object.keys(schema.properties ?? {}).length === 0) {
      errors.push(
        fieldError(
          "FieldValueRequired",
          `${path}.properties`,
          undefined,
          "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
        ),
      );
    }
  }
  if (schema.properties !== undefined && typeof schema.additionalProperties === "object") {
    errors.push(
      fieldError(
        "FieldValueForbidden",
        `${path}.additionalProperties`,
        undefined,
        "additionalProperties and properties are mutual exclusive",
      ),
    );
  }
  if (schema.additionalProperties === false) {
    errors.push(fieldError("FieldValueForbidden", `${path}.additionalProperties`, undefined, "must not be false"));
  }
  const mapType = schema["x-kubernetes-map-type"];
  if (mapType !== undefined) {
    const at = `${path}.x-kubernetes-map-type`;
    if (mapType !== "atomic" && mapType !== "granular")
      errors.push(fieldError("FieldValueNotSupported", at, mapType, `supported values: "atomic", "granular"`));
    else if (schema.type !== "object")
      errors.push(
        fieldError("FieldValueInvalid", `${path}.type`, schema.type ?? "", "must be object if x-kubernetes-map-type is specified"),
      );
  }
}

function checkPlain(schema: JsonSchema, path: string, errors: FieldError[]): void {
  if (schema.uniqueItems === true) {
    errors.push(
      fieldError(
        "FieldValueForbidden",
        `${path}.uniqueItems`,
        undefined,
        "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
      ),
    );
  }
  if (schema.pattern !== undefined) {
    try {
      compileRe2(schema.pattern);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      errors.push(
        fieldError(
          "FieldValueInvalid",
          `${path}.pattern`,
          schema.pattern,
          `must be a valid regular expression, but isn't: error parsing regexp: ${why}`,
        ),
      );
    }
  }
}

function checkRootMetadata(schema: JsonSchema, path: string, errors: FieldError[]): void {
  const metadata = schema.properties?.["metadata"];
  if (metadata === undefined) return;
  for (const name of Object.keys(metadata.properties ?? {})) {
    if (name !== "name" && name !== "generateName") {
      errors.push(
        fieldError(
          "FieldValueForbidden",
          `${path}.properties[metadata]`,
          undefined,
          `must not specify anything other than name and generateName, but metadata is implicitly specified`,
        ),
      );
    }
  }
}

/** Words that value validations may not use, and how the refusal calls their absence. */
const emptyWords = {
  type: "empty",
  default: "undefined",
  nullable: "false",
  title: "empty",
  description: "empty",
  additionalProperties: "undefined",
} as const;
const forbiddenInside = Object.keys(emptyWords) as (keyof typeof emptyWords)[];

function isIntOrStringPattern(schema: JsonSchema, word: string): boolean {
  return schema["x-kubernetes-int-or-string"] === true && (word === "anyOf" || word === "allOf");
}

function checkValueValidation(schema: JsonSchema, path: string, intOrString: boolean, errors: FieldError[]): void {
  for (const word of forbiddenInside) {
    if (schema[word] === undefined || (word === "type" && intOrString)) continue;
    errors.push(fieldError("FieldValueForbidden", `${path}.${word}`, undefined, `must be ${emptyWords[word]} to be structural`));
  }
  for (const word of Object.keys(schema)) {
    if (word.startsWith("x-kubernetes-") && word !== "x-kubernetes-validations") {
      errors.push(fieldError("FieldValueForbidden", `${path}.${word}`, undefined, "must be false to be structural"));
    }
  }
  checkPlain(schema, path, errors);
  for (const [name, child] of Object.entries(schema.properties ?? {}))
    checkValueValidation(child, `${path}.properties[${name}]`, false, errors);
  if (schema.items !== undefined) checkValueValidation(schema.items, `${path}.items`, false, errors);
  for (const word of ["allOf", "anyOf", "oneOf"] as const) {
    (schema[word] ?? []).forEach((part, index) => checkValueValidation(part, `${path}.${word}[${index}]`, intOrString, errors));
  }
  if (schema.not !== undefined) checkValueValidation(schema.not, `${path}.not`, false, errors);
}

function checkDefaults(schema: JsonSchema, path: string, errors: FieldError[]): void {
  if (schema.default !== undefined) {
    const node = compileNode(schema);
    const value = cloneJson(schema.default);
    const at = `${path}.default`;
    if (prune(value, node).length > 0) errors.push(fieldError("FieldValueInvalid", at, schema.default, "must not have unknown fields"));
    applyDefaults(value, node);
    const found: FieldError[] = [];
    validateValue(value, node, "", noOldValue, found);
    for (const error of found)
      errors.push({ ...error, field: error.field === "<nil>" || error.field === "" ? at : `${at}.${error.field}` });
  }
  for (const [name, child] of Object.entries(schema.properties ?? {})) checkDefaults(child, `${path}.properties[${name}]`, errors);
  if (typeof schema.additionalProperties === "object") checkDefaults(schema.additionalProperties, `${path}.additionalProperties`, errors);
  if (schema.items !== undefined) checkDefaults(schema.items, `${path}.items`, errors);
}
