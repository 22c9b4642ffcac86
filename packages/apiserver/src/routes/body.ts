import { quoteGo } from "../go-print.ts";
import { depthExceeds, isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { maxNestingDepth, stringAt, without } from "../request/json.ts";
import { badRequest, invalid } from "../request/status.ts";
import type { StatusError } from "../request/status.ts";
import { undecodableEmbedded, undecodableMetadata, undecodableObject } from "../schema/undecodable.ts";
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

/**
 * Refuses what the genuine server could not read into its Go structs.
 *
 * @param refuse makes the refusal: a create or update is a bad request, a patch is Invalid
 */
export function refuseUndecodable(call: ResourceCall, object: JsonObject, refuse: (why: string) => Error): void {
  const { kind, version } = call;
  const why = kind.custom
    ? (undecodableMetadata(object["metadata"]) ?? undecodableEmbedded(object, version.root, ""))
    : undecodableObject(object, version.root, version.names.kind);
  if (why !== undefined) throw refuse(why);
}

/** 400 of a create or update that cannot be read. */
export function cannotBeHandled(call: ResourceCall, why: string): StatusError {
  const { version } = call;
  const name = version.names.kind;
  return badRequest(`${name} in version ${JSON.stringify(version.version)} cannot be handled as a ${name}: ${why}`);
}

/** The object with apiVersion and kind that fit the path. */
export function checkType(call: ResourceCall, body: JsonObject): JsonObject {
  const { version, kind } = call;
  const apiVersion = stringAt(body, "apiVersion") ?? "";
  const bodyKind = stringAt(body, "kind") ?? "";
  if (kind.custom && bodyKind === "") {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${version.names.kind}): Object 'Kind' is missing in '${excerpt(body)}'`,
    );
  }
  if ((kind.custom || apiVersion !== "") && apiVersion !== version.apiVersion) {
    throw badRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${version.apiVersion})`);
  }
  if (kind.custom && bodyKind !== version.names.kind) {
    const name = stringAt(body["metadata"], "name") ?? "";
    throw invalid(kind.group, bodyKind, name, [
      { reason: "FieldValueInvalid", field: "kind", message: `Invalid value: ${quoteGo(bodyKind)}: must be ${version.names.kind}` },
    ]);
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
 * Removes undeclared fields and says so as `fieldValidation` asks, and which fields were given twice. Changes `object`.
 *
 * @returns texts of strict decoding errors, to be refused by the caller
 */
export function pruneUnknown(call: ResourceCall, object: JsonObject, fieldValidation: FieldValidation): readonly string[] {
  const pruned = call.version.prune(object);
  // Metadata of a custom resource is read by itself, first.
  const inMetadata = (path: string): boolean => call.kind.custom && path.startsWith("metadata.");
  const ordered = [...pruned.filter(inMetadata), ...pruned.filter((path) => !inMetadata(path))];
  const unknown = ordered.map((path) => `unknown field ${JSON.stringify(path)}`);
  const twice = (call.request.duplicateFields ?? []).map((path) => `duplicate field ${JSON.stringify(path)}`);
  const found = [...twice, ...unknown];
  if (fieldValidation === "Strict") {
    return found;
  }
  if (fieldValidation === "Warn") {
    // One by one: there may be more than a call takes arguments.
    for (const text of found) call.warnings.push(text);
  }
  return [];
}

/** 400 of a create or update with `fieldValidation=Strict`. */
export function refuseStrictly(call: ResourceCall, errors: readonly string[]): void {
  if (errors.length > 0) throw cannotBeHandled(call, `strict decoding error: ${errors.join(", ")}`);
}
