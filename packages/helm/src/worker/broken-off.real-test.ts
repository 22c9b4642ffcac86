// Genuine parts: etcd, helm, kube-apiserver, kubectl
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { HANGS_AFTER_MS, KUBECTL_WAITS } from "@talos-operator/adapters/testing";
import type { HelmResult, HelmTask } from "../index.ts";
import type { GenuineWorkers } from "../testing/adapters/genuine-worker.ts";
import { startGenuineWorkers } from "../testing/adapters/genuine-worker.ts";

describe("genuine Helm that is broken off, and hands other than ours", () => {
  let workers: GenuineWorkers;
  before(async () => {
    workers = await startGenuineWorkers();
    for (const chart of ["web", "hooked", "future"]) await workers.charts.publish(chart, "1.0.0");
  });
  after(() => workers.close());

  const told = (result: HelmResult): readonly unknown[] =>
    result.kind === "applied"
      ? [result.revision.number, result.isNew]
      : result.kind === "failed"
        ? [result.reason, result.message]
        : [result];
  const failed = (result: HelmResult): string => (result.kind === "failed" ? result.reason : result.kind);
  const names = async (kind: string, namespace: string): Promise<readonly string[]> =>
    (await workers.server.kubectl("get", kind, "-n", namespace, "-o", "name")).split("\n").filter((line) => line !== "");
  const statuses = async (name: string): Promise<string> =>
    workers.server.kubectl(
      "get",
      "secret",
      "-n",
      `ns-${name}`,
      "-l",
      "owner=helm",
      "-o",
      "jsonpath={range .items[*]}{.metadata.labels.version}:{.metadata.labels.status}:{.metadata.labels.talos-operator\\.dev/run} {end}",
    );
  const pending = (name: string, what: string) => async (): Promise<boolean> => (await statuses(name)).includes(what);
  const uninstallOf = (task: HelmTask, over: Partial<HelmTask> = {}): HelmTask => ({ ...task, kind: "uninstall", ...over }) as HelmTask;

  for (const [phase, hook, wait] of [
    ["before its objects are made", "pre", false],
    ["while it waits for its objects", "never", true],
    ["in the hook after them", "post", false],
  ] as const) {
    const name = `killed-${hook}`;
    test(`goes on after an installation that was killed ${phase}`, async () => {
      const first = workers.applyOf(name, "hooked", { options: { wait, timeoutMs: HANGS_AFTER_MS } });
      const isThere = pending(name, "1:pending-install");
      await workers.giveAndKill(first, { values: [`{hook: ${hook}, extra: true}`] }, async () => {
        if (!(await isThere())) return false;
        const objects = hook === "never" ? await names("configmap", `ns-${name}`) : await names("job", `ns-${name}`);
        return objects.some((one) => /extra|hook/.test(one));
      });
      assert.match(await statuses(name), /^1:pending-install:/);
      const next = workers.applyOf(name, "hooked", { inputs: "00000000000000bb" });
      assert.equal(failed(await workers.give(next)), "release-locked");
      const result = await workers.give({ ...next, endedRuns: [first.run] });
      assert.equal(result.kind, "applied", JSON.stringify(result));
      assert.deepEqual(
        (await names("configmap", `ns-${name}`)).filter((one) => one.includes(name)),
        [`configmap/${name}-page`],
        "what the killed run made and nobody asks for any more is gone",
      );
    });
  }

  test("uninstalls what an installation that was killed made", async () => {
    const name = "killed-gone";
    const first = workers.applyOf(name, "hooked");
    await workers.giveAndKill(first, { values: ["{hook: post, extra: true}"] }, async () => (await names("job", `ns-${name}`)).length > 0);
    const again = workers.applyOf(name, "hooked", { endedRuns: [first.run] });
    const result = await workers.give(uninstallOf(again));
    assert.ok(result.kind === "uninstalled" && result.wasThere, JSON.stringify(result));
    assert.deepEqual(await names("deployment", `ns-${name}`), []);
    assert.equal(await statuses(name), "");
  });

  test("uninstalls what both revisions of an upgrade that was killed made", async () => {
    const name = "killed-both";
    assert.equal(
      (await workers.give(workers.applyOf(name, "hooked", { options: { timeoutMs: HANGS_AFTER_MS } }), { values: ["extra: true"] })).kind,
      "applied",
    );
    const second = workers.applyOf(name, "hooked", { inputs: "00000000000000bb" });
    await workers.giveAndKill(second, { values: ["{hook: pre}"] }, pending(name, "2:pending-upgrade"));
    const result = await workers.give(uninstallOf(workers.applyOf(name, "hooked", { endedRuns: [second.run] })));
    assert.ok(result.kind === "uninstalled" && result.wasThere, JSON.stringify(result));
    assert.deepEqual(
      (await names("configmap", `ns-${name}`)).filter((one) => one.includes(name)),
      [],
    );
  });

  test("removes what is all or nothing and fails to install, and goes back where an upgrade fails", async () => {
    const name = "atomic";
    const atomic = { atomic: true, timeoutMs: 6_000 };
    const first = await workers.give(workers.applyOf(name, "hooked", { options: atomic }), { values: ["hook: never"] });
    assert.deepEqual(told(first).slice(0, 1), ["not-ready"]);
    assert.match(String(told(first)[1]), /What it made is removed\.$/);
    assert.equal(await statuses(name), "");
    assert.deepEqual(await names("deployment", `ns-${name}`), []);
    // Nobody makes its pods ready here: it is installed without a wait first.
    assert.deepEqual(told(await workers.give(workers.applyOf(name, "hooked"), { values: ["extra: true"] })), [1, true]);
    const next = workers.applyOf(name, "hooked", { options: atomic, inputs: "00000000000000bb" });
    await workers.giveAndKill(next, {}, pending(name, "3:pending-rollback"), ["rollback"]);
    const stranger = workers.applyOf(name, "hooked", { inputs: "00000000000000cc" });
    assert.equal(failed(await workers.give(stranger)), "release-locked");
    assert.deepEqual(told(await workers.give({ ...stranger, endedRuns: [next.run] })), [4, true]);
  });

  test("installs anew where its own uninstallation was broken off", async () => {
    const name = "half-gone";
    await workers.give(workers.applyOf(name, "hooked"));
    await workers.server.kubectl(
      "patch",
      "configmap",
      `${name}-page`,
      "-n",
      `ns-${name}`,
      "--type=merge",
      '--patch={"metadata":{"finalizers":["example.org/held"]}}',
    );
    const away = uninstallOf(workers.applyOf(name, "hooked", { options: { wait: true, timeoutMs: HANGS_AFTER_MS } }));
    await workers.giveAndKill(away, {}, pending(name, "1:uninstalling"));
    const next = workers.applyOf(name, "hooked", { inputs: "00000000000000bb" });
    assert.equal(failed(await workers.give({ ...next, owner: "another" })), "release-locked");
    await workers.server.kubectl(
      "patch",
      "configmap",
      `${name}-page`,
      "-n",
      `ns-${name}`,
      "--type=merge",
      '--patch={"metadata":{"finalizers":null}}',
    );
    assert.deepEqual(told(await workers.give(next)), [1, true]);
    assert.equal((await names("deployment", `ns-${name}`)).length, 1);
  });

  test("does not take the lock of a person's Helm, which inherits our labels", async () => {
    const name = "by-hand";
    const first = workers.applyOf(name, "hooked");
    assert.deepEqual(told(await workers.give(first)), [1, true]);
    const chart = `${workers.charts.url}/hooked-1.0.0.tgz`;
    const ca = workers.charts.caFile;
    const kill = workers.leaveByHand("upgrade", name, chart, `--namespace=ns-${name}`, `--ca-file=${ca}`, "--set=hook=pre", KUBECTL_WAITS);
    const isThere = pending(name, "2:pending-upgrade");
    while (!(await isThere()));
    try {
      const next = workers.applyOf(name, "hooked", { inputs: "00000000000000bb", endedRuns: [first.run] });
      assert.equal(failed(await workers.give(next)), "release-locked");
    } finally {
      await kill();
    }
  });

  test("makes a revision after one that a person made, whose labels say the same inputs", async () => {
    const name = "by-hand-done";
    const first = workers.applyOf(name, "hooked");
    await workers.give(first);
    await workers.byHand(
      "upgrade",
      name,
      `${workers.charts.url}/hooked-1.0.0.tgz`,
      `--namespace=ns-${name}`,
      `--ca-file=${workers.charts.caFile}`,
      "--set=extra=true",
    );
    assert.deepEqual(told(await workers.give(workers.applyOf(name, "hooked"))), [3, true]);
    assert.deepEqual(told(await workers.give(workers.applyOf(name, "hooked"))), [3, false]);
  });

  test("takes over what a person installed as it runs, and nothing of another chart", async () => {
    const name = "by-hand-first";
    await workers.charts.publish("web", "0.9.0");
    const { url, caFile } = workers.charts;
    const place = [`--namespace=ns-${name}`, "--create-namespace", `--ca-file=${caFile}`];
    await workers.byHand("install", name, `${url}/web-0.9.0.tgz`, ...place);
    assert.equal(failed(await workers.give(workers.applyOf(name, "hooked"))), "release-not-ours");
    assert.equal(failed(await workers.give(workers.applyOf(name, "web", { unowned: "refuse" }))), "release-not-ours");
    const result = await workers.give(workers.applyOf(name, "web"));
    assert.ok(result.kind === "applied", JSON.stringify(result));
    // A version that is not asked for is the one that runs: 1.0.0 is there as well.
    assert.deepEqual([result.revision.number, result.chart.version, result.adopted], [2, "0.9.0", true]);
    const next = await workers.give(
      workers.applyOf(name, "web", { chart: { repository: url, name: "web", version: "1.0.0" }, inputs: "00000000000000bb" }),
    );
    assert.ok(next.kind === "applied" && next.adopted === undefined && next.chart.version === "1.0.0", JSON.stringify(next));
  });

  test("takes over objects that others made, where ownership is asked for", async () => {
    const name = "taken";
    await workers.server.kubectl("create", "namespace", `ns-${name}`);
    await workers.server.kubectl("create", "configmap", `${name}-page`, "-n", `ns-${name}`, "--from-literal=text=mine");
    assert.equal(failed(await workers.give(workers.applyOf(name, "hooked"))), "object-not-ours");
    const result = await workers.give(workers.applyOf(name, "hooked", { options: { takeOwnership: true } }));
    assert.equal(result.kind, "applied", JSON.stringify(result));
    assert.equal(
      await workers.server.kubectl("get", "configmap", `${name}-page`, "-n", `ns-${name}`, "-o", "jsonpath={.data.text}"),
      "page",
    );
  });

  for (const [what, chart, options, values, reason] of [
    ["a hook that does not end", "hooked", { timeoutMs: 5_000 }, "hook: pre", "hook-failed"],
    ["objects that do not get ready", "hooked", { wait: true, timeoutMs: 5_000 }, "", "not-ready"],
    ["a chart for another Kubernetes", "future", {}, "", "kubernetes-version"],
    ["values that the schema refuses", "hooked", {}, "password: hunter2-secret", "values-invalid"],
  ] as const)
    test(`says what is wrong with ${what}`, async () => {
      const result = await workers.give(workers.applyOf(`bad-${reason}`, chart, { options }), { values: [values] });
      assert.ok(result.kind === "failed", JSON.stringify(result));
      assert.equal(result.reason, reason, result.message);
      assert.doesNotMatch(result.message, /hunter2/);
    });
});
