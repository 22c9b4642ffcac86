import { isAllowed } from "../auth/authorize.ts";
import type { AccessAttributes } from "../auth/authorize.ts";
import { forbiddenAccess } from "../auth/forbidden-access.ts";
import type { JsonObject } from "../json.ts";
import { chooseForm } from "../request/accept.ts";
import type { AnswerForm } from "../request/accept.ts";
import { isYes } from "../request/query-flag.ts";
import { metadataOf, stringAt, without } from "../request/json.ts";
import { parseRequestInfo } from "../request/request-info.ts";
import type { RequestInfo } from "../request/request-info.ts";
import { refuseBadTimeout } from "../request/timeout.ts";
import type { ApiAnswer, ApiRequest, ApiStream, ApiWatchEvent } from "../request/request.ts";
import { badRequest, methodNotAllowed, notFound, StatusError, unknownResource } from "../request/status.ts";
import { toPartialObjectMetadata, toPartialObjectMetadataList, toTable } from "../table/index.ts";
import { prepareWatch } from "../watch/watch.ts";
import type { ApiContext, ResourceCall } from "./context.ts";
import { deleteObject, deleteRoute, parseDeleteOptions } from "./delete.ts";
import { listPage, refuseFuture } from "./list.ts";
import { noSuchPage } from "./non-resource.ts";
import type { NonResourceRoutes } from "./non-resource.ts";
import { createRoute, patchRoute, readLive, updateRoute } from "./resource-routes.ts";
import { reviewRoute } from "./reviews.ts";
import { scaleRoute } from "./scale-route.ts";
import { evictionRoute } from "./eviction.ts";
import { finalizeRoute } from "./finalize.ts";
import { bindingRoute, connections } from "./pod-connect.ts";
import { tokenRequestRoute } from "./token-request.ts";
import { warningHeader } from "../request/warning-header.ts";

/** What was asked, for audit and authorization. */
export interface ResolvedRequest {
  readonly verb: string;
  readonly info: RequestInfo;
}

/** Names the verb as authorization does: `list` and `watch` differ from `get`, which one object is always; a DELETE of a collection is `deletecollection`. */
export function resolveRequest(request: ApiRequest): ResolvedRequest {
  const info = parseRequestInfo(request.path);
  if (info.kind === "other") {
    return { info, verb: request.method.toLowerCase() };
  }
  if (info.isWatch === true) {
    if (request.method !== "GET" || info.subresource !== "") throw methodNotAllowed();
    return { info, verb: "watch" };
  }
  const watches = isYes(request.query["watch"]);
  switch (request.method) {
    case "GET":
    case "HEAD":
      return { info, verb: info.name !== "" ? "get" : watches ? "watch" : "list" };
    case "POST":
      return { info, verb: "create" };
    case "PUT":
      return { info, verb: "update" };
    case "PATCH":
      return { info, verb: "patch" };
    case "DELETE":
      return { info, verb: info.name === "" ? "deletecollection" : "delete" };
    default:
      throw methodNotAllowed();
  }
}

/**
 * Refuses what path, method and user alone decide.
 *
 * @throws 400, 403, 405
 */
export function refuseUnauthorized(context: ApiContext, request: ApiRequest): ResolvedRequest {
  const resolved = resolveRequest(request);
  if (!takesItsTime(resolved)) refuseBadTimeout(request.query["timeout"]);
  authorizeRequest(context, request, resolved);
  return resolved;
}

/**
 * Answers one request. Synchronous: everything that a request changes is visible when it returns.
 *
 * @throws StatusError for every refusal
 */
export function dispatch(context: ApiContext, nonResource: NonResourceRoutes, request: ApiRequest): ApiAnswer | ApiStream {
  const resolved = refuseUnauthorized(context, request);
  const { info } = resolved;
  if (info.kind === "other") {
    if (request.bodyRefusal !== undefined) throw request.bodyRefusal;
    return nonResource.answer(request);
  }
  const kind = context.kinds.find(info.group, info.plural);
  const version = kind?.versions.get(info.version);
  const isScopeWrong = kind !== undefined && (kind.namespaced ? info.namespace === "" && info.name !== "" : info.namespace !== "");
  if (kind === undefined || version === undefined || isScopeWrong) {
    // Of groups that no kind was built in for, nobody knows that they would be groups of kinds.
    if (kind === undefined && !context.kinds.hasBuiltin(info.group, info.version)) return noSuchPage();
    throw unknownResource();
  }
  if (request.bodyRefusal !== undefined) throw request.bodyRefusal;
  const call: ResourceCall = {
    request: info.isWatch === true && info.name !== "" ? withName(request, info.name) : request,
    kind,
    version,
    namespace: info.namespace,
    name: info.isWatch === true ? "" : info.name,
    subresource: info.subresource,
    warnings: [],
  };
  if (version.deprecationWarning !== undefined) {
    call.warnings.push(version.deprecationWarning);
  }
  try {
    return answerCall(context, call, resolved.verb);
  } catch (err) {
    // What was worth a warning is so in front of a refusal, too.
    if (err instanceof StatusError) err.warning = warningOf(call);
    throw err;
  }
}

/** A watch of one object is a watch of those that are called so. */
function withName(request: ApiRequest, name: string): ApiRequest {
  const given = request.query["fieldSelector"] ?? "";
  const fieldSelector = `${given === "" ? "" : `${given},`}metadata.name=${name}`;
  return { ...request, query: { ...request.query, fieldSelector } };
}

function answerCall(context: ApiContext, call: ResourceCall, verb: string): ApiAnswer | ApiStream {
  if (call.subresource !== "") {
    return answerSubresource(context, call, verb);
  }
  const needsName = verb === "update" || verb === "patch";
  if (!call.kind.strategy.verbs.includes(verb) || (needsName && call.name === "")) {
    throw methodNotAllowed();
  }
  return answerResource(context, call, verb);
}

const longSubresources: ReadonlySet<string> = new Set(["attach", "exec", "log", "portforward", "proxy"]);

/** Requests that end when somebody ends them know no timeout. */
function takesItsTime({ verb, info }: ResolvedRequest): boolean {
  return verb === "watch" || (info.kind === "resource" && longSubresources.has(info.subresource));
}

function authorizeRequest(context: ApiContext, request: ApiRequest, { verb, info }: ResolvedRequest): void {
  const attributes: AccessAttributes =
    info.kind === "other"
      ? { user: request.user, verb, group: "", version: "", resource: "", subresource: "", namespace: "", name: "", path: info.path }
      : {
          user: request.user,
          verb,
          group: info.group,
          version: info.version,
          resource: info.plural,
          subresource: info.subresource,
          // A namespace lies in itself: who may read what is in it by a Role may be allowed to read it, too.
          namespace: info.group === "" && info.plural === "namespaces" ? info.name : info.namespace,
          name: info.name,
          path: "",
        };
  const verdict = isAllowed(attributes, context.authorize);
  if (!verdict.allowed) {
    throw forbiddenAccess(attributes, verdict.reason);
  }
}

function answerResource(context: ApiContext, call: ResourceCall, verb: string): ApiAnswer | ApiStream {
  switch (verb) {
    case "get":
      refuseFuture(context, call.request.query["resourceVersion"] ?? "");
      return answer(context, call, 200, readLive(context, call));
    case "list":
      return answerList(context, call);
    case "watch":
      return answerWatch(context, call);
    case "create": {
      if (call.name !== "" || (call.kind.namespaced && call.namespace === "")) {
        throw methodNotAllowed();
      }
      return call.kind.persistent
        ? answer(context, call, 201, createRoute(context, call))
        : { kind: "answer", status: 201, headers: headersOf(call), body: reviewRoute(context, call) };
    }
    case "update": {
      const outcome = updateRoute(context, call);
      return answer(context, call, outcome.created ? 201 : 200, outcome.object);
    }
    case "patch": {
      const outcome = patchRoute(context, call);
      return answer(context, call, outcome.created ? 201 : 200, outcome.object);
    }
    case "delete": {
      const outcome = deleteRoute(context, call);
      return { kind: "answer", status: outcome.status, headers: headersOf(call), body: outcome.body };
    }
    case "deletecollection":
      return deleteCollection(context, call);
    default:
      throw methodNotAllowed();
  }
}

/** Subresources that can only be posted to. */
const creatingRoutes: Readonly<Record<string, (context: ApiContext, call: ResourceCall) => JsonObject>> = {
  "/pods/eviction": evictionRoute,
  "/pods/binding": bindingRoute,
  "/serviceaccounts/token": tokenRequestRoute,
};

function answerSubresource(context: ApiContext, call: ResourceCall, verb: string): ApiAnswer {
  const isPart = call.kind.strategy.parts?.[call.subresource] !== undefined;
  const isStatus = isPart || (call.subresource === "status" && call.version.subresources.status);
  const isScale = call.subresource === "scale" && call.version.subresources.scale !== undefined;
  if (isScale) {
    return { kind: "answer", status: 200, headers: headersOf(call), body: shownScale(context, call, scaleRoute(context, call, verb)) };
  }
  if (call.subresource === "finalize" && call.kind.resource === "/namespaces" && verb === "update") {
    return answer(context, call, 200, finalizeRoute(context, call));
  }
  const creates = creatingRoutes[`${call.kind.resource}/${call.subresource}`];
  if (creates !== undefined) {
    if (verb !== "create") throw methodNotAllowed();
    return { kind: "answer", status: 201, headers: headersOf(call), body: creates(context, call) };
  }
  const connect = connections[`${call.kind.resource}/${call.subresource}`];
  if (connect !== undefined) return connect(context, call, verb);
  if (!isStatus) {
    // Of a custom kind the genuine server says that the object is not there, whatever is.
    throw call.kind.custom ? notFound(call.kind, call.name) : unknownResource();
  }
  switch (verb) {
    case "get":
      return answer(context, call, 200, readLive(context, call));
    case "update":
      return answer(context, call, 200, updateRoute(context, call).object);
    case "patch":
      return answer(context, call, 200, patchRoute(context, call).object);
    default:
      throw methodNotAllowed();
  }
}

function deleteCollection(context: ApiContext, call: ResourceCall): ApiAnswer {
  const options = parseDeleteOptions(call);
  const page = listPage(context, { ...call, request: { ...call.request, query: { ...call.request.query, limit: "0" } } });
  for (const object of page.items) {
    const metadata = metadataOf(object);
    const one = { kind: call.kind, namespace: stringAt(metadata, "namespace") ?? "", name: stringAt(metadata, "name") ?? "" };
    deleteObject(context, one, options);
  }
  return { kind: "answer", status: 200, headers: headersOf(call), body: listBody(call, page.items, page.metadata) };
}

// The list says what its items are; only custom resources say it again each.
function listBody(call: ResourceCall, items: readonly JsonObject[], metadata: JsonObject): JsonObject {
  const { names, apiVersion } = call.version;
  const shown = call.kind.custom ? items : items.map((item) => without(item, "kind", "apiVersion"));
  return { kind: names.listKind, apiVersion, metadata, items: shown };
}

/** A Scale in the form that was asked for. */
function shownScale(context: ApiContext, call: ResourceCall, scale: JsonObject): JsonObject {
  const form = chooseForm(call.request.headers["accept"]);
  if (form.kind === "table") return tableOf(context, call, form, [scale], { resourceVersion: metadataOf(scale)["resourceVersion"] }, true);
  return form.kind === "metadata" ? toPartialObjectMetadata(scale, form.version) : scale;
}

function answerList(context: ApiContext, call: ResourceCall): ApiAnswer {
  const form = chooseForm(call.request.headers["accept"]);
  const page = listPage(context, call);
  const body =
    form.kind === "table"
      ? tableOf(context, call, form, page.items, page.metadata, true)
      : form.kind === "metadata"
        ? toPartialObjectMetadataList(page.items, page.metadata)
        : listBody(call, page.items, page.metadata);
  return { kind: "answer", status: 200, headers: headersOf(call), body };
}

function answer(context: ApiContext, call: ResourceCall, status: number, object: JsonObject): ApiAnswer {
  const form = chooseForm(call.request.headers["accept"]);
  const body =
    form.kind === "table"
      ? tableOf(context, call, form, [object], { resourceVersion: metadataOf(object)["resourceVersion"] }, true)
      : form.kind === "metadata"
        ? toPartialObjectMetadata(object, form.version)
        : object;
  return { kind: "answer", status, headers: headersOf(call), body };
}

function answerWatch(context: ApiContext, call: ResourceCall): ApiStream {
  const form = chooseForm(call.request.headers["accept"]);
  const start = prepareWatch(context, call);
  let isFirst = true;
  const shape = (event: ApiWatchEvent): ApiWatchEvent => {
    if (event.type === "ERROR" || form.kind === "plain" || form.kind === "aggregated") return event;
    if (form.kind === "metadata") {
      return { type: event.type, object: toPartialObjectMetadata(event.object, form.version) };
    }
    const listMeta = { resourceVersion: metadataOf(event.object)["resourceVersion"] };
    const object = tableOf(context, call, form, event.type === "BOOKMARK" ? [] : [event.object], listMeta, isFirst);
    isFirst = false;
    return { type: event.type, object };
  };
  return {
    kind: "stream",
    status: 200,
    headers: headersOf(call),
    start: (onEvent, onEnd) => start((event) => onEvent(shape(event)), onEnd),
  };
}

function tableOf(
  context: ApiContext,
  call: ResourceCall,
  form: Extract<AnswerForm, { kind: "table" }>,
  objects: readonly JsonObject[],
  listMeta: JsonObject,
  withColumns: boolean,
): JsonObject {
  const includeObject = call.request.query["includeObject"] ?? "Metadata";
  if (includeObject !== "None" && includeObject !== "Metadata" && includeObject !== "Object") {
    throw badRequest(`unrecognized includeObject value: ${JSON.stringify(includeObject)}`);
  }
  return toTable(call.version, objects, {
    now: new Date(context.clock.now()),
    includeObject,
    listMeta,
    version: form.version,
    withColumns,
  });
}

function headersOf(call: ResourceCall): Readonly<Record<string, string>> {
  const warning = warningOf(call);
  return { "content-type": "application/json", ...(warning === undefined ? {} : { warning }) };
}

function warningOf(call: ResourceCall): string | undefined {
  return warningHeader(call.warnings);
}
