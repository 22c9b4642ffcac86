import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { load } from "js-yaml";
import { demandValues, LONGEST_VALUES, renderValues, ValuesError } from "./values-template.ts";
import type { ClusterValues } from "./values-template.ts";

const cluster: ClusterValues = {
  Name: "prod",
  Namespace: "default",
  Endpoint: "https://10.0.0.10:6443",
  EndpointHost: "10.0.0.10",
  EndpointPort: "6443",
  KubePrismHost: "localhost",
  KubePrismPort: "7445",
  PodCIDR: "10.244.0.0/16",
  ServiceCIDR: "10.96.0.0/12",
  Domain: "cluster.local",
  KubernetesVersion: "v1.34.1",
  TalosVersion: "v1.12.0",
  Provider: "metal",
};
const valuesOf = (template: string): unknown => load(renderValues(template, cluster).document);

describe("a template of values", () => {
  test("gets facts of its cluster", () => {
    const template =
      "k8sServiceHost: {{ .Cluster.KubePrismHost }}\nk8sServicePort: {{.Cluster.KubePrismPort}}\ncluster: { name: '{{- .Cluster.Name -}}' }\n";
    assert.deepEqual(valuesOf(template), { k8sServiceHost: "localhost", k8sServicePort: 7445, cluster: { name: "prod" } });
  });

  test("may be empty, or without any fact", () => {
    assert.equal(renderValues("", cluster).document, "");
    assert.equal(renderValues("# nothing\n", cluster).document, "");
    assert.deepEqual(valuesOf("controller:\n  replicaCount: 2\n"), { controller: { replicaCount: 2 } });
  });

  for (const [form, values] of Object.entries({
    "a=b,c=d": { a: "b", c: "d" },
    "a.b=1,a.c=true,d=null": { a: { b: 1, c: true }, d: null },
    "list={x,y,3}": { list: ["x", "y", 3] },
    "hosts=a\\,b,node\\.name=c": { hosts: "a,b", "node.name": "c" },
    "version=007": { version: "007" },
  }))
    test(`is read as helm --set reads it: ${form}`, () => {
      const rendered = renderValues(form, cluster);
      assert.equal(rendered.isSetSyntax, true);
      assert.deepEqual(load(rendered.document), values);
    });

  for (const [what, template, words] of [
    ["code", "{{ if .Cluster.Name }}a: b{{ end }}", /names \{\{ if/],
    ["a fact that is not told", "a: {{ .Cluster.Secret }}", /may name \.Cluster\.Name/],
    ["what every object has", "a: {{ .Cluster.constructor }}", /may name/],
    ["no YAML", "a: [", /no YAML, line/],
    ["a list", "- a\n- b\n", /no object/],
    ["a word", "only words", /no object/],
    ["an index of --set", "a[0]=b", /write YAML/],
    ["a key that is none", "__proto__.x=1", /write YAML/],
    ["too much", `a: ${"x".repeat(LONGEST_VALUES)}`, /more than/],
  ] as const)
    test(`is refused with ${what}`, () => {
      assert.throws(
        () => renderValues(template, cluster),
        (thrown) => thrown instanceof ValuesError && words.test(thrown.message),
      );
    });

  test("is read in the time that its length asks for, whatever stands in its braces", () => {
    const length = LONGEST_VALUES - 10;
    const open = `a: "{{${" ".repeat(length - 10)}"`;
    assert.equal(renderValues(open, cluster).document, open);
    const many = `a: "${"{{".repeat(length / 2 - 10)}"`;
    assert.equal(renderValues(many, cluster).document, many);
    assert.throws(() => renderValues(`a: {{${" ".repeat(length)}x}}`, cluster), /it may name/);
  });

  test("says where values of an object are none, and quotes nothing", () => {
    demandValues("a: b", "Secret extra");
    demandValues("", "Secret extra");
    // Helm takes it.
    demandValues("a: b\na: c", "Secret extra");
    assert.throws(() => demandValues("password: [hunter2", "Secret extra"), /^ValuesError: Secret extra is no YAML, line \d+$/);
    assert.throws(() => demandValues("hunter2", "Secret extra"), /^ValuesError: Secret extra holds no object of keys and values$/);
  });
});
