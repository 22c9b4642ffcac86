import { applyJsonPatch, applyMergePatch, applyStrategicMergePatch } from "../patch/index.ts";
import { serverSideApply } from "../apply/index.ts";
import { quoteGo } from "../go-print.ts";
import { cloneJson, depthExceeds, isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { keyOf, toServedVersion } from "../kinds/kind.ts";
import { maxNestingDepth, metadataOf, stringAt, withMetadata } from "../request/json.ts";
import type { StatusCause } from "../request/status.ts";
import { applyConflict, badRequest, conflict, invalid, notFound, StatusError, unsupportedMediaType } from "../request/status.ts";
import { cannotBeHandled, checkType, decodeObject, pruneUnknown, refuseStrictly, refuseUndecodable } from "./body.ts";
import type { ApiContext, ResourceCall } from "./context.ts";
import { parseWriteOptions } from "./options.ts";
import type { WriteOptions } from "./options.ts";
import { finishCreate, finishUpdate } from "./write.ts";

/** The object that a call names, in its served version. @throws 404 */
export function readLive(context: ApiContext, call: ResourceCall): JsonObject {
  const entry = context.state.get(call.kind.resource, keyOf(call.namespace, call.name));
  if (entry === undefined) {
    throw notFound(call.kind, call.name);
  }
  return toServedVersion(call.kind, call.version, entry.object);
}

/** POST to a collection. */
export function createRoute(context: ApiContext, call: ResourceCall): JsonObject {
  const options = parseWriteOptions(call.request, "CreateOptions");
  const object = ownCopy(decodeObject(call));
  refuseUndecodable(call, object, (why) => cannotBeHandled(call, why));
  refuseStrictly(call, pruneUnknown(call, object, options.fieldValidation));
  return finishCreate(context, call, object, options, "track");
}

/** PUT to an object or its status. `created` when it did not exist and the kind allows that. */
export function updateRoute(context: ApiContext, call: ResourceCall): { readonly created: boolean; readonly object: JsonObject } {
  const options = parseWriteOptions(call.request, "UpdateOptions");
  const object = ownCopy(decodeObject(call));
  refuseUndecodable(call, object, (why) => cannotBeHandled(call, why));
  refuseStrictly(call, pruneUnknown(call, object, options.fieldValidation));
  if ((stringAt(metadataOf(object), "name") ?? "") === "") {
    throw badRequest(`the name of the object (${call.name} based on URL) was undeterminable: name must be provided`);
  }
  const exists = context.state.get(call.kind.resource, keyOf(call.namespace, call.name)) !== undefined;
  if (!exists && call.kind.strategy.createsOnUpdate && call.subresource === "") {
    const name = stringAt(metadataOf(object), "name") ?? call.name;
    return {
      created: true,
      object: finishCreate(context, call, withMetadata(object, { name, resourceVersion: undefined }), options, "track"),
    };
  }
  return { created: false, object: finishUpdate(context, call, readLive(context, call), object, options, "track") };
}

const patchReasons = { 400: "BadRequest", 413: "RequestEntityTooLarge", 422: "Invalid", 500: "" } as const;

const patchTypes = ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"] as const;

/** PATCH in its four forms. */
export function patchRoute(context: ApiContext, call: ResourceCall): { readonly created: boolean; readonly object: JsonObject } {
  const options = parseWriteOptions(call.request, "PatchOptions");
  const contentType = (call.request.headers["content-type"] ?? "").split(";")[0]?.trim() ?? "";
  if (depthExceeds(call.request.body, maxNestingDepth)) {
    throw badRequest(`the patch nests deeper than ${maxNestingDepth} levels; flatten it`);
  }
  if (contentType === "application/apply-patch+yaml" || contentType === "application/apply-patch+json") {
    return applyRoute(context, call, options);
  }
  if (call.request.query["force"] !== undefined) {
    throw invalid("meta.k8s.io", "PatchOptions", "", [
      { reason: "FieldValueForbidden", field: "force", message: "Forbidden: may not be specified for non-apply patch" },
    ]);
  }
  const live = readLive(context, call);
  const outcome = patched(call, contentType, live);
  if (!outcome.ok) {
    const reason = patchReasons[outcome.status];
    throw new StatusError(outcome.status, reason, outcome.message, outcome.status === 422 ? {} : undefined);
  }
  refuseOtherObject(call, live, outcome.object);
  const object = ownCopy(checkType(call, outcome.object));
  refuseUndecodable(call, object, invalidPatch);
  const strictErrors = pruneUnknown(call, object, options.fieldValidation);
  if (strictErrors.length > 0) throw invalidPatch(`strict decoding error: ${strictErrors.join(", ")}`);
  // A patch that does not speak of resourceVersion meets whatever is there now.
  return { created: false, object: finishUpdate(context, call, live, object, options, "track") };
}

/** The genuine server repeats the whole patched object here; ours does not, for it may be a Secret. */
function invalidPatch(why: string): StatusError {
  return new StatusError(422, "Invalid", ` "" is invalid: patch: Invalid value: the patched object: ${why}`, {
    causes: [{ reason: "FieldValueInvalid", field: "patch", message: `Invalid value: the patched object: ${why}` }],
  });
}

/** A patch says what to change, so it is no precondition: another uid or type in it is an attempt to change them. */
function refuseOtherObject(call: ResourceCall, live: JsonObject, patched: JsonObject): void {
  const { kind, version } = call;
  const bodyKind = stringAt(patched, "kind") ?? "";
  const apiVersion = stringAt(patched, "apiVersion") ?? "";
  const causes: StatusCause[] = [];
  const refuse = (field: string, value: string, why: string): void => {
    causes.push({ reason: "FieldValueInvalid", field, message: `Invalid value: ${quoteGo(value)}: ${why}` });
  };
  if (kind.custom && bodyKind !== version.names.kind) refuse("kind", bodyKind, `must be ${version.names.kind}`);
  if (kind.custom && apiVersion !== version.apiVersion) refuse("apiVersion", apiVersion, `must be ${version.apiVersion}`);
  if (causes.length > 0) throw invalid(apiVersion.split("/")[0] ?? "", bodyKind, call.name, causes);
  if (bodyKind !== version.names.kind || apiVersion !== version.apiVersion) {
    throw invalidPatch(`${apiVersion}, Kind=${bodyKind} is no ${version.names.kind} of ${version.apiVersion}`);
  }
  const uid = stringAt(metadataOf(patched), "uid") ?? "";
  if (uid !== "" && uid !== metadataOf(live)["uid"]) refuse("metadata.uid", uid, "field is immutable");
  if (causes.length > 0) throw invalid(kind.group, version.names.kind, call.name, causes);
}

function patched(call: ResourceCall, contentType: string, live: JsonObject): ReturnType<typeof applyJsonPatch> {
  const body = call.request.body;
  switch (contentType) {
    case "application/json-patch+json":
      return applyJsonPatch(live, body);
    case "application/merge-patch+json":
      return applyMergePatch(live, body);
    case "application/strategic-merge-patch+json":
      if (!call.kind.custom) {
        return applyStrategicMergePatch(call.version, live, body);
      }
      throw unsupportedMediaType(patchTypes);
    default:
      throw unsupportedMediaType(
        call.kind.custom ? patchTypes : [patchTypes[0], patchTypes[1], "application/strategic-merge-patch+json", patchTypes[2]],
      );
  }
}

function applyRoute(
  context: ApiContext,
  call: ResourceCall,
  options: WriteOptions,
): { readonly created: boolean; readonly object: JsonObject } {
  const body = call.request.body;
  if (!isObject(body)) {
    throw badRequest("an apply patch must hold one object with apiVersion and kind");
  }
  if ((call.request.query["fieldManager"] ?? "") === "") {
    throw invalid("meta.k8s.io", "PatchOptions", "", [
      { reason: "FieldValueRequired", field: "fieldManager", message: "Required value: is required for apply patch" },
    ]);
  }
  const apiVersion = stringAt(body, "apiVersion") ?? "";
  const bodyKind = stringAt(body, "kind") ?? "";
  if (apiVersion !== call.version.apiVersion || bodyKind !== call.version.names.kind) {
    throw badRequest(`invalid object type: ${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${bodyKind}`);
  }
  const applied = withMetadata(checkType(call, ownCopy(body)), { name: stringAt(metadataOf(body), "name") ?? call.name });
  if (call.kind.namespaced) {
    const namespace = stringAt(metadataOf(applied), "namespace") ?? call.namespace;
    if (namespace !== call.namespace) {
      throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
    }
  }
  if (metadataOf(applied)["name"] !== call.name) {
    throw badRequest(`the name of the object (${String(metadataOf(applied)["name"])}) does not match the name on the URL (${call.name})`);
  }
  const entry = context.state.get(call.kind.resource, keyOf(call.namespace, call.name));
  if (entry === undefined && call.subresource !== "") {
    throw notFound(call.kind, call.name);
  }
  const live = entry === undefined ? undefined : toServedVersion(call.kind, call.version, entry.object);
  const wantedVersion = stringAt(metadataOf(applied), "resourceVersion") ?? "";
  const uid = stringAt(metadataOf(applied), "uid") ?? "";
  if (uid !== "" && live === undefined) {
    throw conflict(call.kind, call.name, `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`);
  }
  if (live !== undefined) refuseOtherObject(call, live, applied);
  const outcome = serverSideApply({
    kind: call.version,
    manager: options.manager,
    subresource: call.subresource,
    apiVersion: call.version.apiVersion,
    now: new Date(context.clock.now()),
    live,
    applied: withMetadata(applied, { resourceVersion: undefined }),
    force: options.force,
  });
  switch (outcome.kind) {
    case "conflicts":
      throw applyConflict(
        outcome.conflicts.map((found) => ({ reason: "FieldManagerConflict", message: found.message, field: found.field })),
        outcome.message,
      );
    case "invalid":
      throw new StatusError(outcome.status, outcome.status === 400 ? "BadRequest" : "", outcome.message);
    case "applied":
      break;
  }
  // A new object but for `managedFields`, which nothing below changes: it needs no copy to be pruned and defaulted in place.
  const { object } = outcome;
  pruneUnknown(call, object, "Ignore");
  if (live === undefined) {
    return { created: true, object: finishCreate(context, call, withMetadata(object, { resourceVersion: undefined }), options, "done") };
  }
  const next = withMetadata(object, { resourceVersion: wantedVersion === "" ? metadataOf(live)["resourceVersion"] : wantedVersion });
  return { created: false, object: finishUpdate(context, call, live, next, options, "done") };
}

// Pruning and defaulting work in place; what the caller or the store holds stays as it is.
function ownCopy(object: JsonObject): JsonObject {
  return cloneJson(object);
}
