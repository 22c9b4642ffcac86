import { definitionNameOf, definitionOf } from "../builtin/index.ts";
import { objectAt, stringsAt } from "../request/json.ts";
import { isObject, setOwn, type JsonObject } from "../json.ts";
import type { CompiledVersion } from "../schema/index.ts";
import { addPublished, publishedSchema } from "./published.ts";
import { listMetaName, objectMetaName, sharedSchemas } from "./shared-schemas.ts";

/** OpenAPI name of a kind: that of Kubernetes for built-in kinds, else the reversed group, version and kind. */
export function schemaNameOf(kind: CompiledVersion): string {
  return definitionNameOf(kind) ?? [...kind.group.split(".").toReversed(), kind.version, kind.names.kind].join(".");
}

/**
 * Schemas of the kinds, their lists and everything they refer to, for OpenAPI v3: built-in ones as the genuine server publishes them, with what
 * `kubectl explain` prints.
 */
export function collectDescribedSchemas(kinds: readonly CompiledVersion[], prefix: string): JsonObject {
  const own = collectSchemas(
    kinds.filter((kind) => definitionNameOf(kind) === undefined),
    prefix,
  );
  const common = objectAt(publishedSchema("io.k8s.api.core.v1.ConfigMap"), "properties");
  for (const kind of kinds) {
    const name = schemaNameOf(kind);
    const schema = own[name];
    if (isObject(schema)) {
      const described = Object.fromEntries(["apiVersion", "kind", "metadata"].map((field) => [field, common[field]]));
      const embedding = describeEmbedded(schema, { metadata: described["metadata"], ...embeddedTypes });
      own[name] = { ...embedding, properties: { ...objectAt(embedding, "properties"), ...described } };
    } else {
      addPublished(own, name);
      if (!addPublished(own, `${name}List`)) own[`${name}List`] = listSchema(kind, prefix + name, prefix);
    }
  }
  for (const name of [objectMetaName, listMetaName]) addPublished(own, name);
  return own;
}

const conventions = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";
const embeddedTypes = {
  apiVersion: {
    type: "string",
    description: `apiVersion defines the versioned schema of this representation of an object. More info: ${conventions}#resources`,
  },
  kind: {
    type: "string",
    description: `kind is a string value representing the type of this object. In CamelCase. More info: ${conventions}#types-kinds`,
  },
};

/** The same schema, in which every embedded object has what every object has. */
function describeEmbedded(schema: JsonObject, described: JsonObject): JsonObject {
  const inside = (value: unknown): unknown => (isObject(value) ? describeEmbedded(value, described) : value);
  const { properties, items, additionalProperties } = schema;
  const result: JsonObject = {
    ...schema,
    ...(isObject(properties)
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, inside(value)])) }
      : {}),
    ...(items === undefined ? {} : { items: inside(items) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: inside(additionalProperties) }),
  };
  if (schema["x-kubernetes-embedded-resource"] !== true) return result;
  const required = [...new Set([...stringsAt(schema, "required"), "kind", "apiVersion"])];
  return { ...result, properties: { ...objectAt(result, "properties"), ...described }, required };
}

/** Schemas of the kinds, their lists and everything they refer to, without descriptions of built-in kinds. `prefix` is put before referenced names. */
export function collectSchemas(kinds: readonly CompiledVersion[], prefix: string): JsonObject {
  const schemas: JsonObject = {};
  for (const [name, schema] of Object.entries(sharedSchemas)) schemas[name] = schema;
  const pending: string[] = [];
  for (const kind of kinds) {
    const gvk = { group: kind.group, version: kind.version, kind: kind.names.kind };
    const name = schemaNameOf(kind);
    const schema = definitionNameOf(kind) === undefined ? customRoot(kind, prefix) : rewrite(kind.schema, prefix, pending);
    schemas[name] = { ...(schema as JsonObject), "x-kubernetes-group-version-kind": [gvk] };
    schemas[`${name}List`] = listSchema(kind, prefix + name, prefix);
  }
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (!Object.hasOwn(schemas, name)) schemas[name] = rewrite(definitionOf(name), prefix, pending);
  }
  return schemas;
}

const apiVersionSchema = { type: "string", description: "Group and version of this object's schema." };
const kindSchema = { type: "string", description: "Kind of this object." };

function customRoot(kind: CompiledVersion, prefix: string): JsonObject {
  const schema = rewrite(kind.schema, prefix, []) as JsonObject;
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  return {
    ...schema,
    properties: {
      ...properties,
      apiVersion: properties["apiVersion"] ?? apiVersionSchema,
      kind: properties["kind"] ?? kindSchema,
      metadata: { description: "Standard object metadata.", allOf: [{ $ref: prefix + objectMetaName }] },
    },
  };
}

function listSchema(kind: CompiledVersion, reference: string, prefix: string): JsonObject {
  return {
    type: "object",
    description: `${kind.names.listKind} is a list of ${kind.names.kind}.`,
    required: ["items"],
    properties: {
      apiVersion: apiVersionSchema,
      kind: kindSchema,
      metadata: { description: "Standard list metadata.", allOf: [{ $ref: prefix + listMetaName }] },
      items: { type: "array", items: { allOf: [{ $ref: reference }] } },
    },
    "x-kubernetes-group-version-kind": [{ group: kind.group, version: kind.version, kind: kind.names.listKind }],
  };
}

/** A schema with references prefixed and notation that is ours alone removed. */
function rewrite(schema: unknown, prefix: string, pending: string[]): unknown {
  if (Array.isArray(schema)) return schema.map((item) => rewrite(item, prefix, pending));
  if (!isObject(schema)) return schema;
  const reference = schema["$ref"];
  if (typeof reference === "string") {
    pending.push(reference);
    const { $ref: _, ...rest } = schema;
    return { ...(rewrite(rest, prefix, pending) as JsonObject), allOf: [{ $ref: prefix + reference }] };
  }
  const result: JsonObject = {};
  for (const key of Object.keys(schema)) {
    const value = schema[key];
    if (key === "properties" && isObject(value)) {
      const properties: JsonObject = {};
      for (const name of Object.keys(value)) setOwn(properties, name, rewrite(value[name], prefix, pending));
      result[key] = properties;
    } else if (key === "default" || key === "enum" || key === "example") result[key] = value;
    else if (key === "x-go-struct") result["default"] = {};
    else if (key === "format" && value === "go-bytes") result[key] = "byte";
    else result[key] = rewrite(value, prefix, pending);
  }
  if (result["x-kubernetes-int-or-string"] === true && result["type"] === undefined && result["anyOf"] === undefined)
    result["format"] ??= "int-or-string";
  return result;
}
