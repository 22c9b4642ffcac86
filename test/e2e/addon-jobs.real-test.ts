// Genuine parts: etcd, etcdutl, helm, kube-apiserver, kube-controller-manager, kubectl, versitygw
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { talosClusterAddonReleaseResource, type TalosClusterAddonRelease } from "@talos-operator/api";
import { KUBECTL_WAITS, tool, until } from "@talos-operator/adapters/testing";
import { startChartRepository, type ChartRepository } from "../../packages/helm/src/testing/adapters/chart-repository.ts";
import { findTraces, secretTexts } from "./backups/secret-traces.ts";
import { NAMESPACE, startBackupWorld, type BackupWorld } from "./backups/world.ts";
import { must } from "./processes.ts";

const JOB_ACCOUNT = `system:serviceaccount:${NAMESPACE}:talos-operator-addon`;

describe("addons by Jobs, on a genuine Kubernetes API and with genuine Helm", { concurrency: false }, () => {
  let world: BackupWorld;
  let charts: ChartRepository;
  let access = "";

  before(async () => {
    world = await startBackupWorld();
    charts = await startChartRepository(tool("helm"));
    await charts.publish("web", "1.0.0");
    await world.apply(world.cluster, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "default", name: "charts-ca" },
      stringData: { "ca.crt": charts.ca },
    });
    await world.kubectl("wait", "--for=condition=Ready", "taloscluster/first", KUBECTL_WAITS);
    access = join(world.folder, "first.kubeconfig");
    const kubeconfig = await world.kubectl("get", "secret", "first-kubeconfig", "-o", "jsonpath={.data.kubeconfig}");
    writeFileSync(access, Buffer.from(kubeconfig, "base64"), { mode: 0o600 });
  });
  after(async () => {
    await charts?.close();
    await world?.[Symbol.asyncDispose]();
  });

  const seen = (): Promise<TalosClusterAddonRelease | undefined> =>
    world.client.resource<TalosClusterAddonRelease>(talosClusterAddonReleaseResource).tryGet({ namespace: "default", name: "web" });
  const runs = () => world.kubelet.runs.filter(({ owner }) => owner === "default/web");
  const inCluster = (...args: string[]): Promise<string> => must(tool("helm"), [...args, "--kubeconfig", access]);
  const leavesNothing = (): Promise<unknown> =>
    until("no Job, no pod and no Secret of a run is left", async () => {
      const label = "talos-operator.dev/component=addon";
      return (await world.kubectl("get", "jobs,pods,secrets", "-n", NAMESPACE, "-l", label, "-o", "name")).trim() === "";
    });
  const told = async <T>(what: string, look: () => Promise<boolean>, then: () => T): Promise<T> => {
    try {
      await until(what, look);
    } catch (error) {
      const workers = world.kubelet.runs.map(({ owner, output, told: answer }) => `=== worker of ${owner}\n${output()}\n${answer}`);
      process.stderr.write(`${JSON.stringify(await seen(), undefined, 1)}\n${workers.join("\n")}\n${world.logs().slice(-5_000)}\n`);
      throw error;
    }
    return then();
  };

  it("one is installed by a Job, whose answer is the status", async () => {
    await world.apply({
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosClusterAddonRelease",
      metadata: { namespace: "default", name: "web" },
      spec: {
        clusterRef: { kind: "TalosControlPlane", name: "first" },
        helmSpec: {
          chartName: "web",
          repoURL: charts.url,
          namespace: "pages",
          tlsConfig: { caSecret: { name: "charts-ca" } },
          values: { text: "hello" },
        },
      },
    });
    await told(
      "it is installed",
      async () => (await seen())?.status?.revision === 1,
      () => undefined,
    );
    assert.deepEqual(
      (JSON.parse(await inCluster("list", "-n", "pages", "-o", "json")) as { chart: string; revision: string; status: string }[]).map(
        ({ chart, revision, status }) => [chart, revision, status],
      ),
      [["web-1.0.0", "1", "deployed"]],
    );
    assert.deepEqual(
      runs().map(({ task }) => task),
      ["apply"],
    );
    await leavesNothing();
  });

  it("its pod is one that the namespace of restricted pods took, with an account that has no right, and holds no secret", async () => {
    const [ran] = runs();
    assert.ok(ran !== undefined);
    assert.doesNotMatch(JSON.stringify(ran.object), /serviceaccount\/token|kube-api-access/);
    const rights = (account: string): Promise<string> => world.kubectl("auth", "can-i", "--list", "-n", NAMESPACE, `--as=${account}`);
    assert.equal(await rights(JOB_ACCOUNT), await rights(`system:serviceaccount:${NAMESPACE}:nobody`));
    const secrets = secretTexts(JSON.parse(ran.files["secrets.json"] ?? "{}"));
    assert.ok(secrets.length > 0);
    const shown = JSON.stringify({ object: ran.object, job: ran.job, told: ran.told, task: ran.files["task.json"], output: ran.output() });
    assert.deepEqual(findTraces(Buffer.from(shown + world.logs()), secrets), []);
    assert.doesNotMatch(world.logs(), /forbidden/i);
  });

  it("it is uninstalled by a Job when the release is deleted", async () => {
    await world.kubectl("delete", "talosclusteraddonrelease", "web", "--wait=false");
    await told(
      "it is gone",
      async () => (await seen()) === undefined,
      () => undefined,
    );
    assert.equal((await inCluster("list", "-n", "pages", "-o", "json")).trim(), "[]");
    assert.equal(runs().at(-1)?.task, "uninstall");
    await leavesNothing();
  });
});
