// Genuine parts: etcd, helm, kube-apiserver, kubectl
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { HANGS_AFTER_MS, tool, until } from "@talos-operator/adapters/testing";
import { startRealApiServer } from "@talos-operator/api/testing";
import type { RealApiServer } from "@talos-operator/api/testing";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import { createHelmBinary, createScratch } from "../adapters/index.ts";
import type { ApplyTask, HelmResult, HelmSecrets, HelmTask } from "../index.ts";
import { startChartRepository } from "../testing/adapters/chart-repository.ts";
import type { ChartRepository } from "../testing/adapters/chart-repository.ts";
import { storedRevisions } from "./releases.ts";
import { runTask } from "./run-task.ts";

const owner = "0a7b3c1d-1111-4222-8333-444455556666";

describe("genuine Helm against a genuine kube-apiserver", () => {
  let server: RealApiServer;
  let charts: ChartRepository;
  let runs = 0;
  before(async () => {
    [server, charts] = await Promise.all([startRealApiServer(), startChartRepository(tool("helm"))]);
    await charts.publish("web", "1.0.0");
  });
  after(async () => {
    await charts.close();
    await server.close();
  });

  const give = async (
    task: HelmTask,
    over: Partial<HelmSecrets> = {},
    stop: AbortSignal = new AbortController().signal,
  ): Promise<HelmResult> => {
    const folder = mkdtempSync(join(tmpdir(), "talos-operator-helm-"));
    const secrets: HelmSecrets = { kubeconfig: server.kubeconfig, values: [], repository: { ca: charts.ca }, ...over };
    try {
      return await runTask(task, secrets, {
        helm: createHelmBinary(folder, stop, tool("helm")),
        scratch: createScratch(folder),
        async open(text) {
          const transport = createHttpsTransport((await loadKubeconfig({ text })).config);
          return { client: createKubeClient(transport), close: () => transport.close() };
        },
        clock: { now: () => Date.now() },
        signal: stop,
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
  const applyOf = (name: string, over: Partial<ApplyTask> = {}): ApplyTask => ({
    kind: "apply",
    release: { name, namespace: `ns-${name}` },
    owner,
    timeoutMs: HANGS_AFTER_MS,
    chart: { repository: charts.url, name: "web" },
    inputs: "00000000000000aa",
    options: { timeoutMs: HANGS_AFTER_MS, createNamespace: true },
    unowned: "adopt",
    endedRuns: [],
    run: `run${++runs}`,
    rollbackOnFailure: false,
    ...over,
  });
  const told = (result: HelmResult): unknown =>
    result.kind === "applied"
      ? [result.revision.number, result.isNew, result.chart.version]
      : result.kind === "failed"
        ? result
        : result.kind;
  const failed = (result: HelmResult): string => (result.kind === "failed" ? result.reason : result.kind);

  test("installs, does nothing when asked again, and upgrades", async () => {
    const task = applyOf("one", { namespaceLabels: { "pod-security.kubernetes.io/enforce": "privileged" } });
    const first = await give(task, { values: ["text: first"] });
    assert.deepEqual(told(first), [1, true, "1.0.0"]);
    assert.ok(first.kind === "applied");
    assert.deepEqual(first.objects, { total: 2, workloads: [{ kind: "Deployment", namespace: "ns-one", name: "one" }] });
    assert.match(first.chart.digest, /^[0-9a-f]{64}$/);
    assert.equal(first.revision.inputs, task.inputs);
    assert.deepEqual(told(await give({ ...task, run: "again" }, { values: ["text: first"] })), [1, false, "1.0.0"]);
    const next = await give({ ...task, run: "next", inputs: "00000000000000bb" }, { values: ["text: first", "text: second"] });
    assert.deepEqual(told(next), [2, true, "1.0.0"]);
    const map = await server.kubectl("get", "configmap", "one-page", "-n", "ns-one", "-o", "jsonpath={.data.text}");
    assert.equal(map, "second");
    assert.equal(
      await server.kubectl("get", "ns", "ns-one", "-o", "jsonpath={.metadata.labels.pod-security\\.kubernetes\\.io/enforce}"),
      "privileged",
    );
    assert.match(await server.kubectl("get", "crd", "pages.example.org", "-o", "name"), /pages/);
  });

  test("stays with the archive that was pinned", async () => {
    const result = await give(applyOf("pinned"));
    assert.ok(result.kind === "applied");
    const { digest } = result.chart;
    const chart = { repository: charts.url, name: "web", version: "1.0.0" };
    assert.deepEqual(told(await give(applyOf("pinned", { chart: { ...chart, digest }, inputs: "00000000000000cc" }))), [2, true, "1.0.0"]);
    assert.equal(failed(await give(applyOf("pinned", { chart: { ...chart, digest: "0".repeat(64) } }))), "digest-mismatch");
  });

  test("goes back after a failed upgrade, and tells what failed", async () => {
    await give(applyOf("back"));
    const result = await give(applyOf("back", { inputs: "00000000000000dd", rollbackOnFailure: true }), { values: ["fail: true"] });
    assert.ok(result.kind === "failed", JSON.stringify(result));
    assert.equal(result.reason, "api-refused");
    assert.equal(result.rolledBackTo, 1);
    assert.equal(result.history?.[0]?.status, "deployed");
    const image = await server.kubectl(
      "get",
      "deployment",
      "back",
      "-n",
      "ns-back",
      "-o",
      "jsonpath={.spec.template.spec.containers[0].image}",
    );
    assert.equal(image, "example.org/web:1");
    // What was tried is not what is there: the same inputs are tried again.
    assert.equal(failed(await give(applyOf("back", { inputs: "00000000000000dd" }), { values: ["fail: true"] })), "api-refused");
  });

  test("goes back to a revision that a person names, once", async () => {
    await give(applyOf("asked"), { values: ["text: one"] });
    const second = await give(applyOf("asked", { inputs: "00000000000000ab" }), { values: ["text: two"] });
    assert.equal(second.kind === "applied" && second.revision.number, 2);
    const { kind: _kind, chart: _chart, inputs: _inputs, ...base } = applyOf("asked");
    const back: HelmTask = { ...base, kind: "rollback", revision: 1, run: "back" };
    const first = await give(back);
    assert.ok(first.kind === "rolled-back", JSON.stringify(first));
    const { inputs } = applyOf("asked") as { readonly inputs?: string };
    assert.deepEqual([first.revision.number, first.revision.status, first.revision.inputs], [3, "deployed", inputs]);
    // A worker that is asked again, by another run, finds it done.
    const again = await give({ ...back, run: "once-more" });
    assert.equal(again.kind === "rolled-back" && again.revision.number, 3);
    const unknown = await give({ ...back, revision: 7 });
    assert.ok(unknown.kind === "failed" && unknown.reason === "bad-task" && !unknown.mayRepeat, JSON.stringify(unknown));
    assert.match(unknown.message, /no revision 7 of asked: it has 3, 2, 1/);
    assert.equal(failed(await give({ ...back, revision: 2, owner: "another" })), "release-not-ours");
    // And what was gone back from can be installed anew.
    const third = await give(applyOf("asked", { inputs: "00000000000000ab", run: "third" }), { values: ["text: two"] });
    assert.deepEqual(told(third), [4, true, "1.0.0"]);
  });

  test("tells what others changed of what it deployed, with paths and no values, and takes it back once", async () => {
    const task = applyOf("drift");
    await give(task);
    const { kind: _kind, chart: _chart, inputs: _inputs, ...base } = task;
    const look = async (ignore: readonly string[] = []): Promise<unknown> => {
      const result = await give({ ...base, kind: "inspect", ignore });
      return result.kind === "inspected" ? result.drifted : result;
    };
    assert.deepEqual(await look(), []);
    // What nobody asked Helm for: a label, an annotation and an environment of somebody else, a status, a scale to what it is anyway.
    await server.kubectl("label", "deployment", "drift", "-n", "ns-drift", "someone=else");
    await server.kubectl("set", "env", "deployment/drift", "-n", "ns-drift", "INJECTED=yes");
    await server.kubectl("scale", "deployment", "drift", "-n", "ns-drift", "--replicas=1");
    assert.deepEqual(await look(), []);
    await server.kubectl("scale", "deployment", "drift", "-n", "ns-drift", "--replicas=3");
    await server.kubectl("set", "image", "deployment/drift", "-n", "ns-drift", "web=example.org/web:2");
    await server.kubectl("delete", "configmap", "drift-page", "-n", "ns-drift");
    const changed = "spec.template.spec.containers[name=web].image";
    assert.deepEqual(await look(), [
      { object: "ConfigMap ns-drift/drift-page", isGone: true, paths: [] },
      { object: "Deployment ns-drift/drift", isGone: false, paths: ["spec.replicas", changed] },
    ]);
    assert.deepEqual(await look(["spec.replicas", "spec.template"]), [
      { object: "ConfigMap ns-drift/drift-page", isGone: true, paths: [] },
    ]);
    // The same inputs alone make no revision; with the one that drifted named they make one, and one alone.
    assert.deepEqual(told(await give({ ...task, run: "same" })), [1, false, "1.0.0"]);
    for (const run of ["revert", "lost"]) assert.deepEqual(told(await give({ ...task, run, beyond: 1 })), [2, run === "revert", "1.0.0"]);
    assert.deepEqual(await look(), []);
    assert.equal(await server.kubectl("get", "configmap", "drift-page", "-n", "ns-drift", "-o", "jsonpath={.data.text}"), "hello");
    assert.equal(await server.kubectl("get", "deployment", "drift", "-n", "ns-drift", "-o", "jsonpath={.spec.replicas}"), "1");
    assert.equal(failed(await give({ ...base, kind: "inspect", ignore: [], owner: "another" })), "release-not-ours");
  });

  test("leaves what belongs to another addon", async () => {
    await give(applyOf("owned"));
    assert.equal(failed(await give(applyOf("owned", { owner: "another", inputs: "00000000000000ee" }))), "release-not-ours");
    assert.deepEqual(await give({ ...applyOf("owned"), kind: "uninstall", owner: "another" }), {
      kind: "uninstalled",
      wasThere: false,
      helm: ((await give({ ...applyOf("owned", { owner: "nobody" }), kind: "uninstall" })) as { readonly helm: string }).helm,
    });
    assert.match(await server.kubectl("get", "deployment", "-n", "ns-owned", "-o", "name"), /owned/);
  });

  test("releases the lock of its own ended run alone", async () => {
    await give(applyOf("locked"));
    const waits = { wait: true, timeoutMs: HANGS_AFTER_MS, createNamespace: true };
    const transport = createHttpsTransport((await loadKubeconfig({ text: server.kubeconfig })).config);
    try {
      const client = createKubeClient(transport);
      const newestNow = async () => (await storedRevisions(client, { name: "locked", namespace: "ns-locked" })).at(0);
      const text = (): Promise<string> =>
        server.kubectl("get", "configmap", "locked-page", "-n", "ns-locked", "-o", "jsonpath={.data.text}");
      const stop = new AbortController();
      const task = applyOf("locked", { run: "cut", inputs: "00000000000000ff", options: waits });
      const cutting = give(task, { values: ["text: cut"] }, stop.signal);
      const isInTheMiddle = async (): Promise<boolean> => (await newestNow())?.status === "pending-upgrade" && (await text()) === "cut";
      // Its objects are written, and it waits for pods in vain.
      await until("it is in the middle", isInTheMiddle, newestNow);
      stop.abort();
      assert.equal((await cutting).kind, "failed");
      const newest = await newestNow();
      assert.equal(newest?.number, 2);
      // Helm that is asked to end marks its revision itself; one that is killed does not.
      if (newest?.status === "failed")
        await server.kubectl("label", "secret", newest.secret.name, "-n", "ns-locked", "--overwrite", "status=pending-upgrade");
    } finally {
      transport.close();
    }
    assert.equal(failed(await give(applyOf("locked", { inputs: "0000000000000011" }))), "release-locked");
    const after = await give(applyOf("locked", { inputs: "0000000000000011", endedRuns: ["cut"] }));
    assert.deepEqual(told(after), [3, true, "1.0.0"]);
  });

  for (const [what, over, secrets, reason] of [
    ["a chart that does not exist", { chart: { name: "nothing" } }, {}, "chart-not-found"],
    ["a version that does not exist", { chart: { name: "web", version: "9.9.9" } }, {}, "chart-not-found"],
    ["a repository whose authority is not given", { chart: { name: "web" } }, { repository: {} }, "repository-refused"],
    ["a repository that does not answer", { chart: { name: "web", repository: "https://127.0.0.1:1" } }, {}, "repository-unreachable"],
    ["values that a template refuses", { chart: { name: "web" } }, { values: ["text:"] }, "template-failed"],
    ["values that are no YAML", { chart: { name: "web" } }, { values: ["a: ["] }, "values-invalid"],
    ["an address that is none", { chart: { name: "web", repository: "file:///etc" } }, {}, "bad-task"],
    ["a cluster that does not answer", { chart: { name: "web" } }, { kubeconfig: "unreachable" }, "cluster-unreachable"],
  ] as const)
    test(`says what is wrong with ${what}`, async () => {
      const given: { repository?: string; name: string; version?: string } = over.chart;
      const unreachable = server.kubeconfig.replace(/https:\/\/[\d.]+:\d+/, "https://127.0.0.1:1");
      const result = await give(
        applyOf("bad", { chart: { repository: charts.url, ...given } }),
        "kubeconfig" in secrets ? { kubeconfig: unreachable } : secrets,
      );
      assert.equal(failed(result), reason, JSON.stringify(result));
    });

  test("uninstalls what is its own, once", async () => {
    await give(applyOf("gone"));
    const uninstall: HelmTask = { ...applyOf("gone"), kind: "uninstall" };
    const first = await give(uninstall);
    assert.ok(first.kind === "uninstalled" && first.wasThere, JSON.stringify(first));
    const again = await give(uninstall);
    assert.ok(again.kind === "uninstalled" && !again.wasThere);
    assert.equal(await server.kubectl("get", "deployment", "-n", "ns-gone", "-o", "name"), "");
  });
});
