import { applyJsonPatch, applyMergePatch } from "../patch/index.ts";
import { depthExceeds, isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { maxNestingDepth, metadataOf, stringAt } from "../request/json.ts";
import { badRequest, methodNotAllowed, unsupportedMediaType } from "../request/status.ts";
import type { ApiContext, ResourceCall } from "./context.ts";
import { parseWriteOptions } from "./options.ts";
import { readLive } from "./resource-routes.ts";
import { fromScale, refuseUnscaled, toScale } from "./scale.ts";
import { finishUpdate } from "./write.ts";

/** GET, PUT and PATCH of `/scale`. */
export function scaleRoute(context: ApiContext, call: ResourceCall, verb: string): JsonObject {
  const live = readLive(context, call);
  const before = toScale(call, live);
  if (verb === "get") {
    refuseUnscaled(call, live);
    return before;
  }
  const { body } = call.request;
  if (depthExceeds(body, maxNestingDepth)) {
    throw badRequest(`the request body nests deeper than ${maxNestingDepth} levels; flatten it`);
  }
  const options = parseWriteOptions(call.request, verb === "update" ? "UpdateOptions" : "PatchOptions");
  const next = finishUpdate(context, call, live, fromScale(call, live, wantedScale(call, verb, before, body)), options, "track");
  return toScale(call, next);
}

function wantedScale(call: ResourceCall, verb: string, before: JsonObject, body: unknown): JsonObject {
  if (verb === "update") {
    if (!isObject(body)) {
      throw badRequest("the request body must hold one Scale of autoscaling/v1");
    }
    const name = stringAt(metadataOf(body), "name") ?? "";
    if (name === "") throw badRequest(`the name of the object (${call.name} based on URL) was undeterminable: name must be provided`);
    if (name !== call.name) throw badRequest(`the name of the object (${name}) does not match the name on the URL (${call.name})`);
    return body;
  }
  if (verb !== "patch") {
    throw methodNotAllowed();
  }
  const contentType = (call.request.headers["content-type"] ?? "").split(";")[0];
  const outcome =
    contentType === "application/json-patch+json"
      ? applyJsonPatch(before, body)
      : contentType === "application/merge-patch+json" || (contentType === "application/strategic-merge-patch+json" && !call.kind.custom)
        ? applyMergePatch(before, body)
        : undefined;
  if (outcome === undefined) {
    throw unsupportedMediaType(["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"]);
  }
  if (!outcome.ok) {
    throw badRequest(outcome.message);
  }
  return outcome.object;
}
