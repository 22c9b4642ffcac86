import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations } from "@talos-operator/api";
import type { TalosCluster, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import { isEffectError } from "../errors.ts";
import { controlPlane, worker } from "../testing/builders.ts";
import { demandPool } from "./demand-pool.ts";

const pool = worker(1);
const saying = (mode: string): Partial<TalosWorker["metadata"]> => ({ annotations: { [annotations.reconcileMode]: mode } });
const going = { deletionTimestamp: "2026-01-01T11:00:00Z" };
const owned = {
  ownerReferences: [{ apiVersion: "talos.alperen.cloud/v1alpha1", kind: "TalosCluster", name: "demo", uid: "c", controller: true }],
};
const takenOver: TalosControlPlane = {
  ...controlPlane(),
  status: {
    conditions: [{ type: "Imported", status: "True", reason: "Imported", message: "", lastTransitionTime: "2026-01-01T11:00:00Z" }],
  },
};

/** Asks after a decision on `decided`, where the pool is like that by now. */
async function asked(
  now: TalosWorker | undefined,
  { decided = pool, cluster = "reconcile", plane = controlPlane() } = {},
): Promise<unknown> {
  const parent = { kind: "TalosCluster", metadata: { name: "demo", ...saying(cluster) } } as TalosCluster;
  try {
    await demandPool(
      "demo-workers",
      { worker: async () => now, talosCluster: async () => parent },
      { workers: [decided], controlPlane: plane },
    );
    return "goes on";
  } catch (thrown) {
    return isEffectError(thrown) ? thrown.code : thrown;
  }
}

for (const [what, now, more, want] of [
  ["is as it was", pool, {}, "goes on"],
  ["says reconcile", worker(1, saying("reconcile")), {}, "goes on"],
  ["says disable", worker(1, saying("disable")), {}, "MODE_CHANGED"],
  ["says dryrun", worker(1, saying("dryrun")), {}, "MODE_CHANGED"],
  ["is to be taken over", worker(1, saying("import")), {}, "MODE_CHANGED"],
  ["was taken over", worker(1, saying("import")), { plane: takenOver }, "goes on"],
  ["was made by a TalosCluster that says disable", worker(1, owned), { cluster: "disable" }, "MODE_CHANGED"],
  ["was not made by the TalosCluster that says disable", pool, { cluster: "disable" }, "goes on"],
  ["is gone", undefined, {}, "MODE_CHANGED"],
  ["is another object", worker(1, { uid: "another" }), {}, "MODE_CHANGED"],
  ["is deleted meanwhile", worker(1, going), {}, "MODE_CHANGED"],
  ["was deleted when that was decided", worker(1, going), { decided: worker(1, going) }, "goes on"],
  [
    "refers to another control plane",
    { ...pool, spec: { ...pool.spec, controlPlaneRef: { name: "other" } } } as TalosWorker,
    {},
    "MODE_CHANGED",
  ],
] as const)
  test(`a pool that ${what}: ${want}`, async () => {
    assert.equal(await asked(now, more), want);
  });
