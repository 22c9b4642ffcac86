import type { JsonObject } from "../json.ts";
import type { CompiledVersion } from "../schema/index.ts";

/** One operation of a path, in a form that both OpenAPI versions print. */
export interface Operation {
  readonly verb: "get" | "post" | "put" | "patch" | "delete";
  /** `x-kubernetes-action`. */
  readonly action: string;
  readonly queries: readonly string[];
  /** Schema of body and answer. */
  readonly body: "none" | "object" | "patch" | "deleteOptions";
  readonly answer: "object" | "list" | "status";
}

/** One path with its operations. */
export interface PathItem {
  readonly path: string;
  readonly kind: CompiledVersion;
  readonly namespaced: boolean;
  readonly named: boolean;
  readonly operations: readonly Operation[];
}

const write = ["dryRun", "fieldManager", "fieldValidation"];
const listing = [
  "allowWatchBookmarks",
  "continue",
  "fieldSelector",
  "labelSelector",
  "limit",
  "resourceVersion",
  "resourceVersionMatch",
  "timeoutSeconds",
  "watch",
];
const deleting = ["dryRun", "gracePeriodSeconds", "orphanDependents", "propagationPolicy"];

/** What each query parameter holds. */
export const queryTypes: Readonly<Record<string, "string" | "boolean" | "integer">> = {
  allowWatchBookmarks: "boolean",
  limit: "integer",
  timeoutSeconds: "integer",
  watch: "boolean",
  gracePeriodSeconds: "integer",
  orphanDependents: "boolean",
  force: "boolean",
};

const read: Operation = { verb: "get", action: "get", queries: [], body: "none", answer: "object" };
const replace: Operation = { verb: "put", action: "put", queries: write, body: "object", answer: "object" };
const patch: Operation = { verb: "patch", action: "patch", queries: [...write, "force"], body: "patch", answer: "object" };
const remove: Operation = { verb: "delete", action: "delete", queries: deleting, body: "deleteOptions", answer: "status" };
const list: Operation = { verb: "get", action: "list", queries: listing, body: "none", answer: "list" };
const create: Operation = { verb: "post", action: "post", queries: write, body: "object", answer: "object" };
const removeAll: Operation = {
  verb: "delete",
  action: "deletecollection",
  queries: [...deleting, ...listing.slice(1)],
  body: "deleteOptions",
  answer: "status",
};

/** The paths under which a kind is served. */
export function pathsOf(kind: CompiledVersion): readonly PathItem[] {
  const root = kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const { plural } = kind.names;
  const collection = kind.namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`;
  const item = { kind, namespaced: kind.namespaced };
  // Reviews are answered and forgotten: they have no columns and can only be created.
  if (kind.columns.length === 0) return [{ ...item, path: collection, named: false, operations: [create] }];
  const subresources = [...(kind.subresources.status ? ["status"] : []), ...(kind.subresources.scale === undefined ? [] : ["scale"])];
  return [
    ...(kind.namespaced ? [{ ...item, namespaced: false, path: `${root}/${plural}`, named: false, operations: [list] }] : []),
    { ...item, path: collection, named: false, operations: [list, create, removeAll] },
    { ...item, path: `${collection}/{name}`, named: true, operations: [read, replace, patch, remove] },
    ...subresources.map((name) => ({ ...item, path: `${collection}/{name}/${name}`, named: true, operations: [read, replace, patch] })),
  ];
}

/** Content types of patches that a kind takes. */
export function patchTypesOf(isCustom: boolean): readonly string[] {
  const types = ["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"];
  return isCustom ? types : [...types, "application/strategic-merge-patch+json"];
}

/** `x-kubernetes-group-version-kind` of a kind. */
export function gvkOf(kind: CompiledVersion): JsonObject {
  return { group: kind.group, version: kind.version, kind: kind.names.kind };
}

/** A unique name for an operation, as clients generate methods from it. */
export function operationIdOf(item: PathItem, operation: Operation): string {
  const { kind } = item;
  const group = (kind.group === "" ? ["core"] : kind.group.replace(/\.k8s\.io$/u, "").split(".")).map(capital).join("");
  const verbs: Record<string, string> = {
    get: "read",
    put: "replace",
    patch: "patch",
    delete: "delete",
    list: "list",
    post: "create",
    deletecollection: "deleteCollection",
  };
  const scope = item.namespaced ? "Namespaced" : "";
  const suffix =
    kind.namespaced && !item.namespaced
      ? "ForAllNamespaces"
      : item.path.endsWith("/status")
        ? "Status"
        : item.path.endsWith("/scale")
          ? "Scale"
          : "";
  return `${verbs[operation.action] ?? operation.action}${group}${capital(kind.version)}${scope}${kind.names.kind}${suffix}`;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
