import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { controllerOf, controllerReference } from "../index.ts";

describe("controllerReference", () => {
  const owner = { apiVersion: "talos.alperen.cloud/v1alpha1", kind: "TalosCluster", metadata: { name: "demo", uid: "u-1" } };

  it("marks the owner as the one that manages the child, and is found again", () => {
    const reference = controllerReference(owner);
    assert.deepEqual(reference, {
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosCluster",
      name: "demo",
      uid: "u-1",
      controller: true,
      blockOwnerDeletion: true,
    });
    assert.equal(controllerOf({ name: "x", ownerReferences: [{ ...reference, controller: false }, reference] }), reference);
    assert.equal(controllerOf({ name: "x" }), undefined);
  });

  it("refuses an owner that was never stored", () => {
    assert.throws(() => controllerReference({ ...owner, metadata: { name: "demo" } }), /TalosCluster\/demo has no uid/);
  });
});
