import assert from "node:assert/strict";
import { test } from "node:test";
import { validateClusterAddonSpec } from "./cluster-addon.ts";

const helmSpec = { chartName: "cilium", repoURL: "https://helm.cilium.io" };
const manifests = { sources: [{ inline: "a: b" }] };

for (const [what, spec, fields] of [
  ["no chart", {}, ["spec.helmSpec"]],
  ["objects alone", { manifests, targetNamespace: "net" }, []],
  ["objects of another namespace", { manifests: { ...manifests, namespace: "web" }, targetNamespace: "net" }, ["spec.targetNamespace"]],
  ["a chart and objects", { helmSpec: { chartName: "cilium", repoURL: "https://helm.cilium.io" }, manifests }, ["spec.manifests"]],
  ["no targetNamespace", { helmSpec: { ...helmSpec, namespace: "net" } }, []],
  ["targetNamespace alone", { helmSpec, targetNamespace: "net" }, []],
  ["targetNamespace beside the default", { helmSpec: { ...helmSpec, namespace: "default" }, targetNamespace: "net" }, []],
  ["both alike", { helmSpec: { ...helmSpec, namespace: "net" }, targetNamespace: "net" }, []],
  ["both, and not alike", { helmSpec: { ...helmSpec, namespace: "kube-system" }, targetNamespace: "net" }, ["spec.targetNamespace"]],
  ["no name of a namespace", { helmSpec, targetNamespace: "Net_1" }, ["spec.targetNamespace"]],
] as const)
  test(`${what}: ${fields.length === 0 ? "taken" : "refused"}`, () => {
    assert.deepEqual(
      validateClusterAddonSpec(spec).map(({ field }) => field),
      fields,
    );
  });
