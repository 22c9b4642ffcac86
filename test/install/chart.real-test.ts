import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { must, run, tool } from "../e2e/processes.ts";

const testdata = fileURLToPath(new URL("testdata/", import.meta.url));
const chart = "charts/talos-operator";
const helm = (...args: string[]): Promise<string> => must(tool("helm"), args);
/** Without the CRDs, which are compared with their source elsewhere. */
const template = (...args: string[]): Promise<string> =>
  helm("template", "talos-operator", chart, "--namespace", "talos-operator-system", "--set", "crds.install=false", ...args);

/** Compares with a golden file; `UPDATE_GOLDENS=1` writes it. */
function equalsGolden(name: string, text: string): void {
  const path = join(testdata, name);
  if (process.env["UPDATE_GOLDENS"] === "1") writeFileSync(path, text);
  assert.equal(text, readFileSync(path, "utf8"));
}

describe("the chart", () => {
  it("passes helm's lint, strictly", async () => {
    await helm("lint", "--strict", chart);
  });

  it("renders as before with its defaults", async () => equalsGolden("defaults.yaml", await template()));

  it("renders as before with everything switched on", async () =>
    equalsGolden("everything.yaml", await template("--values", join(testdata, "everything.values.yaml"))));

  it("leaves out rights that a value switches off", async () => {
    const rendered = await template("--set", "rbac.detectOtherOperators=false");
    assert.doesNotMatch(rendered, /deployments/);
  });

  const refused: readonly (readonly [string, RegExp])[] = [
    ["logLevl=info", /logLevl/],
    ["logLevel=loud", /logLevel/],
    ["replicaCount=-1", /replicaCount/],
    ["metrics.port=0", /port/],
    ["image.pullPolicy=Sometimes", /pullPolicy/],
  ];
  for (const [value, says] of refused)
    it(`refuses ${value}`, async () => {
      const result = await run(tool("helm"), ["template", "x", chart, "--set", value]);
      assert.notEqual(result.code, 0);
      assert.match(result.stderr, says);
    });

  it("takes the values of both published charts, and puts into effect those that have one here", async () => {
    const rendered = await helm("template", "talos-operator", chart, "--values", join(testdata, "peers.values.yaml"));
    assert.doesNotMatch(rendered, /CustomResourceDefinition/);
    for (const [name, value] of [
      ["MAX_CONCURRENT_RECONCILES", '"5"'],
      ["ENDPOINT_MODE", '"talosvip"'],
      ["TALOS_VERSION", '"v1.13.9"'],
      ["DEFAULT_KUBERNETES_VERSION", '"1.36.3"'],
      ["LOG_LEVEL", "info"],
    ])
      assert.match(rendered, new RegExp(`name: ${name}\\n +value: ${value}\\n`));
  });

  it("refuses what they ask for and is not built, all at once", async () => {
    const unbuilt = [
      "ui.enabled=true",
      "tracing.enabled=true",
      "featureFlags.enablePxeBootStack=true",
      "ingress.enabled=true",
      "autoscaling.enabled=true",
      "secretPrefix=a",
      "tenant.configMapName=a",
      "talos.predictableNetworkNames=false",
      "talos.extensionEnforceEnabled=true",
      "talos.versionEnforceEnabled=true",
    ];
    const result = await run(tool("helm"), ["template", "x", chart, "--set", unbuilt.join(",")]);
    assert.notEqual(result.code, 0);
    for (const value of unbuilt) assert.match(result.stderr, new RegExp(`- ${value.split("=")[0]}`));
  });

  it("has alerts that promtool takes, and that fire when they should", async () => {
    await must(tool("promtool"), ["check", "rules", `${chart}/files/alerts.yaml`]);
    await must(tool("promtool"), ["test", "rules", join(testdata, "alerts.test.yaml")]);
  });

  it("gives the operator the pod that config/manager gives it", async () => {
    const kustomized = await must(tool("kubectl"), ["kustomize", "config/default"]);
    const pod = (text: string): string => {
      const deployment = text.split(/^---$/m).find((one) => /^kind: Deployment$/m.test(one)) ?? "";
      return deployment.slice(deployment.indexOf("serviceAccountName"));
    };
    const json = async (text: string): Promise<unknown> => {
      const { parseKubernetesYaml } = await import("@talos-operator/kube-runtime/yaml");
      const deployment = parseKubernetesYaml(text).find((one) => (one as { kind?: string } | null)?.kind === "Deployment");
      return (deployment as { spec: { template: { spec: unknown } } }).spec.template.spec;
    };
    assert.notEqual(pod(kustomized), "");
    assert.deepEqual(await json(kustomized), await json(await template()));
  });
});
