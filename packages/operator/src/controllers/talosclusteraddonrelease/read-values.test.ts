import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { labels } from "@talos-operator/api";
import type { HelmSpec } from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { ClusterValues } from "../../addons/values-template.ts";
import { readAccess, readValues } from "./read-values.ts";

const facts = { Name: "demo" } as ClusterValues;
const chart: HelmSpec = { chartName: "web", repoURL: "https://charts.example.org" };
const base64 = (text: string): string => Buffer.from(text).toString("base64");

interface Given {
  readonly data: Readonly<Record<string, string>>;
  readonly type?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Objects by `<plural>/<namespace>/<name>`. */
function clientWith(objects: Readonly<Record<string, Given>>): KubeClient {
  const resource = ({ plural }: { readonly plural: string }) => ({
    tryGet({ namespace, name }: { readonly namespace: string; readonly name: string }) {
      const found = objects[`${plural}/${namespace}/${name}`];
      return Promise.resolve(found === undefined ? undefined : { ...found, metadata: { namespace, name, labels: found.labels ?? {} } });
    },
  });
  return { resource } as unknown as KubeClient;
}

describe("values", () => {
  const client = clientWith({
    "secrets/team/first": { data: { "values.yaml": base64("a: first") } },
    "configmaps/team/second": { data: { "values.yaml": "a: second" } },
    "secrets/other/theirs": { data: { "values.yaml": base64("a: theirs") } },
  });

  test("are in the order in which they win: the template, what objects hold, the spec's own", async () => {
    const valuesFrom = [
      { kind: "Secret", name: "first" },
      { kind: "ConfigMap", name: "second" },
    ] as const;
    const read = await readValues(
      { ...chart, valuesTemplate: "a: {{ .Cluster.Name }}", valuesFrom, values: { a: 1 } },
      facts,
      "team",
      client,
    );
    assert.deepEqual(read.kind === "read" ? read.value.documents : read, ["a: demo", "a: first", "a: second", '{"a":1}']);
  });

  test("come from the namespace of the release, wherever the chart goes", async () => {
    const read = await readValues(
      { ...chart, namespace: "other", valuesFrom: [{ kind: "Secret", name: "theirs" }] },
      facts,
      "team",
      client,
    );
    assert.deepEqual(read, {
      kind: "missing",
      reason: "ValuesNotFound",
      message: "Secret theirs not found. It is read from the namespace team: make it there.",
    });
  });

  test("are refused where all of them together do not fit into the Secret of a worker, each by itself though it would", async () => {
    const half = base64(`a: ${"x".repeat(500_000)}`);
    const large = clientWith({ "secrets/team/a": { data: { "values.yaml": half } }, "secrets/team/b": { data: { "values.yaml": half } } });
    const valuesFrom = ["a", "b"].map((name) => ({ kind: "Secret", name }) as const);
    const both = await readValues({ ...chart, valuesFrom }, facts, "team", large);
    assert.match(both.kind === "missing" ? `${both.reason}: ${both.message}` : "", /^ValuesRefused: All values together have 1\d{6} bytes/);
    const quotes = await readValues({ ...chart, values: { a: '"'.repeat(400_000) } }, facts, "team", large);
    assert.equal(quotes.kind, "missing", "counted as they travel");
    assert.equal((await readValues({ ...chart, valuesFrom: valuesFrom.slice(0, 1) }, facts, "team", large)).kind, "read");
  });

  for (const [what, given] of [
    ["the keys of a cluster", { labels: { [labels.secretKind]: "bundle" } }],
    ["what a worker of addons was given, the access to another cluster", { labels: { [labels.component]: "addon" } }],
    ["what a worker of backups was given", { labels: { [labels.component]: "backup" } }],
    ["the token of a service account", { type: "kubernetes.io/service-account-token" }],
    ["what Helm keeps", { type: "helm.sh/release.v1" }],
  ] as const)
    test(`are never ${what}`, async () => {
      const data = { "values.yaml": base64("a: hunter2"), password: base64("hunter2"), "ca.crt": base64("-----BEGIN CERTIFICATE-----") };
      const theirs = clientWith({ "secrets/team/keys": { data, ...given } });
      const secret = { name: "keys" };
      for (const read of [
        await readValues({ ...chart, valuesFrom: [{ kind: "Secret", name: "keys" }] }, facts, "team", theirs),
        await readAccess({ ...chart, credentials: { secret, key: "password" } }, "team", theirs),
      ]) {
        assert.equal(read.kind, "missing");
        assert.match(read.kind === "missing" ? read.message : "", /^Secret keys is of another use/);
      }
    });
});
