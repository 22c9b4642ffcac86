import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { KubeRequest, KubeTransport } from "@talos-operator/ports";
import type { EtcdDatabase } from "../etcd/etcd-database.ts";
import { overEtcd } from "./over-etcd.ts";

const objects: Readonly<Record<string, object>> = {
  "/api/v1/nodes/one": { kind: "Node", metadata: {} },
  "/api/v1/namespaces/a/pods/p": { kind: "Pod", metadata: {} },
  "/api/v1/namespaces/held": { kind: "Namespace", metadata: { finalizers: ["x"] } },
};
const api: KubeTransport = {
  send: async ({ method, path }) =>
    method === "GET" ? { status: 200, headers: {}, body: objects[path] } : { status: 201, headers: {}, body: {} },
  watch: () => assert.fail("not watched"),
  close: () => undefined,
};

/** An etcd that refuses puts, and deletes where `isCorrupt`; it tells what it was asked. */
function refusing(isCorrupt: boolean, isWatched = true): { readonly asked: string[]; readonly etcd: EtcdDatabase } {
  const asked: string[] = [];
  const etcd = {
    isWatched,
    put: (_bytes: number, { keeps }: { readonly keeps: boolean }) => {
      asked.push(keeps ? "put" : "replace");
      return isCorrupt ? "etcdserver: corrupt cluster" : "etcdserver: mvcc: database space exceeded";
    },
    erase: () => {
      asked.push("erase");
      return isCorrupt ? "etcdserver: corrupt cluster" : undefined;
    },
  };
  return { asked, etcd: etcd as unknown as EtcdDatabase };
}

const cases: readonly {
  readonly name: string;
  readonly request: KubeRequest;
  readonly full: number;
  readonly corrupt: number;
  readonly asked: string;
}[] = [
  { name: "a read", request: { method: "GET", path: "/api/v1/nodes/one" }, full: 200, corrupt: 200, asked: "" },
  { name: "a new object", request: { method: "POST", path: "/api/v1/nodes", body: {} }, full: 500, corrupt: 500, asked: "put" },
  { name: "a change", request: { method: "PATCH", path: "/api/v1/nodes/one", body: {} }, full: 500, corrupt: 500, asked: "replace" },
  { name: "a deletion", request: { method: "DELETE", path: "/api/v1/nodes/one" }, full: 201, corrupt: 500, asked: "erase" },
  {
    name: "the deletion of a pod",
    request: { method: "DELETE", path: "/api/v1/namespaces/a/pods/p" },
    full: 500,
    corrupt: 500,
    asked: "replace",
  },
  {
    name: "the deletion of a pod at once",
    request: { method: "DELETE", path: "/api/v1/namespaces/a/pods/p", body: { gracePeriodSeconds: 0 } },
    full: 201,
    corrupt: 500,
    asked: "erase",
  },
  {
    name: "the deletion of what finalizers hold",
    request: { method: "DELETE", path: "/api/v1/namespaces/held" },
    full: 500,
    corrupt: 500,
    asked: "replace",
  },
  {
    name: "a deletion that waits for what it owns",
    request: { method: "DELETE", path: "/api/v1/nodes/one", query: { propagationPolicy: "Foreground" } },
    full: 500,
    corrupt: 500,
    asked: "replace",
  },
  {
    name: "an eviction",
    request: { method: "POST", path: "/api/v1/namespaces/a/pods/p/eviction", body: {} },
    full: 500,
    corrupt: 500,
    asked: "put",
  },
  {
    name: "a review",
    request: { method: "POST", path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body: {} },
    full: 201,
    corrupt: 201,
    asked: "",
  },
  {
    name: "what is only tried",
    request: { method: "POST", path: "/api/v1/nodes", query: { dryRun: "All" } },
    full: 201,
    corrupt: 201,
    asked: "",
  },
];

describe("an API over an etcd that refuses writes", () => {
  for (const { name, request, full, corrupt, asked } of cases)
    test(name, async () => {
      for (const [isCorrupt, want] of [
        [false, full],
        [true, corrupt],
      ] as const) {
        const refused = refusing(isCorrupt);
        assert.equal((await overEtcd(api, () => refused.etcd).send(request)).status, want);
        assert.deepEqual(refused.asked, asked === "" ? [] : [asked]);
      }
    });

  test("says why in kube-apiserver's words", async () => {
    const { body } = await overEtcd(api, () => refusing(false).etcd).send({ method: "POST", path: "/api/v1/nodes", body: {} });
    const message = "etcdserver: mvcc: database space exceeded";
    assert.deepEqual(body, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 });
  });

  test("does not ask an etcd of which nobody asked anything", async () => {
    const { asked, etcd } = refusing(true, false);
    for (const database of [etcd, undefined])
      assert.equal((await overEtcd(api, () => database).send({ method: "POST", path: "/api/v1/nodes", body: {} })).status, 201);
    assert.deepEqual(asked, []);
  });
});
