import { evaluateRules } from "../cel/rules.ts";
import { isObject, setOwn, type JsonObject } from "../json.ts";
import { applyDefaults } from "./defaulting.ts";
import { checkEmbedded } from "./embedded.ts";
import { fieldError } from "./field-error.ts";
import { checkListInvariants } from "./list-invariants.ts";
import { compileNode, type ValidationNode } from "./node.ts";
import { objectMetaSchema } from "./object-meta.ts";
import { prune } from "./pruning.ts";
import { tidyMetadata } from "./tidy-metadata.ts";
import type { CompiledVersion, FieldError, JsonSchema, ValidationResult } from "./types.ts";
import { noOldValue, validateValue } from "./validate-value.ts";

/** What tells one version of a kind from another, beside its schema. */
export type VersionFacts = Omit<CompiledVersion, "apiVersion" | "emptyObject" | "root" | "schema" | "validate" | "applyDefaults" | "prune">;

/** Builds a compiled version of a custom resource from its facts and its schema, which has been checked before. */
export function createCompiledVersion(facts: VersionFacts, schema: JsonSchema): CompiledVersion {
  const root = compileNode(withObjectMeta(schema));
  // Validation of metadata is the server's, except for what the CRD itself demands of name and generateName.
  const validated = compileNode(schema);
  return {
    ...facts,
    apiVersion: facts.group === "" ? facts.version : `${facts.group}/${facts.version}`,
    root,
    emptyObject: {},
    schema,
    validate: (object, old) => validateObject(object, old, validated),
    applyDefaults: (object, options) => {
      tidyMetadata(object);
      applyDefaults(object, root, options?.keepNulls);
    },
    prune: (object) => prune(object, root),
  };
}

function withObjectMeta(schema: JsonSchema): JsonSchema {
  const inner = withEmbeddedMeta(schema);
  return {
    ...inner,
    properties: { ...inner.properties, apiVersion: { type: "string" }, kind: { type: "string" }, metadata: objectMetaSchema },
  };
}

/** Errors after which rules are not evaluated, because the value may not have the types they were checked for. */
const blocking = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

function validateObject(object: JsonObject, old: JsonObject | undefined, root: ValidationNode): ValidationResult {
  const errors: FieldError[] = [];
  const warnings: string[] = [];
  validateValue(object, root, "", old ?? noOldValue, errors);
  checkEmbedded(object, root, "", errors);
  if (root.listsBelow) {
    const found: FieldError[] = [];
    checkListInvariants(object, root, "", found);
    const before: FieldError[] = [];
    // An object that was stored with duplicates may be updated as long as it keeps having some.
    if (found.length > 0 && old !== undefined) checkListInvariants(old, root, "", before);
    if (before.length === 0) errors.push(...found);
  }
  if (root.rulesBelow) {
    if (errors.some((error) => blocking.has(error.reason))) {
      errors.push(
        fieldError(
          "FieldValueInvalid",
          "<nil>",
          null,
          "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
        ),
      );
    } else evaluateRules(object, root, isObject(old) ? old : noOldValue, errors, warnings);
  }
  return { errors, warnings };
}

/** The schema in which embedded resources have the metadata that every object has, so that its fields are owned one by one. */
function withEmbeddedMeta(schema: JsonSchema): JsonSchema {
  const { properties, items, additionalProperties } = schema;
  const below: Record<string, JsonSchema> = {};
  for (const [name, child] of Object.entries(properties ?? {})) setOwn(below, name, withEmbeddedMeta(child));
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  const own = isEmbedded ? { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: objectMetaSchema } : {};
  return {
    ...schema,
    ...(properties === undefined && !isEmbedded ? {} : { properties: { ...below, ...own } }),
    ...(items === undefined ? {} : { items: withEmbeddedMeta(items) }),
    ...(isObject(additionalProperties) ? { additionalProperties: withEmbeddedMeta(additionalProperties) } : {}),
  };
}
