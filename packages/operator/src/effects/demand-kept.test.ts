import assert from "node:assert/strict";
import { test } from "node:test";
import { isEffectError } from "../errors.ts";
import { controlPlane, facts, observed, worker } from "../testing/builders.ts";
import type { LatestWords } from "../controllers/shared/latest.ts";
import { demandKept } from "./demand-kept.ts";

const machine = "demo-workers-10.0.1.1";

/** Asks for a machine of a pool beside a control plane that `maker` made, where objects of these kinds are being deleted by now. */
function asked(maker: "TalosCluster" | "KubernetesCluster", going: readonly string[], finalizers: readonly string[] = []): Promise<void> {
  const owner = { apiVersion: "v1", kind: maker, name: "demo", uid: "c", controller: true };
  const seen = observed({ controlPlane: controlPlane(1, {}, { ownerReferences: [owner] }), workers: [worker(1)], facts: facts() });
  const answer = (kind: string) => async (): Promise<object> => ({
    kind,
    metadata: { name: "demo", ...(going.includes(kind) ? { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers } : {}) },
  });
  const latest = {
    controlPlane: answer("TalosControlPlane"),
    worker: answer("TalosWorker"),
    talosCluster: answer("TalosCluster"),
    kubernetesCluster: answer("KubernetesCluster"),
  };
  return demandKept(machine, latest as unknown as LatestWords, seen);
}

for (const maker of ["TalosCluster", "KubernetesCluster"] as const) {
  test(`a machine of a ${maker} that stays is configured, whatever becomes of the other kind`, async () => {
    await asked(maker, [maker === "TalosCluster" ? "KubernetesCluster" : "TalosCluster"]);
  });
  for (const kind of [maker, "TalosControlPlane", "TalosWorker"])
    test(`a machine of a ${maker} is not configured when its ${kind} is being deleted by now`, async () => {
      await assert.rejects(asked(maker, [kind]), (thrown) => isEffectError(thrown, "MODE_CHANGED"));
      await asked(maker, [kind], ["orphan"]);
    });
}
