// Genuine parts: etcd, helm, kube-apiserver, kubectl
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type GenuineApi, KUBECTL_WAITS, startGenuineApi, tool } from "@talos-operator/adapters/testing";
import { must, run, startCommand, startOurs, temporaryFolder, type Running } from "../e2e/processes.ts";

const namespace = "talos-operator-system";
const account = `system:serviceaccount:${namespace}:talos-operator-controller-manager`;
const main = "packages/cli/src/main.ts";

/**
 * The chart on a genuine kube-apiserver with RBAC and the strict check of owner references, as OpenShift has it. Nothing runs pods here, so the operator is
 * a process of ours with the token of the chart's service account and the rights that the chart gives it.
 */
describe("the chart on a genuine Kubernetes API", () => {
  const folder = temporaryFolder();
  let api: GenuineApi;
  let kubeconfig = "";
  let simulator: Running;
  let manager: Running | undefined;
  const kubectl = (...args: string[]): Promise<string> => must(tool("kubectl"), ["--kubeconfig", kubeconfig, ...args]);
  const helm = (command: string, ...args: string[]): Promise<string> =>
    must(tool("helm"), [command, "talos-operator", ...args, "--namespace", namespace, "--kubeconfig", kubeconfig]);
  const chart = "charts/talos-operator";

  before(async () => {
    api = await startGenuineApi({ flags: ["--enable-admission-plugins=OwnerReferencesPermissionEnforcement"] });
    ({ kubeconfig } = api);
    simulator = startOurs("simulator", "--data-dir", join(folder.path, "machines"), "--log-level", "warn", "--pace", "instant");
    await simulator.says(/8 machines wait/);
  });

  after(async () => {
    await manager?.end();
    await simulator?.end();
    await api?.stop();
    folder[Symbol.dispose]();
  });

  it("installs by the command of the page for newcomers, with CRDs that stay", async () => {
    const [, words = ""] = /^ *(helm install [^`]+?)\n *```$/m.exec(readFileSync("docs/getting_started.md", "utf8")) ?? [];
    await must("sh", ["-c", words.replace(/^helm/, '"$HELM"')], { env: { ...process.env, HELM: tool("helm"), KUBECONFIG: kubeconfig } });
    const image = "jsonpath={.spec.template.spec.containers[0].image}";
    assert.equal(
      await kubectl("get", "deployment", "talos-operator", "-n", namespace, "-o", image),
      "registry.example.com/talos-operator:0.1.0",
    );
    await kubectl("wait", "--for=condition=Established", "crd", "--all", KUBECTL_WAITS);
    const kept = await kubectl("get", "crd", "-o", "jsonpath={.items[*].metadata.annotations.helm\\.sh/resource-policy}");
    assert.ok(kept.split(" ").length >= 7 && kept.split(" ").every((word) => word === "keep"), kept);
  });

  it("runs a pod that a restricted namespace takes", async () => {
    await kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted");
    const template = await kubectl("get", "deployment", "talos-operator", "-n", namespace, "-o", "jsonpath={.spec.template}");
    const { metadata, spec } = JSON.parse(template) as { metadata: object; spec: object };
    const pod = join(folder.path, "pod.json");
    writeFileSync(pod, JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name: "x", namespace }, spec }));
    await kubectl("create", "--dry-run=server", "-f", pod);
  });

  it("gives the operator Secrets by name, and never a list of them", async () => {
    const can = async (verb: string, resource: string): Promise<string> =>
      (await run(tool("kubectl"), ["--kubeconfig", kubeconfig, "auth", "can-i", verb, resource, "--as", account])).stdout.trim();
    assert.deepEqual(await Promise.all(["get", "create", "update", "delete"].map((verb) => can(verb, "secrets"))), Array(4).fill("yes"));
    assert.deepEqual(
      await Promise.all(["list", "watch", "patch", "deletecollection"].map((verb) => can(verb, "secrets"))),
      Array(4).fill("no"),
    );
    assert.deepEqual(
      await Promise.all([
        can("create", "pods"),
        can("get", "nodes"),
        can("update", "customresourcedefinitions"),
        can("bind", "clusterroles"),
      ]),
      Array(4).fill("no"),
    );
  });

  it("makes no cluster while one rule is missing, and says which", async () => {
    const role = JSON.parse(await kubectl("get", "clusterrole", "talos-operator", "-o", "json")) as { rules: { resources: string[] }[] };
    const rules = role.rules.filter(({ resources }) => !resources.includes("clusterrecords"));
    assert.equal(rules.length, role.rules.length - 1);
    await kubectl("patch", "clusterrole", "talos-operator", "--type=merge", "-p", JSON.stringify({ rules }));
    manager = await startManager();
    await kubectl("apply", "-f", "examples/first-cluster/cluster.yaml");
    const told = "jsonpath={.status.conditions[*].message}";
    await kubectl("wait", "taloscontrolplane/first", "--for=create", KUBECTL_WAITS);
    await kubectl("wait", "taloscontrolplane/first", "--for=jsonpath={.status.conditions[?(@.type=='Ready')].status}", KUBECTL_WAITS);
    const [message, state] = await Promise.all([
      kubectl("get", "taloscontrolplane", "first", "-o", told),
      kubectl("get", "taloscontrolplane", "first", "-o", "jsonpath={.status.conditions[?(@.type=='Ready')].status}"),
    ]);
    assert.notEqual(state, "True");
    assert.match(message, /FORBIDDEN/);
  });

  it("gives the rule back on an upgrade, and exactly the chart's rights are enough for a first cluster", async () => {
    await helm("upgrade", chart, "--force-conflicts");
    await kubectl("wait", "--for=condition=Ready", "talosclusters", "--all", KUBECTL_WAITS);
    const settled = "--for=jsonpath={.status.conditions[?(@.type=='Progressing')].reason}=Settled";
    await kubectl("wait", settled, "talosclusters", "--all", KUBECTL_WAITS);
    assert.equal((await nodes()).length, 6);
  });

  it("upgrades with other values without touching a machine", async () => {
    const before = await traces();
    await helm("upgrade", chart, "--set", "replicaCount=2,logLevel=debug,metrics.enabled=false,rbac.detectOtherOperators=false");
    assert.match(await kubectl("get", "deployment", "talos-operator", "-n", namespace, "-o", "jsonpath={.spec.replicas}"), /^2$/);
    assert.doesNotMatch(await kubectl("get", "clusterrole", "talos-operator", "-o", "json"), /deployments/);
    assert.deepEqual(await traces(), before);
  });

  it("uninstalls without touching a machine, an object or a CRD", async () => {
    await manager?.end();
    const before = await traces();
    await helm("uninstall");
    assert.deepEqual(await traces(), before);
    assert.equal((await run(tool("kubectl"), ["--kubeconfig", kubeconfig, "get", "clusterrole", "talos-operator"])).code, 1);
    for (const node of await nodes()) assert.match(node, /\sReady\s/);
  });

  it("installs again over what stayed, and the operator goes on where it was", async () => {
    const before = await traces();
    await helm("install", chart);
    manager = await startManager();
    await manager.says(/Became leader/);
    await kubectl("wait", "--for=condition=Ready", "talosclusters", "--all", KUBECTL_WAITS);
    assert.deepEqual((await traces()).boots, before.boots);
    await manager.end();
    await helm("uninstall");
  });

  it("can be replaced by make deploy, and undeploy leaves CRDs and clusters", async () => {
    const make = (...args: string[]): Promise<string> => must("make", [...args, `KUBECTL=${tool("kubectl")} --kubeconfig=${kubeconfig}`]);
    await make("install");
    await make("deploy", "IMG=registry.example.com/talos-operator:7");
    const image = "jsonpath={.spec.template.spec.containers[0].image}";
    assert.equal(
      await kubectl("get", "deployment", "talos-operator", "-n", namespace, "-o", image),
      "registry.example.com/talos-operator:7",
    );
    for (const role of ["clusterrole/talos-operator", "clusterrolebinding/talos-operator-manager-rolebinding"]) await kubectl("get", role);
    const before = await traces();
    await make("undeploy");
    assert.deepEqual(await traces(), before);
  });

  /** The operator with the token of the chart's service account. */
  async function startManager(): Promise<Running> {
    const token = (await kubectl("create", "token", "talos-operator-controller-manager", "-n", namespace, "--duration=1h")).trim();
    const text = readFileSync(kubeconfig, "utf8").replace(/^users:.*$/m, `users: [{name: admin, user: {token: ${token}}}]`);
    const path = join(folder.path, "operator.kubeconfig");
    writeFileSync(path, text, { mode: 0o600 });
    assert.match(await must(tool("kubectl"), ["--kubeconfig", path, "auth", "whoami"]), new RegExp(account));
    return startCommand(
      process.execPath,
      [
        main,
        "manager",
        "--kubeconfig",
        path,
        "--lease-namespace",
        namespace,
        "--allow-loopback-machines",
        "--metrics-bind-address=0",
        "--health-probe-bind-address=0",
      ],
      { ...process.env, RESULTS_PATH: join(folder.path, "results") },
    );
  }

  /** What a touched machine or object would show: boots of the machines, specs and states of the objects. */
  async function traces(): Promise<{ readonly boots: string; readonly objects: string }> {
    const kinds = "talosclusters,taloscontrolplanes,talosworkers,talosmachines,clusterrecords,secrets";
    const columns = "jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.uid} {.metadata.generation} {.status.state}{'\\n'}{end}";
    const objects = await kubectl("get", kinds, "-n", "default", "-o", columns);
    const machines = join(folder.path, "machines", "machines");
    const boots = readdirSync(machines).map(
      (file) => JSON.parse(readFileSync(join(machines, file), "utf8")) as { readonly bootId: string },
    );
    assert.equal(boots.length, 8);
    return { boots: boots.map(({ bootId }) => bootId).join(" "), objects };
  }

  async function nodes(): Promise<readonly string[]> {
    const text = await must(tool("kubectl"), ["--kubeconfig", await clusterKubeconfig(), "get", "nodes", "--no-headers"]);
    return text.trim().split("\n");
  }

  async function clusterKubeconfig(): Promise<string> {
    const data = JSON.parse(await kubectl("get", "secret", "first-kubeconfig", "-o", "jsonpath={.data}")) as Record<string, string>;
    const path = join(folder.path, "kubeconfig");
    writeFileSync(path, Buffer.from(Object.values(data)[0] ?? "", "base64"), { mode: 0o600 });
    return path;
  }
});
