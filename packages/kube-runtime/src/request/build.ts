import type { KubeRequest } from "@talos-operator/ports";
import type {
  ApplyOptions,
  DeleteOptions,
  ListPageOptions,
  Patch,
  ReadOptions,
  SelectorOptions,
  WatchOptions,
  WriteOptions,
} from "./call-options.ts";
import { collectionPath, objectPath } from "./path.ts";
import type { ObjectKey, ResourceType } from "./resource-type.ts";

/*
 * Builders of requests. They never send: what comes out is a plain value that any KubeTransport can carry.
 */

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** GET of one object. */
export function buildGet(type: ResourceType, key: ObjectKey, options: ReadOptions = {}, subresource?: string): KubeRequest {
  return { method: "GET", path: objectPath(type, key, subresource), ...query({ resourceVersion: options.resourceVersion }) };
}

/** GET of one page of a collection. */
export function buildList(type: ResourceType, options: ListPageOptions = {}): KubeRequest {
  return {
    method: "GET",
    path: collectionPath(type, options.namespace),
    ...query({
      ...selectors(options),
      limit: options.limit,
      continue: options.continue,
      resourceVersion: options.resourceVersion,
      resourceVersionMatch: options.resourceVersionMatch,
      timeoutSeconds: options.timeoutSeconds,
    }),
  };
}

/** Watch of a collection. Bookmarks are asked for unless refused. */
export function buildWatch(type: ResourceType, options: WatchOptions): KubeRequest {
  return {
    method: "GET",
    path: collectionPath(type, options.namespace),
    ...query({
      watch: true,
      ...selectors(options),
      resourceVersion: options.resourceVersion,
      sendInitialEvents: options.sendInitialEvents,
      resourceVersionMatch: options.resourceVersionMatch,
      allowWatchBookmarks: options.allowWatchBookmarks ?? true,
      timeoutSeconds: options.timeoutSeconds,
    }),
  };
}

/** POST to a collection, or to a subresource such as `eviction` when `key` and `subresource` are given. */
export function buildCreate(
  type: ResourceType,
  namespace: string | undefined,
  object: unknown,
  options: WriteOptions = {},
  on?: { readonly key: ObjectKey; readonly subresource: string },
): KubeRequest {
  const path = on === undefined ? collectionPath(type, namespace) : objectPath(type, on.key, on.subresource);
  return { method: "POST", path, ...query(writing(options)), body: object };
}

/** PUT of a whole object; the resourceVersion inside is the precondition. */
export function buildUpdate(
  type: ResourceType,
  key: ObjectKey,
  object: unknown,
  options: WriteOptions = {},
  subresource?: string,
): KubeRequest {
  return { method: "PUT", path: objectPath(type, key, subresource), ...query(writing(options)), body: object };
}

/** PATCH with one of the three classic patch types. */
export function buildPatch(
  type: ResourceType,
  key: ObjectKey,
  patch: Patch,
  options: WriteOptions = {},
  subresource?: string,
): KubeRequest {
  return {
    method: "PATCH",
    path: objectPath(type, key, subresource),
    ...query(writing(options)),
    headers: { "content-type": `application/${patch.type}-patch+json` },
    body: patch.type === "json" ? patch.operations : patch.value,
  };
}

/** Server-side apply. The body is sent as JSON, which is YAML. */
export function buildApply(type: ResourceType, key: ObjectKey, object: unknown, options: ApplyOptions, subresource?: string): KubeRequest {
  return {
    method: "PATCH",
    path: objectPath(type, key, subresource),
    ...query({ ...writing(options), force: options.force === true ? true : undefined }),
    headers: { "content-type": "application/apply-patch+yaml" },
    body: object,
  };
}

/** DELETE of one object. */
export function buildDelete(type: ResourceType, key: ObjectKey, options: DeleteOptions = {}): KubeRequest {
  return { method: "DELETE", path: objectPath(type, key), ...deleteBody(options) };
}

/** DELETE of everything that the selectors match. */
export function buildDeleteCollection(type: ResourceType, selected: SelectorOptions, options: DeleteOptions = {}): KubeRequest {
  return { method: "DELETE", path: collectionPath(type, selected.namespace), ...query(selectors(selected)), ...deleteBody(options) };
}

function deleteBody(options: DeleteOptions): Pick<KubeRequest, "body"> {
  return {
    body: {
      apiVersion: "v1",
      kind: "DeleteOptions",
      ...(options.dryRun === true ? { dryRun: ["All"] } : {}),
      ...(options.propagationPolicy === undefined ? {} : { propagationPolicy: options.propagationPolicy }),
      ...(options.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: options.gracePeriodSeconds }),
      ...(options.preconditions === undefined ? {} : { preconditions: options.preconditions }),
    },
  };
}

function selectors(options: SelectorOptions): Query {
  return { labelSelector: options.labelSelector, fieldSelector: options.fieldSelector };
}

function writing(options: WriteOptions): Query {
  return {
    dryRun: options.dryRun === true ? "All" : undefined,
    fieldManager: options.fieldManager,
    fieldValidation: options.fieldValidation,
  };
}

function query(values: Query): Pick<KubeRequest, "query"> {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined);
  return kept.length === 0 ? {} : { query: Object.fromEntries(kept.map(([name, value]) => [name, String(value)])) };
}
