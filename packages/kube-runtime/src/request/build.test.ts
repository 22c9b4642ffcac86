import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KubeRequest } from "@talos-operator/ports";
import { KubeApiError } from "../client/kube-api-error.ts";
import {
  buildApply,
  buildCreate,
  buildDelete,
  buildDeleteCollection,
  buildGet,
  buildList,
  buildPatch,
  buildUpdate,
  buildWatch,
} from "./build.ts";
import type { ResourceType } from "./resource-type.ts";

const secret: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };
const node: ResourceType = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };
const cluster: ResourceType = {
  group: "talos.alperen.cloud",
  version: "v1alpha1",
  plural: "talosclusters",
  kind: "TalosCluster",
  namespaced: true,
};
const key = { namespace: "ns", name: "a" };

/** `METHOD path?query content-type body` */
function line(request: KubeRequest): string {
  const query = Object.entries(request.query ?? {}).map(([name, value]) => `${name}=${value}`);
  const parts = [
    request.method,
    request.path + (query.length > 0 ? `?${query.join("&")}` : ""),
    request.headers?.["content-type"],
    JSON.stringify(request.body),
  ];
  return parts.filter((part) => part !== undefined).join(" ");
}

describe("request builders", () => {
  const cases: readonly { readonly name: string; readonly request: KubeRequest; readonly want: string }[] = [
    { name: "get in the core group", request: buildGet(secret, key), want: "GET /api/v1/namespaces/ns/secrets/a" },
    { name: "get of a cluster-scoped object", request: buildGet(node, { name: "n:1" }), want: "GET /api/v1/nodes/n%3A1" },
    {
      name: "get of a subresource from the cache",
      request: buildGet(cluster, key, { resourceVersion: "0" }, "status"),
      want: "GET /apis/talos.alperen.cloud/v1alpha1/namespaces/ns/talosclusters/a/status?resourceVersion=0",
    },
    {
      name: "list over all namespaces",
      request: buildList(cluster, { limit: 500 }),
      want: "GET /apis/talos.alperen.cloud/v1alpha1/talosclusters?limit=500",
    },
    {
      name: "list with everything",
      request: buildList(secret, {
        namespace: "ns",
        labelSelector: "a=b,c!=d",
        fieldSelector: "metadata.name=x",
        limit: 2,
        resourceVersion: "5",
        resourceVersionMatch: "Exact",
        timeoutSeconds: 9,
      }),
      want: "GET /api/v1/namespaces/ns/secrets?labelSelector=a=b,c!=d&fieldSelector=metadata.name=x&limit=2&resourceVersion=5&resourceVersionMatch=Exact&timeoutSeconds=9",
    },
    { name: "next page", request: buildList(secret, { limit: 2, continue: "t" }), want: "GET /api/v1/secrets?limit=2&continue=t" },
    {
      name: "watch asks for bookmarks",
      request: buildWatch(node, { resourceVersion: "7", timeoutSeconds: 180 }),
      want: "GET /api/v1/nodes?watch=true&resourceVersion=7&allowWatchBookmarks=true&timeoutSeconds=180",
    },
    {
      name: "create",
      request: buildCreate(secret, "ns", { x: 1 }, { fieldManager: "me", dryRun: true, fieldValidation: "Strict" }),
      want: 'POST /api/v1/namespaces/ns/secrets?dryRun=All&fieldManager=me&fieldValidation=Strict {"x":1}',
    },
    {
      name: "create of a subresource",
      request: buildCreate(secret, undefined, {}, {}, { key, subresource: "eviction" }),
      want: "POST /api/v1/namespaces/ns/secrets/a/eviction {}",
    },
    {
      name: "update of the status",
      request: buildUpdate(cluster, key, { status: {} }, {}, "status"),
      want: 'PUT /apis/talos.alperen.cloud/v1alpha1/namespaces/ns/talosclusters/a/status {"status":{}}',
    },
    {
      name: "merge patch",
      request: buildPatch(node, { name: "n" }, { type: "merge", value: { a: null } }),
      want: 'PATCH /api/v1/nodes/n application/merge-patch+json {"a":null}',
    },
    {
      name: "json patch",
      request: buildPatch(node, { name: "n" }, { type: "json", operations: [{ op: "remove", path: "/a" }] }),
      want: 'PATCH /api/v1/nodes/n application/json-patch+json [{"op":"remove","path":"/a"}]',
    },
    {
      name: "strategic merge patch",
      request: buildPatch(node, { name: "n" }, { type: "strategic-merge", value: {} }),
      want: "PATCH /api/v1/nodes/n application/strategic-merge-patch+json {}",
    },
    {
      name: "apply",
      request: buildApply(node, { name: "n" }, {}, { fieldManager: "me" }),
      want: "PATCH /api/v1/nodes/n?fieldManager=me application/apply-patch+yaml {}",
    },
    {
      name: "apply by force",
      request: buildApply(node, { name: "n" }, {}, { fieldManager: "me", force: true }, "status"),
      want: "PATCH /api/v1/nodes/n/status?fieldManager=me&force=true application/apply-patch+yaml {}",
    },
    {
      name: "delete with preconditions",
      request: buildDelete(secret, key, {
        propagationPolicy: "Foreground",
        gracePeriodSeconds: 0,
        dryRun: true,
        preconditions: { uid: "u", resourceVersion: "9" },
      }),
      want: 'DELETE /api/v1/namespaces/ns/secrets/a {"apiVersion":"v1","kind":"DeleteOptions","dryRun":["All"],"propagationPolicy":"Foreground","gracePeriodSeconds":0,"preconditions":{"uid":"u","resourceVersion":"9"}}',
    },
    {
      name: "delete of a collection",
      request: buildDeleteCollection(secret, { namespace: "ns", labelSelector: "a=b" }),
      want: 'DELETE /api/v1/namespaces/ns/secrets?labelSelector=a=b {"apiVersion":"v1","kind":"DeleteOptions"}',
    },
  ];
  for (const { name, request, want } of cases) it(`builds ${name}`, () => assert.equal(line(request), want));

  const refused: readonly { readonly name: string; readonly build: () => unknown }[] = [
    { name: "a namespaced kind without namespace", build: () => buildGet(secret, { name: "a" }) },
    { name: "a cluster-scoped kind with namespace", build: () => buildGet(node, key) },
    { name: "an empty name, which would address the collection", build: () => buildDelete(secret, { namespace: "ns", name: "" }) },
    { name: "a name that climbs out of the path", build: () => buildGet(secret, { namespace: "ns", name: ".." }) },
    { name: "a namespace that climbs out of the path", build: () => buildList(secret, { namespace: ".." }) },
    { name: "a name with a slash", build: () => buildGet(secret, { namespace: "ns", name: "a/b" }) },
    { name: "a name that is already encoded", build: () => buildGet(secret, { namespace: "ns", name: "a%2fb" }) },
  ];
  for (const { name, build } of refused) {
    it(`refuses ${name}`, () => assert.throws(build, (error) => error instanceof KubeApiError && error.code === "INVALID_CALL"));
  }
});
