// Genuine parts: etcd, helm, kube-apiserver, kubectl
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { ApplyTask, HelmResult, PreviewTask } from "../index.ts";
import { startGenuineWorkers } from "../testing/adapters/genuine-worker.ts";
import type { GenuineWorkers } from "../testing/adapters/genuine-worker.ts";

describe("what genuine Helm would change", () => {
  let workers: GenuineWorkers;
  before(async () => {
    workers = await startGenuineWorkers();
    await workers.charts.publish("web", "1.0.0");
  });
  after(() => workers.close());

  const asking = ({ release, owner, timeoutMs, chart, options, unowned }: ApplyTask): PreviewTask => ({
    kind: "preview",
    release,
    owner,
    timeoutMs,
    chart,
    options,
    unowned,
  });
  const changes = (result: HelmResult): readonly string[] => {
    assert.ok(result.kind === "previewed", JSON.stringify(result));
    return result.changes.map(({ object, change, fields }) => `${change} ${object}${fields.length === 0 ? "" : `: ${fields.join(", ")}`}`);
  };
  const everything = async (namespace: string): Promise<string> =>
    workers.server.kubectl("get", "configmap,deployment,secret", "-n", namespace, "-o", "jsonpath={.items[*].metadata.resourceVersion}");

  test("of nothing: every object is made, and nothing is", async () => {
    const task = asking(workers.applyOf("new", "web"));
    assert.deepEqual(changes(await workers.give(task, { values: ["text: first"] })), [
      "create ConfigMap new-page",
      "create Deployment new",
    ]);
    assert.equal(await workers.server.kubectl("get", "ns", "ns-new", "--ignore-not-found", "-o", "name"), "");
    assert.equal(await workers.server.kubectl("get", "crd", "pages.example.org", "--ignore-not-found", "-o", "name"), "");
  });

  test("of an edit: the fields, and nothing is written; then the same is made", async () => {
    const apply = workers.applyOf("edit", "web");
    assert.equal((await workers.give(apply, { values: ["text: first"] })).kind, "applied");
    const before = await everything("ns-edit");
    const told = await workers.give(asking(apply), { values: ["text: first", "text: second"] });
    assert.deepEqual(changes(told), ["change ConfigMap edit-page: data.text: second"]);
    assert.ok(told.kind === "previewed" && told.revision === 1 && told.chart.version === "1.0.0");
    assert.equal(await everything("ns-edit"), before);
    await workers.give({ ...apply, inputs: "00000000000000bb", run: "next" }, { values: ["text: first", "text: second"] });
    assert.deepEqual(changes(await workers.give(asking(apply), { values: ["text: second"] })), []);
  });

  test("of a value that stands in a Secret: that it changes", async () => {
    const apply = workers.applyOf("hidden", "web");
    await workers.give(apply, { values: ["text: first"] });
    const told = await workers.give(asking(apply), { values: ["text: first", "text: top-secret-word"], hidden: [1] });
    assert.deepEqual(changes(told), ["change ConfigMap hidden-page: data.text: ***"]);
    assert.doesNotMatch(JSON.stringify(told), /top-secret/);
  });

  test("of what a chart makes of one: no part of it", async () => {
    const apply = workers.applyOf("joined", "web");
    await workers.give(apply, { values: ["text: first"] });
    const told = await workers.give(asking(apply), { values: ["text: second", "word: of-a-secret"], hidden: [1] });
    assert.deepEqual(changes(told), ["change ConfigMap joined-page: data.text: second, data.login: ***"]);
    const open = await workers.give(asking(apply), { values: ["text: first", "word: of-nobody"] });
    assert.deepEqual(changes(open), ["change ConfigMap joined-page: data.login: bWU6b2Ytbm9ib2R5"]);
  });

  test("of a release that somebody else has: nothing is told", async () => {
    const apply = workers.applyOf("theirs", "web");
    await workers.give({ ...apply, owner: "somebody" });
    const told = await workers.give(asking(apply));
    assert.ok(told.kind === "failed" && told.reason === "release-not-ours", JSON.stringify(told));
  });

  test("of values that are none: why", async () => {
    const told = await workers.give(asking(workers.applyOf("broken", "web")), { values: ["- no map"] });
    assert.ok(told.kind === "failed" && told.reason === "values-invalid", JSON.stringify(told));
  });

  test("of a chart that is not there: why", async () => {
    const apply = workers.applyOf("none", "web", { chart: { repository: workers.charts.url, name: "web", version: "9.9.9" } });
    const told = await workers.give(asking(apply));
    assert.ok(told.kind === "failed" && told.reason === "chart-not-found", JSON.stringify(told));
  });
});
