import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosClusterAddonRelease } from "@talos-operator/api";
import { patchBetween } from "./compose.ts";

const release: TalosClusterAddonRelease = {
  apiVersion: "talos.alperen.cloud/v1alpha1",
  kind: "TalosClusterAddonRelease",
  metadata: { namespace: "default", name: "demo-cni-addonrelease", resourceVersion: "7", labels: { a: "1", "b/c~d": "2" } },
  spec: { clusterRef: { name: "demo" } },
};

test("a change is written to the version that it was made of, and nothing else of the object", () => {
  const changed = { ...release, metadata: { ...release.metadata, labels: { a: "3" } } };
  assert.deepEqual(patchBetween(release, changed), [
    { op: "replace", path: "/metadata/resourceVersion", value: "7" },
    { op: "add", path: "/metadata/labels/a", value: "3" },
    { op: "remove", path: "/metadata/labels/b~1c~0d" },
  ]);
});

test("what is alike is not written", () => {
  assert.deepEqual(patchBetween(release, structuredClone(release)), []);
});
