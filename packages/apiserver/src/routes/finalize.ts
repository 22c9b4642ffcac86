import type { JsonObject } from "../json.ts";
import { keyOf } from "../kinds/kind.ts";
import { metadataOf, objectAt, stringsAt } from "../request/json.ts";
import { conflict } from "../request/status.ts";
import { decodeObject } from "./body.ts";
import type { ApiContext, ResourceCall } from "./context.ts";
import { readLive } from "./resource-routes.ts";
import { isReadyToGo } from "./write.ts";

/** PUT of `/api/v1/namespaces/<name>/finalize`: the only way to change `spec.finalizers`. */
export function finalizeRoute(context: ApiContext, call: ResourceCall): JsonObject {
  const sent = decodeObject(call);
  const live = readLive(context, call);
  const wanted = metadataOf(sent)["resourceVersion"];
  if (typeof wanted === "string" && wanted !== "" && wanted !== metadataOf(live)["resourceVersion"]) {
    throw conflict(call.kind, call.name);
  }
  const next = { ...live, spec: { ...objectAt(live, "spec"), finalizers: stringsAt(sent["spec"], "finalizers") } };
  const key = keyOf("", call.name);
  return isReadyToGo(next) ? context.state.remove(call.kind.resource, key, next) : context.state.put(call.kind.resource, key, next);
}
