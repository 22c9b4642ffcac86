import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import type { KubeTransport } from "@talos-operator/ports";
import { conformanceCases, createWorld, installConformanceKinds } from "./index.ts";

const tools = process.env["TALOS_OPERATOR_TOOLS"] ?? "";
const hack = join(import.meta.dirname, "../../../../hack/tools");

// The judge: what the suite says about us must be true of the genuine server first.
describe("the genuine kube-apiserver", () => {
  const folder = mkdtempSync(join(tmpdir(), "conformance-"));
  let transport: KubeTransport;
  before(async () => {
    const log = join(folder, "start.log");
    const started = spawnSync("bash", ["-c", `"$0" "$1" > "$2" 2>&1`, join(hack, "start-apiserver.sh"), folder, log], {
      env: { ...process.env, BIN: tools },
    });
    assert.equal(started.status, 0, readFileSync(log, "utf8"));
    transport = createHttpsTransport((await loadKubeconfig({ path: join(folder, "kubeconfig") })).config);
    await installConformanceKinds(transport);
  });
  after(() => {
    transport.close();
    spawnSync("bash", [join(hack, "stop-apiserver.sh"), folder]);
    rmSync(folder, { recursive: true, force: true });
  });

  for (const [subject, cases] of Object.entries(conformanceCases)) {
    describe(subject, () => {
      for (const { name, run } of cases) {
        it(name, async () => run(await createWorld(transport)));
      }
    });
  }
});
