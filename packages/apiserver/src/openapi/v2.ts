import { definitionNameOf } from "../builtin/index.ts";
import { isObject, setOwn, type JsonObject } from "../json.ts";
import type { CompiledVersion } from "../schema/index.ts";
import { gvkOf, operationIdOf, patchTypesOf, pathsOf, queryTypes, type Operation, type PathItem } from "./paths.ts";
import { collectSchemas, schemaNameOf } from "./schemas.ts";
import { deleteOptionsName, patchName, statusName } from "./shared-schemas.ts";

const prefix = "#/definitions/";

/** `/openapi/v2`: every kind in one Swagger 2.0 document, in JSON. */
export function openApiV2(kinds: readonly CompiledVersion[]): JsonObject {
  const paths: JsonObject = {};
  for (const kind of kinds) for (const item of pathsOf(kind)) paths[item.path] = printPath(item);
  return {
    swagger: "2.0",
    info: { title: "Kubernetes", version: "unversioned" },
    paths,
    definitions: simplify(collectSchemas(kinds, prefix)),
  };
}

function printPath(item: PathItem): JsonObject {
  const parameters = [...(item.named ? [pathParameter("name")] : []), ...(item.namespaced ? [pathParameter("namespace")] : [])];
  const result: JsonObject = {};
  for (const operation of item.operations) result[operation.verb] = printOperation(item, operation);
  if (parameters.length > 0) result["parameters"] = parameters;
  return result;
}

function pathParameter(name: string): JsonObject {
  return { name, in: "path", required: true, type: "string", uniqueItems: true };
}

function printOperation(item: PathItem, operation: Operation): JsonObject {
  const name = schemaNameOf(item.kind);
  const answer = operation.answer === "list" ? `${name}List` : operation.answer === "status" ? statusName : name;
  const bodyNames = { none: undefined, object: name, patch: patchName, deleteOptions: deleteOptionsName };
  const bodyName = bodyNames[operation.body];
  return {
    operationId: operationIdOf(item, operation),
    consumes:
      operation.body === "patch" ? patchTypesOf(definitionNameOf(item.kind) === undefined) : ["application/json", "application/yaml"],
    produces: ["application/json"],
    parameters: [
      ...(bodyName === undefined
        ? []
        : [{ name: "body", in: "body", required: operation.body !== "deleteOptions", schema: { $ref: prefix + bodyName } }]),
      ...operation.queries.map((query) => ({ name: query, in: "query", type: queryTypes[query] ?? "string", uniqueItems: true })),
    ],
    responses: { "200": { description: "OK", schema: { $ref: prefix + answer } }, "401": { description: "Unauthorized" } },
    "x-kubernetes-action": operation.action,
    "x-kubernetes-group-version-kind": gvkOf(item.kind),
  };
}

/** Swagger 2.0 knows no `nullable`, `anyOf`, `oneOf` and `not`; a reference stands alone there. */
function simplify(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(simplify);
  if (!isObject(schema)) return schema;
  const result: JsonObject = {};
  for (const key of Object.keys(schema)) {
    if (key === "anyOf" || key === "oneOf" || key === "not" || key === "nullable") continue;
    const value = schema[key];
    if (key === "default" || key === "enum") result[key] = value;
    else if (key === "properties" && isObject(value)) {
      const properties: JsonObject = {};
      for (const name of Object.keys(value)) setOwn(properties, name, simplify(value[name]));
      result[key] = properties;
    } else if (key === "allOf" && Array.isArray(value) && isObject(value[0]) && typeof value[0]["$ref"] === "string")
      result["$ref"] = value[0]["$ref"];
    else if (key !== "allOf") setOwn(result, key, simplify(value));
  }
  return result;
}
