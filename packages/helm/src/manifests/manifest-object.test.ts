import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ManifestsFault } from "./fault.ts";
import { objectsOf } from "./manifest-object.ts";

const read = (text: string) => objectsOf([{ name: "sources[0]", text }]);

describe("objects of a text", () => {
  test("are taken without what only a server writes, Lists apart, and Secrets as data", () => {
    const text = [
      "# nothing",
      "---",
      "apiVersion: v1",
      "kind: List",
      "items:",
      "- { apiVersion: v1, kind: ConfigMap, metadata: { name: a, creationTimestamp: null, resourceVersion: '7', uid: x }, data: { k: v } }",
      "- { apiVersion: v1, kind: Secret, metadata: { name: b, namespace: '' }, data: { a: YQ== }, stringData: { b: text } }",
      "---",
      "{ apiVersion: apps/v1, kind: Deployment, metadata: { name: c, labels: { app: c } }, spec: {}, status: { replicas: 1 } }",
    ].join("\n");
    assert.deepEqual(read(text), [
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { k: "v" } },
      { apiVersion: "v1", kind: "Secret", metadata: { name: "b" }, data: { a: "YQ==", b: "dGV4dA==" } },
      { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "c", labels: { app: "c" } }, spec: {} },
    ]);
  });

  for (const [what, text, says] of [
    ["no YAML", "a: [", /is no YAML/],
    ["a scalar", "just words", /a document that is no object/],
    ["no kind", "{ apiVersion: v1, metadata: { name: a } }", /without apiVersion and kind/],
    ["no name", "{ apiVersion: v1, kind: Pod, metadata: { generateName: a- } }", /without metadata\.name/],
    ["an owner", "{ apiVersion: v1, kind: Pod, metadata: { name: a, ownerReferences: [] } }", /ownerReferences/],
    ["a label that is a number", "{ apiVersion: v1, kind: Pod, metadata: { name: a, labels: { n: 1 } } }", /labels are no texts/],
    ["an alias bomb", `a: &a [x,x]\nb: &b [${"*a,".repeat(60)}]`, /is no YAML/],
  ] as const)
    test(`are refused with ${what}, without a word of the text`, () =>
      assert.throws(
        () => read(text),
        (thrown) => thrown instanceof ManifestsFault && thrown.reason === "manifests-invalid" && says.test(thrown.message),
      ));
});
