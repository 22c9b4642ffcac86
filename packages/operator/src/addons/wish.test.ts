import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosClusterAddonReleaseSpec } from "@talos-operator/api";
import { wishOf } from "./wish.ts";

const spec: TalosClusterAddonReleaseSpec = {
  clusterRef: { name: "demo" },
  helmSpec: { chartName: "web", repoURL: "https://charts.example.org", options: { timeout: "5m" } },
};
const inputsOf = (
  over: Partial<TalosClusterAddonReleaseSpec>,
  values: readonly string[] = [],
  kubernetes = "v1.34.1",
): string | undefined => wishOf({ ...spec, ...over }, values, kubernetes, undefined, false)?.inputs;
const helm = (over: object): Partial<TalosClusterAddonReleaseSpec> => ({
  helmSpec: { chartName: "web", repoURL: "https://charts.example.org", ...over },
});

describe("what a revision is made of", () => {
  const first = inputsOf({});

  for (const [what, inputs] of [
    ["other values", inputsOf({}, ["a: 1"])],
    ["labels of the namespace", inputsOf({ namespaceLabels: { "pod-security.kubernetes.io/enforce": "privileged" } })],
    ["another minor version of Kubernetes", inputsOf({}, [], "v1.35.0")],
    ["another version of the chart", inputsOf(helm({ version: "2.0.0" }))],
    ["another repository", inputsOf(helm({ repoURL: "https://other.example.org" }))],
    ["hooks that are left out", inputsOf(helm({ options: { disableHooks: true } }))],
  ] as const)
    test(`is another one with ${what}`, () => assert.notEqual(inputs, first));

  for (const [what, inputs] of [
    ["another time-out", inputsOf(helm({ options: { timeout: "10m" } }))],
    ["another patch version of Kubernetes", inputsOf({}, [], "v1.34.9")],
    ["another access to the repository", inputsOf(helm({ credentials: { secret: { name: "a" }, key: "b" } }))],
  ] as const)
    test(`is the same with ${what}`, () => assert.equal(inputs, first));
});
