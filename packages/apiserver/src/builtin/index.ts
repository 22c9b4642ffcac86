import { cloneJson, isObject, type JsonObject } from "../json.ts";
import { applyDefaults } from "../schema/defaulting.ts";
import type { CompiledVersion, FieldError, JsonSchema } from "../schema/index.ts";
import { compileNode, type ValidationNode } from "../schema/node.ts";
import { objectMetaSchema } from "../schema/object-meta.ts";
import { prune } from "../schema/pruning.ts";
import { tidyMetadata } from "../schema/tidy-metadata.ts";
import { noOldValue, validateValue } from "../schema/validate-value.ts";
import type { BuiltinFacts, BuiltinSchema } from "./builtin-schema.ts";
import { dropEmpty, fillStructs, readNulls } from "./structs.ts";
import { definitions } from "./gen/definitions.ts";
import { kinds as facts } from "./gen/kinds.ts";

/** The built-in kinds with schema, list-map keys and printer columns, in the shape of compiled CRD versions. */
export function builtinKinds(): readonly CompiledVersion[] {
  compiled ??= facts.map(compile);
  return compiled;
}

/** One built-in kind, for example `("", "v1", "Secret")` or `("coordination.k8s.io", "v1", "Lease")`. */
export function builtinKind(group: string, version: string, kind: string): CompiledVersion | undefined {
  return builtinKinds().find((candidate) => candidate.group === group && candidate.version === version && candidate.names.kind === kind);
}

/** Name of a built-in kind's schema in OpenAPI; `undefined` for a custom kind. */
export function definitionNameOf(kind: CompiledVersion): string | undefined {
  return names.get(kind);
}

/** A shared definition by its OpenAPI name, as a plain schema whose `$ref`s are bare names. */
export function definitionOf(name: string): JsonSchema {
  const definition = definitions[name];
  if (definition === undefined) throw new Error(`no built-in definition is called ${name}: run hack/openapi/update.sh`);
  return plain(definition);
}

let compiled: readonly CompiledVersion[] | undefined;
const names = new WeakMap<CompiledVersion, string>();
const cache = new Map<string, ValidationNode>();

function compile(kind: BuiltinFacts): CompiledVersion {
  // Compiling the schema of Pod takes milliseconds, and most processes never see most kinds.
  let node: ValidationNode | undefined;
  let empty: JsonObject | undefined;
  const root = (): ValidationNode => (node ??= compileNode({ $ref: kind.definition } as JsonSchema, definitionOf, cache));
  const filled = (object: JsonObject): JsonObject => {
    fillStructs(object, root());
    // Go always prints this count, though no schema requires it.
    if (kind.definition === "io.k8s.api.apps.v1.StatefulSet" && isObject(object["status"])) object["status"]["availableReplicas"] ??= 0;
    return object;
  };
  const version: CompiledVersion = {
    group: kind.group,
    version: kind.version,
    apiVersion: kind.group === "" ? kind.version : `${kind.group}/${kind.version}`,
    names: {
      plural: kind.plural,
      singular: kind.singular,
      kind: kind.kind,
      listKind: `${kind.kind}List`,
      shortNames: kind.shortNames,
      categories: kind.categories,
    },
    namespaced: kind.namespaced,
    served: true,
    storage: true,
    subresources: {
      status: kind.status,
      ...(kind.scale
        ? { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas", labelSelectorPath: ".status.selector" } }
        : {}),
    },
    ...(kind.definition === "io.k8s.api.core.v1.Endpoints"
      ? { deprecationWarning: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice" }
      : {}),
    columns: kind.columns.map((column) => ({ ...column, jsonPath: "" })),
    selectableFields: [],
    get root() {
      return root();
    },
    get emptyObject() {
      empty ??= withAbsentLists(filled({}), root());
      return cloneJson(empty);
    },
    get schema() {
      return definitionOf(kind.definition);
    },
    validate: (object, old) => {
      const errors: FieldError[] = [];
      validateValue(object, root(), "", old ?? noOldValue, errors);
      // What a status must hold is nobody's duty to check: the genuine server fills in zero values there.
      const meaningful = errors.filter((error) => error.reason !== "FieldValueRequired" || !error.field.startsWith("status."));
      // A CRD has a judge of its own (compileCrd), which knows better paths than its schema does.
      if (kind.kind === "CustomResourceDefinition")
        return { errors: errors.filter((error) => error.reason === "FieldValueTypeInvalid"), warnings: [] };
      return { errors: meaningful, warnings: [] };
    },
    applyDefaults: (object: JsonObject) => {
      readNulls(object, root());
      tidyMetadata(object);
      dropEmpty(object, root());
      applyDefaults(object, root());
      filled(object);
    },
    prune: (object) => prune(object, root()),
  };
  names.set(version, kind.definition);
  return version;
}

/** Lists that Go always prints are null in an object without any field, so that nobody comes to own the list as such. */
function withAbsentLists(object: JsonObject, node: ValidationNode): JsonObject {
  const lists = node.required.filter((name) => node.properties.get(name)?.type === "array");
  const filled: JsonObject = { ...object, ...Object.fromEntries(lists.map((name) => [name, object[name] ?? null])) };
  for (const [name, child] of node.properties) {
    const inner = object[name];
    if (isObject(inner)) filled[name] = withAbsentLists(inner, child);
  }
  return filled;
}

/** Turns the generated notation into the schema language. */
function plain(schema: BuiltinSchema): JsonSchema {
  const { $open, ...rest } = schema;
  if ($open === "ObjectMeta") return { ...objectMetaSchema, ...rest };
  if ($open !== undefined) return rest;
  const result: Record<string, unknown> = { ...rest };
  // Go's decoder takes an empty text for empty bytes, the format of custom resources does not.
  if (rest.format === "byte") result["format"] = "go-bytes";
  if (rest.properties !== undefined)
    result["properties"] = Object.fromEntries(Object.entries(rest.properties).map(([key, child]) => [key, plain(child)]));
  if (rest.items !== undefined) result["items"] = plain(rest.items);
  if (rest.additionalProperties !== undefined) result["additionalProperties"] = plain(rest.additionalProperties);
  return result;
}
