import assert from "node:assert/strict";
import test from "node:test";
import type { Delta, KubeObject } from "@talos-operator/kube-runtime";
import { annotationsChanged, specOrMetadataChanged } from "./predicates.ts";

const object = (annotations: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name: "demo", namespace: "default", resourceVersion: String(Object.keys(annotations).length), annotations },
  spec: {},
});

const predicates: Record<string, (delta: Delta<KubeObject>) => boolean> = { annotationsChanged, specOrMetadataChanged };

for (const [name, changed] of Object.entries(predicates)) {
  test(`${name}: a pause that begins or ends wakes the controller`, () => {
    const paused = object({ "talos.alperen.cloud/reconcile-mode": "Disable" });
    assert.equal(changed({ type: "updated", previous: object({}), object: paused }), true);
    assert.equal(changed({ type: "updated", previous: paused, object: object({}) }), true);
  });

  test(`${name}: a status of the controller's own wakes nobody`, () => {
    const previous = object({});
    const metadata = { ...previous.metadata, resourceVersion: "9", managedFields: [] };
    assert.equal(changed({ type: "updated", previous, object: { ...previous, metadata } }), false);
  });
}
