import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { load, loadAll } from "js-yaml";
import { readBackupJob } from "./backup-job.ts";

const whole = { image: "example/operator:1", serviceAccountName: "backup", scratchSize: "20Gi" };

describe("BACKUP_JOB", () => {
  it("is what the published manifests say", () => {
    const text = readFileSync(new URL("../../../../config/manager/manager.yaml", import.meta.url), "utf8");
    const [, deployment] = loadAll(text) as [
      unknown,
      { spec: { template: { spec: { containers: { env: { name: string; value: string }[] }[] } } } },
    ];
    const value = deployment.spec.template.spec.containers[0]?.env.find(({ name }) => name === "BACKUP_JOB")?.value ?? "";
    const read = readBackupJob(value);
    assert.ok("value" in read && read.value !== undefined);
    const values = load(readFileSync(new URL("../../../../charts/talos-operator/values.yaml", import.meta.url), "utf8")) as {
      backup: { resources: unknown; scratch: { size: string } };
    };
    assert.deepEqual([read.value.resources, read.value.scratchSize], [values.backup.resources, values.backup.scratch.size]);
  });

  it("may be absent, and may have every field", () => {
    assert.deepEqual(readBackupJob(""), { value: undefined });
    const all = {
      ...whole,
      imagePullPolicy: "Always",
      imagePullSecrets: [{ name: "pull" }],
      resources: { limits: { memory: "1Gi" } },
      scratchStorageClass: "fast",
      directoryClaim: "backups",
      labels: { team: "a" },
      annotations: { note: "b" },
      nodeSelector: { disk: "ssd" },
      tolerations: [{ operator: "Exists" }],
      priorityClassName: "low",
    };
    assert.deepEqual(readBackupJob(JSON.stringify(all)), { value: all });
  });

  for (const [name, text] of [
    ["what is no JSON", "{"],
    ["a list", "[]"],
    ["no image", JSON.stringify({ ...whole, image: undefined })],
    ["a size that is none", JSON.stringify({ ...whole, scratchSize: "much" })],
    ["a field that nothing reads", JSON.stringify({ ...whole, hostNetwork: true })],
    ["a label that is no text", JSON.stringify({ ...whole, labels: { a: 1 } })],
  ] as const)
    it(`refuses ${name}`, () => assert.ok("problem" in readBackupJob(text)));
});
