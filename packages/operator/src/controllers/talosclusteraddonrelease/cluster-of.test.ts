import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ClusterRecord, TalosCluster, TalosClusterAddonRelease, TalosControlPlane } from "@talos-operator/api";
import type { Informer, KubeClient } from "@talos-operator/kube-runtime";
import { clusterOf, controlPlaneOf } from "./cluster-of.ts";

const controlPlane: TalosControlPlane = {
  apiVersion: "talos.alperen.cloud/v1alpha1",
  kind: "TalosControlPlane",
  metadata: { namespace: "default", name: "demo", uid: "cp-2" },
  spec: { version: "v1.13.9", kubeVersion: "v1.36.3", mode: "metal" },
};
const release = (clusterRef: TalosClusterAddonRelease["spec"]["clusterRef"]): TalosClusterAddonRelease => ({
  apiVersion: "talos.alperen.cloud/v1alpha1",
  kind: "TalosClusterAddonRelease",
  metadata: { namespace: "default", name: "web", uid: "u-1" },
  spec: { clusterRef },
});
const storeOf = <T extends { readonly metadata: { readonly namespace?: string; readonly name: string } }>(...objects: readonly T[]) =>
  ({
    store: {
      get: ({ namespace, name }: { readonly namespace?: string | undefined; readonly name: string }) =>
        objects.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace),
      list: () => objects,
    },
  }) as unknown as Informer<T>;
const caches = { controlPlanes: storeOf(controlPlane), talosClusters: storeOf<TalosCluster>() };
const recordOf = (controlPlaneUid: string): ClusterRecord =>
  ({
    apiVersion: "talos-operator.dev/v1alpha1",
    kind: "ClusterRecord",
    metadata: { namespace: "default", name: "demo", resourceVersion: "1" },
    spec: {
      controlPlaneUid,
      clusterId: "id",
      endpoint: "https://10.5.0.1:6443",
      bundle: { secretName: "demo-bundle", fingerprint: "f" },
      bootstrap: { done: { at: "2026-05-01T12:00:00Z", machine: { name: "a", address: "10.5.0.1", uuid: "u" }, evidence: "etcd" } },
    },
  }) as unknown as ClusterRecord;
const clientWith = (record: ClusterRecord): KubeClient =>
  ({ resource: () => ({ tryGet: () => Promise.resolve(record) }) }) as unknown as KubeClient;

describe("the cluster of a release", () => {
  test("is of its own namespace alone", () => {
    const named = controlPlaneOf(release({ name: "demo", namespace: "tenant" }), caches.talosClusters);
    assert.match("message" in named ? named.message : "", /leads to the namespace tenant, and a release is for a cluster of its own/);
  });

  test("has what is written down about it, and nothing of an earlier one of that name", async () => {
    const earlier = await clusterOf(release({ name: "demo" }), caches, clientWith(recordOf("cp-1")));
    assert.deepEqual([earlier.seen.kind, earlier.facts], ["waiting", undefined]);
    const own = await clusterOf(release({ name: "demo" }), caches, clientWith(recordOf("cp-2")));
    assert.equal(own.facts?.controlPlaneUid, "cp-2");
  });

  test("is going where another one has its name", async () => {
    const { seen } = await clusterOf(release({ name: "demo", uid: "cp-1" }), caches, clientWith(recordOf("cp-2")));
    assert.equal(seen.kind, "going");
  });
});
