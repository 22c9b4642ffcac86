// Genuine parts: kubectl, talosctl
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { HANGS_AFTER_MS, KUBECTL_WAITS, ownAddress, tool } from "@talos-operator/adapters/testing";
import { must, run, startCommand, startOurs, temporaryFolder, type CommandResult, type Running } from "./processes.ts";

const FLAGS = ["--listen", `${ownAddress()}:6443`];

describe("npm start", () => {
  const startIn = (folder: string, seconds: number): Promise<CommandResult> => {
    const until = ["--exit-when-ready", "--timeout", String(seconds), "--first-address", "127.20.3.1"];
    return run("npm", ["start", "--silent", "--", ...until, "--no-persist", "--data-dir", folder, ...FLAGS]);
  };

  it("exits 0 as soon as everything is Ready, and says how to reach it", async () => {
    using folder = temporaryFolder();
    const result = await startIn(folder.path, HANGS_AFTER_MS / 1_000);
    assert.equal(result.code, 0, result.stderr);
    assert.match(result.stdout, /export KUBECONFIG=/);
    assert.match(result.stdout, /talosctl --talosconfig/);
    assert.match(result.stderr, /Ready after/);
    // Where the first machine was told to be, and the endpoint behind it.
    const config = (name: string): string => readFileSync(join(folder.path, "clusters", "default", "first", name), "utf8");
    assert.match(config("kubeconfig"), /server: https:\/\/127\.20\.3\.100:6443/);
    assert.match(config("talosconfig"), /- 127\.20\.3\.1\b/);
  });

  it("exits non-zero and names what it still waits for when time is up", async () => {
    using folder = temporaryFolder();
    const result = await startIn(folder.path, 0.001);
    assert.notEqual(result.code, 0);
    assert.match(result.stderr, /not Ready after 0\.001 s; still waits for:\n {2}- \S+/);
  });
});

describe("the demo, with genuine clients", () => {
  const folder = temporaryFolder();
  let demo: Running;
  const kubeconfig = join(folder.path, "kubeconfig");
  const kubectl = (...args: string[]): Promise<string> => must(tool("kubectl"), ["--kubeconfig", kubeconfig, ...args]);
  const tryKubectl = (...args: string[]): Promise<CommandResult> => run(tool("kubectl"), ["--kubeconfig", kubeconfig, ...args]);
  const cluster = (): { name: string; kubeconfig: string; talosconfig: string } => {
    const [name = ""] = readdirSync(join(folder.path, "clusters", "default"));
    const file = (kind: string): string => join(folder.path, "clusters", "default", name, kind);
    return { name, kubeconfig: file("kubeconfig"), talosconfig: file("talosconfig") };
  };
  const talosctl = (...args: string[]): Promise<string> =>
    must(tool("talosctl"), ["--talosconfig", cluster().talosconfig, "-n", "127.1.0.1", ...args]);

  before(async () => {
    demo = startOurs("demo", "--data-dir", folder.path, ...FLAGS);
    await demo.says(/Ctrl-C stops it/);
  });
  after(async () => {
    await demo.end();
    folder[Symbol.dispose]();
  });

  const columns: readonly [string, RegExp][] = [
    [
      "talosclusters",
      /^NAME\s+READY\s+STATUS\s+MACHINES\s+UPGRADED\s+VERSION\s+KUBEVERSION\s+AGE\n\S+\s+True\s+\w+\s+6\/6\s+v1\.\d+\.\d+\s+v1\.\d+\.\d+\s/,
    ],
    ["taloscontrolplanes", /^NAME\s+STATE\s+VERSION\s+KUBEVERSION\s+MODE\s+AGE\s+READY\s+STATUS\s+MACHINES\s+UPGRADED\n/],
    ["talosworkers", /^NAME\s+STATE\s+VERSION\s+MODE\s+AGE\s+READY\s+STATUS\s+MACHINES\s+UPGRADED\n/],
    ["talosmachines", /^NAME\s+STATE\s+VERSION\s+ENDPOINT\s+AGE\s+ROLE\s+READY\s+STATUS\s+UPGRADE\n/],
  ];
  it("kubectl get talos lists every kind", async () => {
    const names = await kubectl("get", "talos", "-o", "name");
    for (const kind of ["clusterrecord", "taloscluster", "taloscontrolplane", "talosworker", "talosmachine"])
      assert.match(names, new RegExp(`^${kind}\\.`, "m"));
    assert.match(
      await kubectl("get", "talosmachines", "-o", "wide"),
      /^NAME.*\sROLE\s+READY\s+STATUS\s+UPGRADE\s+CLUSTER\s+POOL\s+NODE\s+STAGE\s+TO\n/,
    );
    const workers = await kubectl("get", "talosmachines", "-l", "talos-operator.dev/role=worker", "-o", "name");
    assert.equal(workers.trim().split("\n").length, 3);
  });
  for (const [plural, head] of columns) {
    it(`kubectl get ${plural} prints the published columns, and ours after them`, async () =>
      assert.match(await kubectl("get", plural), head));
    it(`kubectl describe and explain know ${plural}`, async () => {
      assert.match(await kubectl("describe", plural), /Conditions:/);
      assert.match(await kubectl("explain", plural, "--recursive"), /FIELDS:/);
    });
  }

  it("kubectl get -w shows changes as they come", async () => {
    const watch = startCommand(tool("kubectl"), ["--kubeconfig", kubeconfig, "get", "talosclusters", "-w", "-o", "name"]);
    await watch.says(/taloscluster/);
    await kubectl("label", "taloscluster", cluster().name, "watched=yes");
    await watch.says(/taloscluster[\s\S]*taloscluster/);
    await watch.end("SIGKILL");
  });

  it("kubectl lists what is served", async () => {
    const resources = await kubectl("api-resources");
    for (const kind of ["TalosCluster", "TalosControlPlane", "TalosWorker", "TalosMachine", "ClusterRecord", "Secret", "Lease"]) {
      assert.match(resources, new RegExp(`\\b${kind}\\b`));
    }
    assert.match(await kubectl("api-versions"), /talos\.alperen\.cloud\/v1alpha1/);
  });

  it("kubectl applies, patches, diffs, waits and deletes", async () => {
    const file = join(folder.path, "second.yaml");
    const text = (label: string): string =>
      `apiVersion: talos.alperen.cloud/v1alpha1\nkind: TalosWorker\nmetadata: {name: other, labels: {step: ${label}}}\nspec: {version: v1.13.9, kubeVersion: v1.36.3, mode: metal, metalSpec: {machines: []}, controlPlaneRef: {name: ${cluster().name}}}\n`;
    writeFileSync(file, text("one"));
    assert.match(await kubectl("apply", "-f", file), /created/);
    assert.match(await kubectl("apply", "-f", file), /unchanged/);
    assert.match(await kubectl("apply", "--server-side", "--force-conflicts", "-f", file), /serverside-applied/);
    writeFileSync(file, text("two"));
    const diff = await tryKubectl("diff", "-f", file);
    assert.equal(diff.code, 1);
    assert.match(diff.stdout, /step: two/);
    await kubectl("patch", "talosworker", "other", "--type=merge", "-p", '{"metadata":{"labels":{"step":"three"}}}');
    await kubectl("patch", "talosworker", "other", "--type=json", "-p", '[{"op":"replace","path":"/metadata/labels/step","value":"four"}]');
    assert.match(await kubectl("get", "talosworker", "other", "-o", "jsonpath={.metadata.labels.step}"), /^four$/);
    const stale = join(folder.path, "stale.yaml");
    writeFileSync(stale, await kubectl("get", "talosworker", "other", "-o", "yaml"));
    await kubectl("label", "--overwrite", "talosworker", "other", "step=five");
    const conflict = await tryKubectl("replace", "-f", stale);
    assert.notEqual(conflict.code, 0);
    assert.match(conflict.stderr, /the object has been modified/);
    assert.match(await kubectl("delete", "talosworker", "other", "--wait", KUBECTL_WAITS), /deleted/);
    await kubectl("wait", "--for=condition=Ready", "talosclusters", "--all", KUBECTL_WAITS);
  });

  it("the kubeconfig of the cluster lists six Ready nodes", async () => {
    const nodes = await must(tool("kubectl"), ["--kubeconfig", cluster().kubeconfig, "get", "nodes", "-o", "wide", "--no-headers"]);
    const lines = nodes.trim().split("\n");
    assert.equal(lines.length, 6);
    for (const line of lines) assert.match(line, /^\S+\s+Ready\s.*Talos/);
  });

  const calls: readonly [string, readonly string[], RegExp][] = [
    ["version", ["version"], /Server:[\s\S]*v1\.13\.9/],
    ["get members", ["get", "members"], /127\.1\.0\.6/],
    ["get machinestatus", ["get", "machinestatus"], /running\s+true/],
    ["services", ["services"], /etcd\s+Running\s+OK/],
    ["etcd members", ["etcd", "members"], /127\.1\.0\.3/],
    ["etcd status", ["etcd", "status"], /LEADER/],
    ["health", ["health", "--wait-timeout", "120s", "--server=true"], /waiting for/],
    ["logs", ["logs", "kubelet"], /\S/],
  ];
  for (const [name, args, expected] of calls) {
    it(`talosctl ${name}`, async () => {
      const result = await run(tool("talosctl"), ["--talosconfig", cluster().talosconfig, "-n", "127.1.0.1", ...args]);
      assert.equal(result.code, 0, result.stderr);
      assert.match(result.stdout + result.stderr, expected);
    });
  }

  it("talosctl kubeconfig writes one that works", async () => {
    const path = join(folder.path, "from-talosctl");
    await talosctl("kubeconfig", path, "--merge=false");
    assert.match(await must(tool("kubectl"), ["--kubeconfig", path, "get", "nodes"]), /Ready/);
  });

  it("talosctl apply-config --insecure reaches a spare machine", async () => {
    const config = join(folder.path, "config");
    await must(tool("talosctl"), ["gen", "config", "spare", "https://127.1.0.8:6443", "-o", config]);
    await must(tool("talosctl"), ["apply-config", "--insecure", "-n", "127.1.0.8", "-f", join(config, "worker.yaml")]);
  });
});

describe("Ctrl-C and npm start again", () => {
  it("gives the same cluster with the same keys, without a second bootstrap", async () => {
    using folder = temporaryFolder();
    const state = (): string => {
      const [name = ""] = readdirSync(join(folder.path, "clusters", "default"));
      const files = ["talosconfig", "kubeconfig"].map((kind) => readFileSync(join(folder.path, "clusters", "default", name, kind)));
      return `${createHash("sha256").update(Buffer.concat(files)).digest("hex")} ${readdirSync(join(folder.path, "etcd")).join()}`;
    };
    const flags = ["--data-dir", folder.path, ...FLAGS];
    const first = startOurs("demo", ...flags);
    await first.says(/Ctrl-C stops it/);
    const before = state();
    await first.end("SIGINT");
    const second = startOurs("demo", ...flags, "--exit-when-ready", "--timeout", "240");
    assert.equal(await second.exited, 0, second.output());
    assert.equal(state(), before);
  });
});
