import assert from "node:assert/strict";
import { test } from "node:test";
import { withSpecDefaults } from "../crds.ts";
import { boolean, list, object, string, stringMap } from "./field.ts";
import { withDefaults } from "./with-defaults.ts";

const { schema } = object(
  {
    size: string({ description: "How large.", default: "small" }),
    tags: stringMap({ description: "Tags." }),
    parts: list(object({ isOn: boolean({ description: "On.", default: true }) }, { description: "A part." }), { description: "Parts." }),
    inner: object({ name: string({ description: "Name.", default: "a" }) }, { description: "Inner.", default: {} }),
    other: object({ name: string({ description: "Name.", default: "b" }) }, { description: "Other." }),
  },
  { description: "Thing." },
);

test("fields that are absent get their default, in lists and in what a default brings; what is written stays", () => {
  assert.deepEqual(withDefaults(schema, { tags: { a: "b" }, parts: [{}, { isOn: false }] }), {
    size: "small",
    tags: { a: "b" },
    parts: [{ isOn: true }, { isOn: false }],
    inner: { name: "a" },
  });
  assert.deepEqual(withDefaults(schema, { size: "large", inner: { name: "c" } }), { size: "large", inner: { name: "c" } });
});

test("an object of a manifest gets the defaults of its kind's spec, and one of another kind none", () => {
  const spec = { controlPlane: { mode: "metal", metalSpec: { machines: [{ address: "10.0.0.1" }] } } };
  const filled = withSpecDefaults({ kind: "TalosCluster", spec });
  assert.partialDeepStrictEqual(filled.spec.controlPlane, { ...spec.controlPlane, version: "v1.13.0", kubeVersion: "v1.35.0" });
  const foreign = { kind: "ConfigMap", spec };
  assert.equal(withSpecDefaults(foreign), foreign);
});
