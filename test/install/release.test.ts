import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { describe, it } from "node:test";
import { parseKubernetesYaml } from "@talos-operator/kube-runtime/yaml";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const version = (JSON.parse(read("package.json")) as { version: string }).version;
const chart = parseKubernetesYaml(read("charts/talos-operator/Chart.yaml"))[0] as Record<string, string>;
const values = parseKubernetesYaml(read("charts/talos-operator/values.yaml"))[0] as Record<string, Record<string, unknown>>;

describe("what is released", () => {
  it("is one version everywhere (A074)", () => {
    assert.deepEqual([chart["version"], chart["appVersion"]], [version, version]);
    assert.match(read("Makefile"), new RegExp(`^IMG \\?= ghcr\\.io/vitistack/talos-operator:${version}$`, "m"));
    assert.match(read("config/manager/manager.yaml"), new RegExp(`image: ghcr\\.io/vitistack/talos-operator:${version}$`, "m"));
    assert.match(read("packages/cli/src/main.ts"), new RegExp(`VERSION = "${version}"`));
  });

  it("has the defaults of the contract (A073-A080)", () => {
    assert.equal(values["image"]?.["repository"], "ghcr.io/vitistack/talos-operator");
    assert.equal(values["image"]?.["pullPolicy"], "IfNotPresent");
    assert.equal(values["replicaCount"], 1);
    assert.deepEqual(values["resources"], { limits: { cpu: "500m", memory: "128Mi" }, requests: { cpu: "10m", memory: "64Mi" } });
  });

  it("has the CRDs of config/crd in the chart, and the same rules in both roles", () => {
    const listed = (folder: string): readonly string[] =>
      readdirSync(new URL(`../../${folder}`, import.meta.url)).filter((file) => file.endsWith(".yaml"));
    assert.deepEqual(listed("charts/talos-operator/files/crds").toSorted(), listed("config/crd").toSorted());
    for (const file of listed("config/crd")) {
      const [crd] = parseKubernetesYaml(read(`config/crd/${file}`)) as readonly { metadata: object }[];
      const kept = { ...crd, metadata: { ...crd?.metadata, annotations: { "helm.sh/resource-policy": "keep" } } };
      assert.deepEqual(parseKubernetesYaml(read(`charts/talos-operator/files/crds/${file}`))[0], kept, file);
    }
    const { properties } = JSON.parse(read("charts/talos-operator/values.schema.json")) as {
      properties: { crds: { properties: { except: { items: { enum: string[] } } } } };
    };
    const names = listed("config/crd").map((file) => file.replace(/^(.+)_(.+)\.yaml$/, "$2.$1"));
    assert.deepEqual(properties.crds.properties.except.items.enum.toSorted(), names.toSorted());
    const rules = (text: string): readonly string[] =>
      [...text.matchAll(/^ *- (apiGroups: .*)\n *(resources: .*)\n *(verbs: .*)$/gm)].map(([, a, b, c]) => `${a} ${b} ${c}`);
    assert.deepEqual(rules(read("charts/talos-operator/templates/_rules.tpl")), rules(read("config/rbac/role.yaml")));
    assert.ok(rules(read("config/rbac/role.yaml")).length > 10);
  });

  it("comes from workflows that test every commit, release on a tag, sign, and look for known faults (A114-A119)", () => {
    for (const file of readdirSync(new URL("../../.github/workflows", import.meta.url))) {
      const [workflow] = parseKubernetesYaml(read(`.github/workflows/${file}`)) as readonly { permissions?: object; jobs?: object }[];
      assert.deepEqual(workflow?.permissions, { contents: "read" }, `${file} has more rights than reading`);
      assert.ok(Object.keys(workflow.jobs ?? {}).length > 0, file);
      for (const [, used = ""] of read(`.github/workflows/${file}`).matchAll(/uses: (.*)/g))
        assert.match(used, /^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, `${file}: a tag can be moved, a commit cannot`);
    }
    assert.match(read(".github/workflows/ci.yml"), /run: \.ci\/run$[^]*run: npm run night /m);
    const release = read(".github/workflows/release.yml");
    for (const part of [
      /tags: \["v\*\.\*\.\*"\]/,
      /IMAGE: ghcr\.io\/vitistack\/talos-operator/,
      /CHARTS: ghcr\.io\/vitistack\/helm/,
      /sbom: true/,
    ])
      assert.match(release, part);
    assert.equal(release.match(/cosign sign --yes/g)?.length, 2);
    assert.match(read(".github/workflows/codeql.yml"), /codeql-action\/analyze/);
    assert.match(read(".github/workflows/audit.yml"), /npm audit --omit=dev/);
    const { updates } = parseKubernetesYaml(read(".github/dependabot.yml"))[0] as { updates: { "package-ecosystem": string }[] };
    assert.deepEqual(updates.map((one) => one["package-ecosystem"]).toSorted(), ["docker", "github-actions", "gomod", "npm"]);
  });

  it("asks only for metrics that there are", () => {
    const known = new Set([...read("docs/reference/metrics.md").matchAll(/^\| `(\S+)` +\|/gm)].map(([, name]) => name));
    const dashboard = JSON.parse(read("charts/talos-operator/files/dashboard.json")) as { panels: { targets: { expr: string }[] }[] };
    const alerts = parseKubernetesYaml(read("charts/talos-operator/files/alerts.yaml"))[0] as { groups: { rules: { expr: string }[] }[] };
    const queries = [
      ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
      ...alerts.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
    ];
    for (const query of queries)
      for (const [name] of query.matchAll(/\b(?:talos_operator|kube_runtime|workqueue|rest_client|leader_election|process|nodejs)_\w+/g))
        assert.ok(known.has(name.replace(/_(bucket|count|sum)$/, "")), `${name} in ${query}`);
    assert.ok(queries.length > 20);
  });

  it("says with each alert where its runbook is", () => {
    const alerts = parseKubernetesYaml(read("charts/talos-operator/files/alerts.yaml"))[0] as {
      groups: { rules: { alert: string; annotations: { runbook_url?: string } }[] }[];
    };
    for (const { alert, annotations } of alerts.groups.flatMap(({ rules }) => rules)) {
      const [, file] =
        /^https:\/\/github\.com\/vitistack\/talos-operator\/blob\/main\/(docs\/runbooks\/[\w-]+\.md)$/.exec(
          annotations.runbook_url ?? "",
        ) ?? [];
      assert.ok(file !== undefined, alert);
      assert.match(read(file), new RegExp(`${alert}|ConfigDrift|control plane`), alert);
    }
  });

  it("explains every value of the chart", () => {
    const documented = [...read("charts/talos-operator/README.md").matchAll(/^\| `([\w.]+)` \|/gm)].map(([, path = ""]) => path);
    const schema = JSON.parse(read("charts/talos-operator/values.schema.json")) as { properties: Record<string, unknown> };
    for (const path of documented) assert.ok((path.split(".")[0] ?? "") in schema.properties, path);
    assert.ok(documented.includes("machineRefNamespaces") && documented.includes("metrics.serviceMonitor.interval"));
  });
});
