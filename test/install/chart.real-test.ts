// Genuine parts: helm, kubectl, promtool
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { parseKubernetesYaml } from "@talos-operator/kube-runtime/yaml";
import { tool } from "@talos-operator/adapters/testing";
import { must, run } from "../e2e/processes.ts";

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
    ["crds.except[0]=machine.vitistack.io", /crds\/except/],
    ["talos.version=1.13", /talos\/version/],
    ["customEndpoint=https://api.example.com", /customEndpoint/],
    ["networkPolicy.egressCIDRs[0]=10.0.0.1", /egressCIDRs/],
    ["machineRefRules[0].apiGroups[0]=,machineRefRules[0].resources[0]=secrets,machineRefRules[0].verbs[0]=list", /apiGroups/],
    ["machineRefRules[0].apiGroups[0]=*,machineRefRules[0].resources[0]=*,machineRefRules[0].verbs[0]=list", /apiGroups/],
    ["backup.scratch.size=much", /scratch\/size/],
    ["addons.scratchSize=much", /addons\/scratchSize/],
    ["backup.allowInsecureObjectStorge=true", /allowInsecureObjectStorge/],
    ["tracing.endpoint=collector:4318", /tracing\/endpoint/],
    ["metrics.enabled=false,metrics.serviceMonitor.enabled=true", /metrics\.serviceMonitor\.enabled/],
  ];
  for (const [value, says] of refused)
    it(`refuses ${value}`, async () => {
      const result = await run(tool("helm"), ["template", "x", chart, "--set", value]);
      assert.notEqual(result.code, 0);
      assert.match(result.stderr, says);
    });

  it("gives the Jobs of backups and of addons ServiceAccounts that nothing is bound to and that mount no token", async () => {
    const rendered = parseKubernetesYaml(await template()) as readonly {
      kind: string;
      metadata: { name: string };
      automountServiceAccountToken?: boolean;
      subjects?: readonly { name: string }[];
    }[];
    const bound = rendered.flatMap(({ subjects = [] }) => subjects.map(({ name }) => name));
    assert.ok(bound.length > 0);
    for (const end of ["-backup", "-addon"]) {
      const account = rendered.find(({ kind, metadata }) => kind === "ServiceAccount" && metadata.name.endsWith(end));
      assert.equal(account?.automountServiceAccountToken, false);
      assert.ok(!bound.includes(account.metadata.name));
    }
  });

  it("starts no Jobs of addons where addons are switched off", async () => {
    const rendered = await template("--set", "addons.enabled=false,networkPolicy.enabled=true");
    assert.match(rendered, /name: ADDON_JOB\n +value: ""\n/);
    assert.doesNotMatch(rendered, /-addon\b/);
  });

  it("takes a digest in place of a tag", async () => {
    assert.match(await template("--set", "image.tag=sha256:ab"), /image: "ghcr\.io\/vitistack\/talos-operator@sha256:ab"/);
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

  it("takes the endpoint for traces as a published chart writes it, once it is switched on", async () => {
    const given = ["--set", "tracing.otlpEndpoint=otel-collector:4318", "--set"];
    const switched = await template(...given, "tracing.enabled=true");
    assert.match(switched, /name: OTEL_EXPORTER_OTLP_ENDPOINT\n +value: "http:\/\/otel-collector:4318"\n/);
    assert.doesNotMatch(await template(...given, "tracing.enabled=false"), /OTEL_/);
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
});

describe("the folders of config", () => {
  /** What helm says about itself, and what it need not say. */
  const helmsOwn = new Set(["helm.sh/chart", "helm.sh/resource-policy", "automountServiceAccountToken"]);
  for (const word of ["instance", "version", "managed-by"]) helmsOwn.add(`app.kubernetes.io/${word}`);

  const without = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(without);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => !helmsOwn.has(key))
        .map(([key, inner]) => [key, without(inner)]),
    );
  };
  interface Rendered {
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly labels?: object; readonly annotations?: object };
  }
  const objectsOf = (text: string): ReadonlyMap<string, unknown> => {
    const objects = (parseKubernetesYaml(text) as readonly (Rendered | null)[]).filter((one) => one !== null);
    return new Map(
      objects.map((one) => {
        const { labels, annotations: _annotations, ...metadata } = one.metadata;
        // A monitor finds the Service by its labels.
        return [`${one.kind} ${metadata.name}`, without({ ...one, metadata, ...(one.kind === "Service" ? { labels } : {}) })];
      }),
    );
  };
  const kustomized = async (folder: string): Promise<ReadonlyMap<string, unknown>> =>
    objectsOf(await must(tool("kubectl"), ["kustomize", `config/${folder}`]));
  /** What the chart has is in a golden file. */
  const ofChart = async (...values: string[]): Promise<ReadonlyMap<string, unknown>> =>
    objectsOf(await helm("template", "talos-operator", chart, "--namespace", "talos-operator-system", ...values));

  it("default is what the chart installs with its defaults but for metrics, and a namespace that takes restricted pods alone (B114-B116)", async () => {
    const { "Namespace talos-operator-system": namespace, ...rest } = Object.fromEntries(await kustomized("default"));
    const { "Service talos-operator-metrics": _metrics, ...wanted } = Object.fromEntries(await ofChart());
    assert.deepEqual(rest, wanted);
    assert.equal(Object.keys(rest).filter((key) => key.startsWith("CustomResourceDefinition ")).length, 12);
    assert.ok(namespace !== undefined);
    assert.match(await must(tool("kubectl"), ["kustomize", "config/manager"]), /pod-security\.kubernetes\.io\/enforce: restricted/);
  });

  for (const [folder, value, names] of [
    ["prometheus", "metrics.serviceMonitor.enabled=true", ["Service talos-operator-metrics", "ServiceMonitor talos-operator"]],
    [
      "network-policy",
      "networkPolicy.enabled=true",
      ["NetworkPolicy talos-operator", "NetworkPolicy talos-operator-addon", "NetworkPolicy talos-operator-backup"],
    ],
  ] as const)
    it(`${folder} is what the chart adds with ${value} (B117, B118)`, async () => {
      const objects = await kustomized(folder);
      assert.deepEqual([...objects.keys()], names);
      const wanted = await ofChart("--set", value);
      for (const [key, object] of objects) assert.deepEqual(object, wanted.get(key), key);
    });

  it("are what make lists, and make docker-build builds the image IMG (B143)", async () => {
    const listed = await must("make", ["help"]);
    for (const target of ["install", "deploy", "undeploy", "run", "test", "docker-build", "manifests", "generate"])
      assert.match(listed, new RegExp(`^(?:[a-z-]+ )*${target}(?: [a-z-]+)*\\s`, "m"));
    const built = await must("make", ["--silent", "docker-build", "CONTAINER_TOOL=echo", "IMG=registry.example.com/a:7"]);
    assert.equal(built, "build -t registry.example.com/a:7 .\n");
    const called = await must("make", ["--dry-run", "--silent", "run", "test", "manifests", "generate", "KUBECONFIG=/a"]);
    assert.deepEqual(called.trim().split("\n"), [
      "npm run talos-operator -- manager --kubeconfig ${KUBECONFIG:-$HOME/.kube/config}",
      "npm test",
      "npm run generate",
      "npm run generate",
    ]);
  });
});
