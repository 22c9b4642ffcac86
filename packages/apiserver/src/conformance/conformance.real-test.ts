import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import type { KubeTransport } from "@talos-operator/ports";
import { conformanceCases, createWorld, installConformanceKinds, type World } from "./index.ts";

const tools = process.env["TALOS_OPERATOR_TOOLS"] ?? "";
const hack = join(import.meta.dirname, "../../../../hack/tools");
/** What collects garbage and empties namespaces of the genuine server; its other controllers would only disturb. */
const controllers = "garbage-collector-controller,namespace-controller,serviceaccount-controller";
const hasControllers = existsSync(join(tools, "kube-controller-manager"));

/** Longer than a controller manager takes to start on a busy machine: nobody waits for that before the first case. */
const STARTED_MS = 180_000;

/** A world whose namespace has the account that pods get: a controller makes it a moment after the namespace, later when it is busy. */
async function worldWithAccount(transport: KubeTransport): Promise<World> {
  const world = await createWorld(transport);
  if (!hasControllers) return world;
  const account = world.core("serviceaccounts", "default");
  const hasAccount = async (): Promise<boolean> => (await world.get(account)).status === 200;
  for (const begun = performance.now(); !(await hasAccount());) {
    assert.ok(performance.now() - begun < STARTED_MS, "nobody makes the account of a namespace");
    await delay(10);
  }
  return world;
}

// The judge: what the suite says about us must be true of the genuine server first.
describe("the genuine kube-apiserver", () => {
  const folder = mkdtempSync(join(tmpdir(), "conformance-"));
  let transport: KubeTransport;
  before(async () => {
    const log = join(folder, "start.log");
    const started = spawnSync("bash", ["-c", `"$0" "$1" > "$2" 2>&1`, join(hack, "start-apiserver.sh"), folder, log], {
      env: { ...process.env, BIN: tools, ...(hasControllers ? { KCM: "1", KCM_CONTROLLERS: controllers } : {}) },
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
    const skip = subject === "garbage collection" && !hasControllers ? "kube-controller-manager is not among the tools" : false;
    describe(subject, { skip }, () => {
      for (const { name, run } of cases) {
        it(name, async () => run(await worldWithAccount(transport)));
      }
    });
  }
});
