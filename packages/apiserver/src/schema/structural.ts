import { cloneJson, equalJson, isObject } from "../json.ts";
import { applyDefaults } from "./defaulting.ts";
import { fieldError } from "./field-error.ts";
import { compileNode } from "./node.ts";
import { prune } from "./pruning.ts";
import { compileRe2 } from "../patterns/re2.ts";
import { checkCompleteness } from "./structural-completeness.ts";
import { checkListType } from "./structural-lists.ts";
import type { FieldError, JsonSchema } from "./types.ts";
import { noOldValue, validateValue } from "./validate-value.ts";

type Place = "root" | "field" | "item";

/** Errors of a schema by the part of the genuine server that tells them. */
interface Found {
  readonly plain: FieldError[];
  readonly structural: FieldError[];
}

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
  const found: Found = { plain: [], structural: [] };
  checkSchema(schema, path, "root", found);
  checkCompleteness(schema, path, found.structural);
  if (schema.nullable === true)
    found.plain.push(fieldError("FieldValueForbidden", `${path}.nullable`, undefined, "nullable cannot be true at the root"));
  // The genuine server sorts what makes a schema unstructural.
  errors.push(...found.plain, ...found.structural.toSorted((a, b) => (`${a.field}: ${a.message}` < `${b.field}: ${b.message}` ? -1 : 1)));
  // Defaults are compiled and tried only in a schema that is sound otherwise.
  if (errors.length === 0) checkTopDefaults(schema, path, errors);
  if (errors.length === 0) checkDefaults(schema, path, errors);
  return errors;
}

const knownTypes = ["array", "boolean", "integer", "number", "object", "string"];

/** What JSON Schema has and Kubernetes does not; nothing else is looked at where it stands. */
function checkForm(schema: unknown, path: string, errors: FieldError[]): void {
  if (!isObject(schema)) return;
  if (typeof schema["$ref"] === "string" && schema["$ref"] !== "")
    errors.push(fieldError("FieldValueForbidden", `${path}.$ref`, undefined, "$ref is not supported"));
  for (const word of ["id", "additionalItems", "patternProperties", "definitions", "dependencies"]) {
    const value = schema[word];
    const isThere = word === "id" ? typeof value === "string" && value !== "" : value !== undefined && value !== null;
    const isEmpty = isObject(value) && Object.keys(value).length === 0 && word !== "additionalItems" && word !== "dependencies";
    if (isThere && !isEmpty) errors.push(fieldError("FieldValueForbidden", `${path}.${word}`, undefined, `${word} is not supported`));
  }
  const { items, properties, additionalProperties } = schema;
  if (Array.isArray(items))
    errors.push(fieldError("FieldValueForbidden", `${path}.items`, undefined, "items must be a schema object and not an array"));
  else checkForm(items, `${path}.items`, errors);
  checkForm(additionalProperties, `${path}.additionalProperties`, errors);
  for (const [name, child] of Object.entries(isObject(properties) ? properties : {}))
    checkForm(child, `${path}.properties[${name}]`, errors);
}

function checkSchema(schema: JsonSchema, path: string, place: Place, errors: Found): void {
  if (typeof schema !== "object" || schema === null) {
    errors.plain.push(fieldError("FieldValueRequired", path, undefined, "must be a schema"));
    return;
  }
  checkType(schema, path, place, errors);
  checkExtensions(schema, path, place, errors);
  checkListType(schema, path, errors.plain);
  checkPlain(schema, path, errors);
  checkObjectFields(schema, path, place, errors.structural);
  for (const word of ["allOf", "anyOf", "oneOf"] as const) {
    if (word === "anyOf" && isIntOrString(schema.anyOf)) continue;
    (schema[word] ?? []).forEach((part, index) =>
      checkValueValidation(part, `${path}.${word}[${index}]`, word === "allOf" && index === 0 && isIntOrString(part.anyOf), errors),
    );
  }
  if (schema.not !== undefined) checkValueValidation(schema.not, `${path}.not`, false, errors);
  for (const [name, child] of Object.entries(schema.properties ?? {})) checkSchema(child, `${path}.properties[${name}]`, "field", errors);
  if (typeof schema.additionalProperties === "object")
    checkSchema(schema.additionalProperties, `${path}.additionalProperties`, "field", errors);
  if (schema.items !== undefined) checkSchema(schema.items, `${path}.items`, "item", errors);
}

function checkType(schema: JsonSchema, path: string, place: Place, { plain, structural }: Found): void {
  const intOrString = schema["x-kubernetes-int-or-string"] === true;
  const open = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const type = schema.type ?? "";
  const at = `${path}.type`;
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  if (isEmbedded && type !== "object") {
    structural.push(wrongType(at, type, "must be object if x-kubernetes-embedded-resource is true"));
  } else if (type === "" && !intOrString && !open) {
    const why = { root: "at the root", item: "for specified array items", field: "for specified object fields" }[place];
    structural.push(fieldError("FieldValueRequired", at, undefined, `must not be empty ${why}`));
  }
  if (type !== "" && !knownTypes.includes(type)) {
    const supported = knownTypes.map((known) => JSON.stringify(known)).join(", ");
    plain.push(fieldError("FieldValueNotSupported", at, type, `supported values: ${supported}`));
    if (type === "null")
      plain.push(fieldError("FieldValueForbidden", at, undefined, "type cannot be set to null, use nullable as an alternative"));
  } else if (type !== "" && type !== "object" && place === "root") {
    structural.push(fieldError("FieldValueInvalid", at, type, "must be object at the root"));
  }
  if (type === "array" && schema.items === undefined) {
    structural.push(fieldError("FieldValueRequired", `${path}.items`, undefined, "must be specified"));
  }
}

function wrongType(at: string, type: string, why: string): FieldError {
  return type === "" ? fieldError("FieldValueRequired", at, undefined, why) : fieldError("FieldValueInvalid", at, type, why);
}

function checkExtensions(schema: JsonSchema, path: string, place: Place, { plain, structural }: Found): void {
  const preserves = `${path}.x-kubernetes-preserve-unknown-fields`;
  const additional = `${path}.additionalProperties`;
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  const isOpen = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const hasFields = Object.keys(schema.properties ?? {}).length > 0;
  if (schema["x-kubernetes-preserve-unknown-fields"] === false)
    plain.push(fieldError("FieldValueInvalid", preserves, false, "must be true or undefined"));
  if (schema["x-kubernetes-int-or-string"] === true) {
    const why = "must be false if x-kubernetes-int-or-string is true";
    if (isOpen) structural.push(fieldError("FieldValueInvalid", preserves, true, why));
    if (isEmbedded) structural.push(fieldError("FieldValueInvalid", `${path}.x-kubernetes-embedded-resource`, true, why));
  }
  if (isEmbedded && !isOpen && !hasFields) {
    const why = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    structural.push(fieldError("FieldValueRequired", `${path}.properties`, undefined, why));
  }
  const forbid = (why: string): FieldError => fieldError("FieldValueForbidden", additional, undefined, why);
  if (schema.additionalProperties !== undefined) {
    if (hasFields && schema.additionalProperties !== true) plain.push(forbid("additionalProperties and properties are mutual exclusive"));
    if (place === "root") structural.push(forbid("must not be used at the root"));
    if (isEmbedded) structural.push(forbid("must not be used if x-kubernetes-embedded-resource is set"));
  }
  const mapType = schema["x-kubernetes-map-type"];
  if (mapType === undefined) return;
  if (schema.type !== "object")
    plain.push(wrongType(`${path}.type`, schema.type ?? "", "must be object if x-kubernetes-map-type is specified"));
  if (mapType !== "atomic" && mapType !== "granular")
    plain.push(fieldError("FieldValueNotSupported", `${path}.x-kubernetes-map-type`, mapType, `supported values: "atomic", "granular"`));
}

function checkPlain(schema: JsonSchema, path: string, { plain, structural }: Found): void {
  if (schema.uniqueItems === true) {
    const why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    plain.push(fieldError("FieldValueForbidden", `${path}.uniqueItems`, undefined, why));
  }
  if (schema.pattern === undefined) return;
  try {
    compileRe2(schema.pattern);
  } catch (error) {
    const why = `must be a valid regular expression, but isn't: error parsing regexp: ${error instanceof Error ? error.message : String(error)}`;
    structural.push(fieldError("FieldValueInvalid", `${path}.pattern`, schema.pattern, why));
  }
}

/** What a schema may say of apiVersion, kind and metadata where those are an object's own. */
function checkObjectFields(schema: JsonSchema, path: string, place: Place, errors: FieldError[]): void {
  if (place !== "root" && schema["x-kubernetes-embedded-resource"] !== true) return;
  for (const [name, type] of [
    ["apiVersion", "string"],
    ["kind", "string"],
    ["metadata", "object"],
  ] as const) {
    const given = schema.properties?.[name];
    if (given === undefined || given.type === type) continue;
    errors.push(fieldError("FieldValueInvalid", `${path}.properties[${name}].type`, given.type ?? "", `must be ${type}`));
  }
  if (place === "root") checkRootMetadata(schema, path, errors);
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
  "x-kubernetes-preserve-unknown-fields": "false",
  "x-kubernetes-embedded-resource": "false",
  "x-kubernetes-int-or-string": "false",
  "x-kubernetes-list-map-keys": "empty",
  "x-kubernetes-list-type": "undefined",
  "x-kubernetes-map-type": "undefined",
  "x-kubernetes-validations": "empty",
} as const;
const forbiddenInside = Object.keys(emptyWords) as (keyof typeof emptyWords)[];

/** The one place where types may stand: an integer or a string, in this order. */
function isIntOrString(parts: readonly JsonSchema[] | undefined): boolean {
  return equalJson(parts, [{ type: "integer" }, { type: "string" }]);
}

function isWordSet(value: unknown): boolean {
  return value !== undefined && value !== false && value !== "" && !(Array.isArray(value) && value.length === 0);
}

function checkValueValidation(schema: JsonSchema, path: string, mayBeIntOrString: boolean, errors: Found): void {
  for (const word of forbiddenInside) {
    if (!isWordSet(schema[word])) continue;
    errors.structural.push(fieldError("FieldValueForbidden", `${path}.${word}`, undefined, `must be ${emptyWords[word]} to be structural`));
  }
  if (schema.properties?.["metadata"] !== undefined) {
    const at = `${path}.properties[metadata]`;
    errors.structural.push(fieldError("FieldValueForbidden", at, undefined, "must not be specified in a nested context"));
  }
  checkPlain(schema, path, errors);
  checkListType(schema, path, errors.plain);
  for (const [name, child] of Object.entries(schema.properties ?? {}))
    checkValueValidation(child, `${path}.properties[${name}]`, false, errors);
  if (schema.items !== undefined) checkValueValidation(schema.items, `${path}.items`, false, errors);
  for (const word of ["allOf", "anyOf", "oneOf"] as const) {
    if (word === "anyOf" && mayBeIntOrString) continue;
    (schema[word] ?? []).forEach((part, index) => checkValueValidation(part, `${path}.${word}[${index}]`, false, errors));
  }
  if (schema.not !== undefined) checkValueValidation(schema.not, `${path}.not`, false, errors);
}

/** Defaults that no object could have: of what every object has, and of an object without type. */
function checkTopDefaults(schema: JsonSchema, path: string, errors: FieldError[]): void {
  for (const name of ["apiVersion", "kind", "metadata"]) {
    const look = (inner: unknown, at: string): void => {
      if (!isObject(inner)) return;
      if (inner["default"] !== undefined)
        errors.push(fieldError("FieldValueForbidden", `${at}.default`, undefined, `must not be set in top-level ${name}`));
      for (const [field, child] of Object.entries(isObject(inner["properties"]) ? inner["properties"] : {}))
        look(child, `${at}.properties[${field}]`);
    };
    look(schema.properties?.[name], `${path}.properties[${name}]`);
  }
  if (errors.length > 0 || !isObject(schema.default)) return;
  for (const name of ["apiVersion", "kind"]) {
    if (schema.default[name] === undefined) errors.push(fieldError("FieldValueRequired", `${path}.default.${name}`, undefined, ""));
  }
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
