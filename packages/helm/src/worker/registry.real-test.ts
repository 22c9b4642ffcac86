// Genuine parts: etcd, helm, kube-apiserver, kubectl
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { HelmResult } from "../index.ts";
import type { GenuineWorkers } from "../testing/adapters/genuine-worker.ts";
import { startGenuineWorkers } from "../testing/adapters/genuine-worker.ts";

describe("genuine Helm and charts in a registry (oci://)", () => {
  let workers: GenuineWorkers;
  before(async () => {
    workers = await startGenuineWorkers();
    for (const version of ["1.0.0", "1.1.0", "2.0.0-rc.1"]) await workers.charts.publish("hooked", version);
  });
  after(() => workers.close());

  const chart = (over: object = {}) => ({ repository: workers.charts.ociUrl, name: "hooked", ...over });
  const told = (result: HelmResult): readonly unknown[] =>
    result.kind === "applied"
      ? [result.revision.number, result.isNew, result.chart.version]
      : result.kind === "failed"
        ? [result.reason, result.message]
        : [result.kind];
  const why = (result: HelmResult): unknown => told(result)[0];

  test("installs the newest that is no pre-release where no version is asked for, and upgrades to one that is", async () => {
    const first = await workers.give(workers.applyOf("newest", "hooked", { chart: chart() }));
    assert.deepEqual(told(first), [1, true, "1.1.0"]);
    const pinned = chart({ version: "2.0.0-rc.1" });
    const next = workers.applyOf("newest", "hooked", { chart: pinned, inputs: "00000000000000bb" });
    assert.deepEqual(told(await workers.give(next)), [2, true, "2.0.0-rc.1"]);
    assert.deepEqual(told(await workers.give({ ...next, run: "again" })), [2, false, "2.0.0-rc.1"]);
    const range = workers.applyOf("range", "hooked", { chart: chart({ version: "~1.0" }) });
    assert.deepEqual(told(await workers.give(range)), [1, true, "1.0.0"]);
    const gone = await workers.give({ ...next, kind: "uninstall" } as never);
    assert.equal(gone.kind, "uninstalled", JSON.stringify(gone));
  });

  test("takes the archive that is pinned, the one that https gives, and no other", async () => {
    const oci = await workers.give(workers.applyOf("pinned", "hooked", { chart: chart({ version: "1.0.0" }) }));
    const https = await workers.give(
      workers.applyOf("pinned-https", "hooked", { chart: { repository: workers.charts.url, name: "hooked", version: "1.0.0" } }),
    );
    assert.ok(oci.kind === "applied" && https.kind === "applied", JSON.stringify([oci, https]));
    const { digest } = oci.chart;
    assert.equal(https.chart.digest, digest);
    const again = workers.applyOf("pinned", "hooked", { chart: chart({ version: "1.0.0", digest }), inputs: "00000000000000bb" });
    assert.deepEqual(told(await workers.give(again)), [2, true, "1.0.0"]);
    const other = chart({ version: "1.0.0", digest: "0".repeat(64) });
    assert.equal(why(await workers.give(workers.applyOf("pinned", "hooked", { chart: other }))), "digest-mismatch");
  });

  for (const [what, over, access, reason] of [
    ["a chart that does not exist", { name: "nothing" }, undefined, "chart-not-found"],
    ["a version that does not exist", { version: "9.9.9" }, undefined, "chart-not-found"],
    ["an authority that is not given", {}, {}, "repository-refused"],
    ["a registry that does not answer", { repository: "oci://127.0.0.1:1/charts" }, undefined, "repository-unreachable"],
  ] as const)
    test(`says what is wrong with ${what}`, async () => {
      const task = workers.applyOf("bad", "hooked", { chart: chart(over) });
      const result = await workers.give(task, access === undefined ? {} : { repository: access });
      assert.equal(why(result), reason, JSON.stringify(result));
    });

  test("logs in where the registry asks for it, and says when it is refused, without the password", async () => {
    workers.charts.demand("reader", "s3cret-of-the-registry");
    const { ca } = workers.charts;
    const task = workers.applyOf("locked", "hooked", { chart: chart({ version: "1.0.0" }) });
    for (const access of [{ ca }, { ca, username: "reader", password: "hunter2-of-somebody" }]) {
      const refused = await workers.give(task, { repository: access });
      assert.equal(why(refused), "repository-refused", JSON.stringify(refused));
      assert.doesNotMatch(JSON.stringify(refused), /hunter2/);
    }
    const access = { ca, username: "reader", password: "s3cret-of-the-registry" };
    assert.deepEqual(told(await workers.give(task, { repository: access })), [1, true, "1.0.0"]);
  });
});
