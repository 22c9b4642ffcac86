import assert from "node:assert/strict";
import { test } from "node:test";
import type { HelmSpec } from "@talos-operator/api";
import { validateRelease } from "./validate-release.ts";

const good: HelmSpec = { chartName: "cilium", repoURL: "https://helm.cilium.io", releaseName: "cilium", namespace: "kube-system" };
const fieldsOf = (over: Partial<HelmSpec>, allowPlainText = false): readonly string[] =>
  validateRelease(
    { metadata: { name: "demo", namespace: "team" }, spec: { clusterRef: { name: "demo" }, helmSpec: { ...good, ...over } } },
    { allowPlainText },
  ).map(({ field }) => field.replace("spec.helmSpec.", ""));

const cases: readonly [string, Partial<HelmSpec>, readonly string[]][] = [
  ["a chart of a repository", {}, []],
  ["a chart of a registry", { repoURL: "oci://ghcr.io/org/charts" }, []],
  ["no release name", { releaseName: "" }, []],
  ["a time as Go writes it", { options: { timeout: "5m0s" } }, []],
  ["a repository by http", { repoURL: "http://charts.example.org" }, ["repoURL"]],
  ["a file", { repoURL: "file:///etc" }, ["repoURL"]],
  ["no address", { repoURL: "example" }, ["repoURL"]],
  ["a password in the address", { repoURL: "https://me:secret@charts.example.org" }, ["repoURL"]],
  ["a chart that is a path", { chartName: "../x" }, ["chartName"]],
  ["a chart that looks like a flag", { chartName: "--debug" }, ["chartName"]],
  ["a release name that is too long", { releaseName: "a".repeat(54) }, ["releaseName"]],
  ["a release name in capitals", { releaseName: "Cilium" }, ["releaseName"]],
  ["a namespace that is none", { namespace: "kube_system" }, ["namespace"]],
  ["a version that is none", { version: "1.0; rm" }, ["version"]],
  ["a time that is none", { options: { timeout: "soon" } }, ["options.timeout"]],
  ["a time of a day", { options: { timeout: "24h" } }, ["options.timeout"]],
  ["a negative history", { options: { upgrade: { maxHistory: -1 } } }, ["options.upgrade.maxHistory"]],
  ["values of 5 MiB", { values: { text: "x".repeat(5 * 2 ** 20) } }, ["values"]],
  [
    "a password elsewhere",
    { credentials: { key: "password", secret: { name: "s", namespace: "other" } } },
    ["credentials.secret.namespace"],
  ],
  ["a password here", { credentials: { key: "password", secret: { name: "s", namespace: "team" } } }, []],
  ["an authority elsewhere", { tlsConfig: { caSecret: { name: "s", namespace: "other" } } }, ["tlsConfig.caSecret.namespace"]],
];
for (const [what, over, fields] of cases) test(`a release with ${what}`, () => assert.deepEqual(fieldsOf(over), fields));

test("http is taken where the operator allows it", () => assert.deepEqual(fieldsOf({ repoURL: "http://127.0.0.1:9444" }, true), []));

test("a certificate that is not to be checked is taken where the operator allows it alone", () => {
  const unchecked = { tlsConfig: { insecureSkipTLSVerify: true } };
  assert.deepEqual(fieldsOf(unchecked), ["tlsConfig.insecureSkipTLSVerify"]);
  const release = { metadata: { name: "demo" }, spec: { clusterRef: { name: "demo" }, helmSpec: { ...good, ...unchecked } } };
  assert.deepEqual(validateRelease(release, { allowUnchecked: true }), []);
  const [finding] = validateRelease(release);
  assert.match(finding?.remedy ?? "", /tlsConfig\.caSecret, or start the operator with --allow-insecure-chart-repositories$/);
});

test("a refusal quotes nothing of a password", () => {
  const [finding] = validateRelease({
    metadata: { name: "demo", namespace: "team" },
    spec: { clusterRef: { name: "demo" }, helmSpec: { ...good, repoURL: "https://me:hunter2@charts.example.org" } },
  });
  assert.doesNotMatch(JSON.stringify(finding), /hunter2/);
});
