import { depthExceeds, isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { maxNestingDepth, stringAt, without } from "../request/json.ts";
import { badRequest } from "../request/status.ts";
import type { ResourceCall } from "./context.ts";
import type { FieldValidation } from "./options.ts";

/**
 * The object that a create or update carries, with apiVersion and kind as the path says.
 *
 * @throws 400 when it is no object, nests too deep, or is of another kind
 */
export function decodeObject(call: ResourceCall): JsonObject {
  const body = call.request.body;
  if (!isObject(body)) {
    throw badRequest("the request body must hold one object; send a JSON or YAML document with apiVersion, kind and metadata");
  }
  if (depthExceeds(body, maxNestingDepth)) {
    throw badRequest(`the request body nests deeper than ${maxNestingDepth} levels; flatten it`);
  }
  return checkType(call, body);
}

/** The object with apiVersion and kind that fit the path. */
export function checkType(call: ResourceCall, body: JsonObject): JsonObject {
  const { version, kind } = call;
  const apiVersion = stringAt(body, "apiVersion") ?? "";
  const bodyKind = stringAt(body, "kind") ?? "";
  if (kind.custom && (bodyKind === "" || apiVersion === "")) {
    const missing = bodyKind === "" ? "Kind" : "apiVersion";
    throw badRequest(`Object '${missing}' is missing in '${excerpt(body)}'`);
  }
  if (apiVersion !== "" && apiVersion !== version.apiVersion) {
    throw badRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${version.apiVersion})`);
  }
  if (bodyKind !== "" && bodyKind !== version.names.kind) {
    throw badRequest(
      `${bodyKind} in version ${JSON.stringify(version.version)} cannot be handled as a ${version.names.kind}: the object provided is unrecognized (must be of type ${version.names.kind})`,
    );
  }
  const metadata = body["metadata"] ?? {};
  if (!isObject(metadata)) {
    throw badRequest(
      `${version.names.kind} in version ${JSON.stringify(version.version)} cannot be handled as a ${version.names.kind}: metadata must be an object`,
    );
  }
  return { apiVersion: version.apiVersion, kind: version.names.kind, metadata, ...without(body, "apiVersion", "kind", "metadata") };
}

// The answer names the shape, never the values: the body may be a Secret.
function excerpt(body: JsonObject): string {
  return `{${Object.keys(body)
    .slice(0, 10)
    .map((key) => `${JSON.stringify(key)}:...`)
    .join(",")}}`;
}

/**
 * Removes undeclared fields and says so as `fieldValidation` asks. Changes `object`.
 *
 * @returns texts of strict decoding errors, to be refused by the caller
 */
export function pruneUnknown(call: ResourceCall, object: JsonObject, fieldValidation: FieldValidation): readonly string[] {
  const found = call.version.prune(object).map((path) => `unknown field ${JSON.stringify(path)}`);
  if (fieldValidation === "Strict") {
    return found;
  }
  if (fieldValidation === "Warn") {
    call.warnings.push(...found);
  }
  return [];
}

/** 400 of a create or update with `fieldValidation=Strict`. */
export function refuseStrictly(call: ResourceCall, errors: readonly string[]): void {
  if (errors.length > 0) {
    const name = call.version.names.kind;
    throw badRequest(
      `${name} in version ${JSON.stringify(call.version.version)} cannot be handled as a ${name}: strict decoding error: ${errors.join(", ")}`,
    );
  }
}
