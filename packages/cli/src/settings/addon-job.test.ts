import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { load, loadAll } from "js-yaml";
import { readAddonJob } from "./addon-job.ts";

const whole = { image: "example/operator:1", serviceAccountName: "addon", scratchSize: "1Gi" };

describe("ADDON_JOB", () => {
  it("is what the published manifests say", () => {
    const text = readFileSync(new URL("../../../../config/manager/manager.yaml", import.meta.url), "utf8");
    const [, deployment] = loadAll(text) as [
      unknown,
      { spec: { template: { spec: { containers: { env: { name: string; value: string }[] }[] } } } },
    ];
    const value = deployment.spec.template.spec.containers[0]?.env.find(({ name }) => name === "ADDON_JOB")?.value ?? "";
    const read = readAddonJob(value);
    assert.ok("value" in read && read.value !== undefined);
    const values = load(readFileSync(new URL("../../../../charts/talos-operator/values.yaml", import.meta.url), "utf8")) as {
      addons: { resources: unknown; scratchSize: string };
    };
    assert.deepEqual([read.value.resources, read.value.scratchSize], [values.addons.resources, values.addons.scratchSize]);
  });

  it("may be absent, and may have every field", () => {
    assert.deepEqual(readAddonJob(""), { value: undefined });
    const all = { ...whole, resources: { limits: { memory: "1Gi" } }, env: [{ name: "HTTPS_PROXY", value: "http://proxy:3128" }] };
    assert.deepEqual(readAddonJob(JSON.stringify(all)), { value: all });
  });

  for (const [name, over] of [
    ["no image", { image: undefined }],
    ["a field of the Jobs of backups alone", { directoryClaim: "backups" }],
    ["a field that nothing reads", { hostNetwork: true }],
    ["a field that objects inherit", { constructor: "x" }],
    ["an environment that is no list", { env: { HTTPS_PROXY: "x" } }],
  ] as const)
    it(`refuses ${name}`, () => assert.ok("problem" in readAddonJob(JSON.stringify({ ...whole, ...over }))));
});
