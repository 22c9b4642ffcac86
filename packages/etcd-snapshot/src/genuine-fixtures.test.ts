import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";

import { bytesSource, createStatisticsPass, createTrailerCheck, liveKeysOf, openDatabase, readSnapshot } from "./index.ts";
import { fixture } from "./testing/real-snapshots.ts";

test("the objects of a genuine kube-apiserver are listed as kubectl listed them", () => {
  const { kinds, encrypted, members, ...contents } = readSnapshot(bytesSource(fixture("kube-apiserver-1.36.db")));
  assert.deepEqual(
    kinds.map(({ apiVersion, kind, total, namespaces }) => [apiVersion, kind, total, namespaces]),
    [
      // As it is stored: definitions still in v1beta1.
      ["apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", 3, { "": 3 }],
      ["apiregistration.k8s.io/v1", "APIService", 23, { "": 23 }],
      ["apps/v1", "Deployment", 3, { shop: 3 }],
      ["coordination.k8s.io/v1", "Lease", 4, { "kube-node-lease": 3, "kube-system": 1 }],
      ["example.dev/v1", "Gadget", 2, { shop: 2 }],
      ["example.dev/v1alpha1", "Planet", 1, { "": 1 }],
      ["flowcontrol.apiserver.k8s.io/v1", "FlowSchema", 11, { "": 11 }],
      ["flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", 8, { "": 8 }],
      ["networking.k8s.io/v1", "IPAddress", 4, { "": 4 }],
      ["networking.k8s.io/v1", "ServiceCIDR", 1, { "": 1 }],
      ["rbac.authorization.k8s.io/v1", "ClusterRole", 69, { "": 69 }],
      ["rbac.authorization.k8s.io/v1", "ClusterRoleBinding", 50, { "": 50 }],
      ["rbac.authorization.k8s.io/v1", "Role", 7, { "kube-system": 6, "kube-public": 1 }],
      ["rbac.authorization.k8s.io/v1", "RoleBinding", 7, { "kube-system": 6, "kube-public": 1 }],
      ["scheduling.k8s.io/v1", "PriorityClass", 2, { "": 2 }],
      ["v1", "ConfigMap", 4, { default: 2, "kube-system": 2 }],
      ["v1", "Endpoints", 3, { shop: 3 }],
      ["v1", "Event", 1, { shop: 1 }],
      ["v1", "Namespace", 6, { "": 6 }],
      ["v1", "Node", 3, { "": 3 }],
      ["v1", "PersistentVolume", 1, { "": 1 }],
      ["v1", "Pod", 3, { shop: 3 }],
      ["v1", "Service", 4, { shop: 3, default: 1 }],
    ],
  );
  assert.deepEqual(
    encrypted.map(({ resource, namespaces }) => [resource, namespaces]),
    [
      ["example.dev/widgets", { default: 3 }],
      ["secrets", { shop: 3 }],
    ],
  );
  assert.deepEqual(
    members.map(({ id, name, isLearner }) => [id, name, isLearner]),
    [["fe7b710d55173b4f", "default", false]],
  );
  assert.deepEqual(contents, {
    revision: 262,
    revisions: 261,
    totalKey: 228,
    liveKeys: 228,
    entries: 271,
    totalSize: 348_160,
    pageSize: 4096,
    storageVersion: "3.6.0",
    clusterVersion: "3.6.0",
    removedMembers: [],
    consistentIndex: 278,
    term: 2,
    compactRevision: undefined,
    otherKinds: 0,
    otherEncrypted: 0,
    nodes: { names: ["n1", "n2", "n3"], others: 0 },
    unreadable: 0,
    // The address of the server, and its range of ports.
    otherKeys: 2,
    sample: { decoded: 220, mismatched: 0 },
  });
});

test("what is told is bounded, and what is left out is told", () => {
  const { kinds, otherKinds, encrypted, otherEncrypted, sample } = readSnapshot(bytesSource(fixture("kube-apiserver-1.36.db")), {
    maxKinds: 1,
    maxNamespaces: 1,
    samplePerKind: 2,
  });
  const [kind] = kinds;
  assert.ok(kind !== undefined && kinds.length === 1);
  assert.equal(kind.total + otherKinds, 220);
  assert.equal(Object.values(kind.namespaces).reduce((sum, count) => sum + count, 0) + kind.others.objects, kind.total);
  assert.deepEqual([encrypted.length, otherEncrypted], [1, 3]);
  assert.deepEqual(sample, { decoded: 2, mismatched: 0 });
});

for (const etcd of ["etcd-3.5", "etcd-3.6"])
  describe(`a store with a history in ${etcd}`, () => {
    const snapshot = fixture(`${etcd}.db`);
    const { status, keys } = JSON.parse(readFileSync(new URL(`../testdata/${etcd}.json`, import.meta.url), "utf8")) as {
      status: { revision: number; totalKey: number; totalSize: number; version: string };
      keys: { key: string; createRevision: number; modRevision: number; version: number; sha256: string }[];
    };
    test("has the trailer of etcd", () => {
      const check = createTrailerCheck();
      check.write(snapshot);
      assert.equal(check.finish().fault, undefined);
    });
    for (const piece of [1, 1024, 4096, 5000, 10_000_000])
      test(`is counted as etcdutl counts it, in pieces of ${piece}`, () => {
        const pass = createStatisticsPass();
        for (let at = 0; at < snapshot.length; at += piece) pass.write(snapshot.subarray(at, at + piece));
        const { revision, totalKey, totalSize, storageVersion } = pass.finish();
        assert.deepEqual({ revision, totalKey, totalSize, version: storageVersion ?? "" }, status);
      });
    test("has the keys that etcdctl gets", () => {
      const found = [...liveKeysOf(openDatabase(bytesSource(snapshot)))].map(({ key, createRevision, modRevision, version, value }) => ({
        key: Buffer.from(key).toString(),
        createRevision,
        modRevision,
        version,
        sha256: createHash("sha256").update(value).digest("hex"),
      }));
      assert.deepEqual(
        found.toSorted((left, right) => (left.key < right.key ? -1 : 1)),
        keys,
      );
    });
  });
