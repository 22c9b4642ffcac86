import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { HelmResult, HelmTask } from "../index.ts";
import { applyOf, createMemoryWorker, OWNER, revisionOf } from "../testing/memory-worker.ts";

const mine = revisionOf(1, "deployed", "aaaaaaaaaaaa");
const foreign = revisionOf(1, "deployed", "cccccccccccc", { [OWNER]: "u-2" });
const told = (result: HelmResult): string => (result.kind === "failed" ? result.reason : result.kind);
const changes = (commands: readonly string[]): readonly string[] =>
  commands.flatMap((line) => (/^(upgrade|rollback|uninstall) \S+( \d+)?/.exec(line) ?? []).slice(0, 1));
const uninstall = (over: Partial<HelmTask> = {}): HelmTask => ({ ...applyOf(), kind: "uninstall", ...over }) as HelmTask;

describe("a worker", () => {
  test("installs with its labels, and tells what Helm has then", async () => {
    const worker = createMemoryWorker();
    const result = await worker.give(applyOf());
    assert.ok(result.kind === "applied" && result.isNew);
    assert.deepEqual(result.revision.inputs, "00000000000000aa");
    assert.deepEqual(worker.revisions[0]?.labels, mine.labels);
  });

  test("does nothing where the newest revision came of the same inputs", async () => {
    const worker = createMemoryWorker(mine);
    const result = await worker.give(applyOf({ run: "bbbbbbbbbbbb" }));
    assert.ok(result.kind === "applied" && !result.isNew);
    assert.deepEqual(changes(worker.commands), []);
  });

  test("makes one revision of the same inputs where drift is to be taken back", async () => {
    const worker = createMemoryWorker(mine);
    const again = applyOf({ run: "bbbbbbbbbbbb", beyond: 1 });
    const result = await worker.give(again);
    assert.ok(result.kind === "applied" && result.isNew && result.revision.number === 2);
    const repeated = await worker.give({ ...again, run: "cccccccccccc" });
    assert.ok(repeated.kind === "applied" && !repeated.isNew);
  });

  for (const unowned of ["refuse", "adopt"] as const)
    test(`touches no release of another owner (${unowned})`, async () => {
      const worker = createMemoryWorker(foreign);
      assert.equal(told(await worker.give(applyOf({ unowned }))), "release-not-ours");
      assert.equal(told(await worker.give(uninstall())), "uninstalled");
      assert.deepEqual(changes(worker.commands), []);
    });

  test("uninstalls its own", async () => {
    const worker = createMemoryWorker(mine);
    const result = await worker.give(uninstall());
    assert.ok(result.kind === "uninstalled" && result.wasThere);
    assert.deepEqual(changes(worker.commands), ["uninstall web"]);
  });

  describe("that finds a lock", () => {
    const locked = revisionOf(2, "pending-upgrade", "bbbbbbbbbbbb");

    test("leaves that of a run which may be at work", async () => {
      const worker = createMemoryWorker(locked, mine);
      assert.equal(told(await worker.give(applyOf({ run: "cccccccccccc" }))), "release-locked");
      assert.deepEqual(changes(worker.commands), []);
    });

    test("releases that of a run which has ended", async () => {
      const worker = createMemoryWorker(locked, { ...mine, status: "superseded" });
      assert.equal(told(await worker.give(applyOf({ run: "cccccccccccc", endedRuns: ["bbbbbbbbbbbb"] }))), "applied");
      assert.deepEqual(
        worker.revisions.map(({ status }) => status),
        ["deployed", "failed", "superseded"],
      );
    });

    test("leaves that of a person, whose Helm gives it the labels of the revision before", async () => {
      const worker = createMemoryWorker(revisionOf(2, "pending-upgrade", "aaaaaaaaaaaa"), mine);
      assert.equal(told(await worker.give(applyOf({ run: "cccccccccccc", endedRuns: ["aaaaaaaaaaaa"] }))), "release-locked");
    });
  });

  describe("that fails", () => {
    test("before anything was made says that Helm has nothing", async () => {
      const worker = createMemoryWorker();
      worker.ends.set("pull", { code: 1, stderr: 'Error: chart "web" not found in https://charts.example.org repository' });
      const result = await worker.give(applyOf());
      assert.ok(result.kind === "failed" && result.reason === "chart-not-found");
      assert.deepEqual(result.history, []);
    });

    test("before anything was made does not say so where a revision was there", async () => {
      const worker = createMemoryWorker(mine);
      worker.ends.set("pull", { code: 1, stderr: 'Error: chart "web" not found in https://charts.example.org repository' });
      const result = await worker.give(applyOf({ inputs: "00000000000000bb" }));
      assert.ok(result.kind === "failed" && result.history === undefined);
    });

    test("goes back to the newest good revision where that was asked for", async () => {
      const worker = createMemoryWorker(revisionOf(2, "failed", "bbbbbbbbbbbb"), mine);
      worker.ends.set("upgrade", { code: 1, stderr: "Error: failed post-upgrade: job web failed" });
      const result = await worker.give(applyOf({ inputs: "00000000000000bb", rollbackOnFailure: true }));
      assert.ok(result.kind === "failed" && result.rolledBackTo === 1);
      assert.deepEqual(changes(worker.commands), ["upgrade web", "rollback web 1"]);
    });

    test("does not go back where nothing has changed: the newest revision is deployed", async () => {
      const worker = createMemoryWorker(mine);
      worker.ends.set("upgrade", { code: 1, stderr: "Error: execution error at (web/templates/a.yaml:1:3): no" });
      const result = await worker.give(applyOf({ inputs: "00000000000000bb", rollbackOnFailure: true }));
      assert.ok(result.kind === "failed" && result.rolledBackTo === undefined);
      assert.deepEqual(changes(worker.commands), ["upgrade web"]);
    });
  });

  describe("before it uses a chart", () => {
    test("compares the digest that is pinned", async () => {
      const worker = createMemoryWorker();
      const chart = { ...applyOf().chart, digest: "0".repeat(64) };
      assert.equal(told(await worker.give(applyOf({ chart }))), "digest-mismatch");
      assert.deepEqual(changes(worker.commands), []);
    });

    for (const repository of ["https://charts.example.org", "oci://charts.example.org/charts"])
      test(`gives a password on standard input alone: ${repository}`, async () => {
        const worker = createMemoryWorker();
        const chart = { ...applyOf().chart, repository };
        await worker.give(applyOf({ chart }), { repository: { username: "reader", password: "hunter2-hunter2" } });
        const given = worker.commands.filter((line) => line.includes("hunter2"));
        assert.equal(given.length, 1);
        assert.match(given[0] ?? "", /--password-stdin.* <hunter2-hunter2$/);
      });
  });

  test("tells what it installed, however long its manifest is, and whatever of it is no YAML to us", async () => {
    const worker = createMemoryWorker();
    const twice = "# Source: web/a.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: { app: web, app: web }\n";
    const deployment = "# Source: web/b.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web }\n";
    worker.manifest = `---\n${twice}---\n${deployment}---\n# Source: web/c.yaml\napiVersion: v1\nkind: ConfigMap\ndata:\n  a: "${"x".repeat(2 ** 20)}`;
    const result = await worker.give(applyOf());
    assert.ok(result.kind === "applied", JSON.stringify(result));
    assert.deepEqual(result.objects.workloads, [{ kind: "Deployment", namespace: "apps", name: "web" }]);
  });
});
