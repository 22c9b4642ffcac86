import { cloneJson } from "../json.ts";
import { applyDefaults } from "./defaulting.ts";
import { fieldError } from "./field-error.ts";
import { compileNode } from "./node.ts";
import { prune } from "./pruning.ts";
import { compileRe2 } from "./re2.ts";
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
  checkSchema(schema, path, "root", errors);
  // Defaults are compiled and tried only in a schema that is sound otherwise.
  if (errors.length === 0) checkDefaults(schema, path, errors);
  return errors;
}

const knownTypes = ["array", "boolean", "integer", "number", "object", "string"];

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
  } else if (type !== "" && intOrString)
    errors.push(fieldError("FieldValueInvalid", at, type, "must be empty if x-kubernetes-int-or-string is true"));
  else if (type !== "" && !knownTypes.includes(type)) {
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
  if (schema.properties !== undefined && schema.additionalProperties !== undefined && schema.additionalProperties !== false) {
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

function checkListType(schema: JsonSchema, path: string, errors: FieldError[]): void {
  const type = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  if (type !== undefined && schema.type !== "array") {
    errors.push(fieldError("FieldValueInvalid", `${path}.type`, schema.type ?? "", "must be array if x-kubernetes-list-type is specified"));
  }
  if (type !== undefined && !["atomic", "set", "map"].includes(type)) {
    errors.push(fieldError("FieldValueNotSupported", `${path}.x-kubernetes-list-type`, type, `supported values: "atomic", "map", "set"`));
  }
  if (type === "map") {
    if (keys.length === 0) {
      errors.push(
        fieldError(
          "FieldValueRequired",
          `${path}.x-kubernetes-list-map-keys`,
          undefined,
          "must not be empty if x-kubernetes-list-type is map",
        ),
      );
    }
    if (schema.items?.type !== "object") {
      errors.push(
        fieldError(
          "FieldValueInvalid",
          `${path}.items.type`,
          schema.items?.type ?? "",
          "must be object if parent array's x-kubernetes-list-type is map",
        ),
      );
    }
    for (const key of keys) {
      const property = schema.items?.properties?.[key];
      const at = `${path}.items.properties[${key}]`;
      if (property === undefined) {
        errors.push(
          fieldError("FieldValueInvalid", `${path}.x-kubernetes-list-map-keys`, keys, "entries must all be names of item properties"),
        );
      } else if (!["string", "integer", "number", "boolean"].includes(property.type ?? "")) {
        errors.push(
          fieldError(
            "FieldValueInvalid",
            `${at}.type`,
            property.type ?? "",
            "must be a scalar type if parent array's x-kubernetes-list-type is map",
          ),
        );
      } else if (property.default === undefined && schema.items?.required?.includes(key) !== true) {
        errors.push(
          fieldError(
            "FieldValueRequired",
            `${at}.default`,
            undefined,
            "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
          ),
        );
      }
    }
  } else if (keys.length > 0) {
    errors.push(
      fieldError("FieldValueInvalid", `${path}.x-kubernetes-list-type`, type, "must be map if x-kubernetes-list-map-keys is non-empty"),
    );
  }
  if (type === "set" && schema.items?.type === "object" && schema.items["x-kubernetes-map-type"] !== "atomic") {
    errors.push(
      fieldError(
        "FieldValueInvalid",
        `${path}.items.x-kubernetes-map-type`,
        schema.items["x-kubernetes-map-type"] ?? null,
        "must be atomic as item of a list with x-kubernetes-list-type=set",
      ),
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
        fieldError("FieldValueInvalid", `${path}.pattern`, schema.pattern, `must be a valid regular expression, but isn't: ${why}`),
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

const forbiddenInside = ["type", "default", "nullable", "title", "description", "additionalProperties"] as const;

function isIntOrStringPattern(schema: JsonSchema, word: string): boolean {
  return schema["x-kubernetes-int-or-string"] === true && (word === "anyOf" || word === "allOf");
}

function checkValueValidation(schema: JsonSchema, path: string, intOrString: boolean, errors: FieldError[]): void {
  for (const word of forbiddenInside) {
    if (schema[word] === undefined || (word === "type" && intOrString)) continue;
    errors.push(fieldError("FieldValueForbidden", `${path}.${word}`, undefined, "must be empty to be structural"));
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
    const holder = { value };
    const unknown = prune(holder.value, node);
    if (unknown.length > 0)
      errors.push(
        fieldError("FieldValueInvalid", `${path}.default`, schema.default, `must not have unknown fields: ${unknown.join(", ")}`),
      );
    applyDefaults(holder.value, node);
    validateValue(holder.value, node, `${path}.default`, noOldValue, errors);
  }
  for (const [name, child] of Object.entries(schema.properties ?? {})) checkDefaults(child, `${path}.properties[${name}]`, errors);
  if (typeof schema.additionalProperties === "object") checkDefaults(schema.additionalProperties, `${path}.additionalProperties`, errors);
  if (schema.items !== undefined) checkDefaults(schema.items, `${path}.items`, errors);
}
