import { applyJsonPatch, applyMergePatch, applyStrategicMergePatch } from "../patch/index.ts";
import { serverSideApply } from "../apply/index.ts";
import { cloneJson, depthExceeds, isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { keyOf, toServedVersion } from "../kinds/kind.ts";
import { maxNestingDepth, metadataOf, stringAt, withMetadata } from "../request/json.ts";
import { applyConflict, badRequest, invalid, notFound, StatusError, unsupportedMediaType } from "../request/status.ts";
import { checkType, decodeObject, pruneUnknown, refuseStrictly } from "./body.ts";
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
  refuseStrictly(call, pruneUnknown(call, object, options.fieldValidation));
  return finishCreate(context, call, object, options, "track");
}

/** PUT to an object or its status. `created` when it did not exist and the kind allows that. */
export function updateRoute(context: ApiContext, call: ResourceCall): { readonly created: boolean; readonly object: JsonObject } {
  const options = parseWriteOptions(call.request, "UpdateOptions");
  const object = ownCopy(decodeObject(call));
  refuseStrictly(call, pruneUnknown(call, object, options.fieldValidation));
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
    const reason = outcome.status === 400 ? "BadRequest" : outcome.status === 422 ? "Invalid" : "";
    throw new StatusError(outcome.status, reason, outcome.message, outcome.status === 422 ? {} : undefined);
  }
  const object = ownCopy(checkType(call, outcome.object));
  const strictErrors = pruneUnknown(call, object, options.fieldValidation);
  if (strictErrors.length > 0) {
    throw invalid("", "", "", [
      {
        reason: "FieldValueInvalid",
        field: "patch",
        message: `Invalid value: the patched object: strict decoding error: ${strictErrors.join(", ")}`,
      },
    ]);
  }
  // A patch that does not speak of resourceVersion meets whatever is there now.
  return { created: false, object: finishUpdate(context, call, live, object, options, "track") };
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
  if (stringAt(body, "apiVersion") === undefined || stringAt(body, "kind") === undefined) {
    throw badRequest("the apply patch must say apiVersion and kind");
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
  const object = ownCopy(outcome.object);
  pruneUnknown(call, object, "Ignore");
  if (live === undefined) {
    if (wantedVersion !== "") {
      throw notFound(call.kind, call.name);
    }
    return { created: true, object: finishCreate(context, call, withMetadata(object, { resourceVersion: undefined }), options, "done") };
  }
  const next = withMetadata(object, { resourceVersion: wantedVersion === "" ? metadataOf(live)["resourceVersion"] : wantedVersion });
  return { created: false, object: finishUpdate(context, call, live, next, options, "done") };
}

// Pruning and defaulting work in place; what the caller or the store holds stays as it is.
function ownCopy(object: JsonObject): JsonObject {
  return cloneJson(object);
}
