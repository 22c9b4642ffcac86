import { definitionNameOf } from "../builtin/index.ts";
import type { JsonObject } from "../json.ts";
import type { CompiledVersion } from "../schema/index.ts";
import { gvkOf, operationIdOf, patchTypesOf, pathsOf, queryTypes, type Operation, type PathItem } from "./paths.ts";
import { collectDescribedSchemas, schemaNameOf } from "./schemas.ts";
import { deleteOptionsName, patchName, statusName } from "./shared-schemas.ts";

const prefix = "#/components/schemas/";

/**
 * `/openapi/v3`: where each group-version's document is.
 *
 * @param hashOf a text that changes with the document; clients cache by it
 */
export function openApiV3Index(groupVersions: readonly string[], hashOf: (groupVersion: string) => string): JsonObject {
  const paths: JsonObject = {};
  for (const groupVersion of groupVersions) {
    const path = groupVersion.includes("/") ? `apis/${groupVersion}` : `api/${groupVersion}`;
    paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hashOf(groupVersion)}` };
  }
  return { paths };
}

/** `/openapi/v3/apis/<group>/<version>` or `/openapi/v3/api/v1`: schemas and paths of the kinds of one group-version. */
export function openApiV3(groupVersion: string, kinds: readonly CompiledVersion[]): JsonObject {
  const own = kinds.filter((kind) => kind.apiVersion === groupVersion);
  const paths: JsonObject = {};
  for (const kind of own) for (const item of pathsOf(kind)) paths[item.path] = printPath(item);
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "unversioned" },
    paths,
    components: { schemas: collectDescribedSchemas(own, prefix) },
  };
}

function printPath(item: PathItem): JsonObject {
  const parameters = [
    ...(item.named ? [pathParameter("name", `name of the ${item.kind.names.kind}`)] : []),
    ...(item.namespaced ? [pathParameter("namespace", "namespace of the object")] : []),
  ];
  const result: JsonObject = {};
  for (const operation of item.operations) result[operation.verb] = printOperation(item, operation);
  if (parameters.length > 0) result["parameters"] = parameters;
  return result;
}

function pathParameter(name: string, description: string): JsonObject {
  return { name, in: "path", description, required: true, schema: { type: "string", uniqueItems: true } };
}

function printOperation(item: PathItem, operation: Operation): JsonObject {
  const name = schemaNameOf(item.kind);
  const answer = operation.answer === "list" ? `${name}List` : operation.answer === "status" ? statusName : name;
  const body = bodyOf(item, operation, name);
  return {
    operationId: operationIdOf(item, operation),
    parameters: operation.queries.map((query) => ({
      name: query,
      in: "query",
      schema: { type: queryTypes[query] ?? "string", uniqueItems: true },
    })),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: {
      "200": { description: "OK", content: { "application/json": { schema: { $ref: prefix + answer } } } },
      "401": { description: "Unauthorized" },
    },
    "x-kubernetes-action": operation.action,
    "x-kubernetes-group-version-kind": gvkOf(item.kind),
  };
}

function bodyOf(item: PathItem, operation: Operation, name: string): JsonObject | undefined {
  switch (operation.body) {
    case "object":
      return { content: { "*/*": { schema: { $ref: prefix + name } } }, required: true };
    case "deleteOptions":
      return { content: { "*/*": { schema: { $ref: prefix + deleteOptionsName } } } };
    case "patch": {
      const schema = { $ref: prefix + patchName };
      return {
        content: Object.fromEntries(patchTypesOf(definitionNameOf(item.kind) === undefined).map((type) => [type, { schema }])),
        required: true,
      };
    }
    default:
      return undefined;
  }
}
