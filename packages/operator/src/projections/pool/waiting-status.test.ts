import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionFor, rfc3339 } from "@talos-operator/api";
import type { ConditionInput, TalosControlPlane } from "@talos-operator/api";
import { controlPlane, worker } from "../../testing/builders.ts";
import { heldStatus, waitingForImport } from "./waiting-status.ts";

function told(conditions: readonly ConditionInput[]): TalosControlPlane {
  const { metadata, ...rest } = controlPlane();
  const dated = conditions.map((condition) => ({ ...condition, lastTransitionTime: rfc3339(0) }));
  return { ...rest, metadata, status: { observedGeneration: metadata.generation ?? 0, conditions: dated } };
}

const reasonsOf = (conditions: readonly ConditionInput[]): Readonly<Record<string, string>> =>
  Object.fromEntries(conditions.map(({ type, reason }) => [type, reason]));

test("a pool that is to be taken over is not ready, and is stalled where its control plane is", () => {
  const waiting = told([conditionFor("Stalled", "PersonNeeded", "Approve it.")]);
  assert.deepEqual(reasonsOf(waitingForImport(worker(1), "demo", waiting).conditions), {
    Ready: "ImportPending",
    Progressing: "Blocked",
    Paused: "ReconcileModeImport",
    Stalled: "PersonNeeded",
  });
  const verifying = told([conditionFor("Reconciling", "Progressing", "Machines are read.")]);
  assert.equal(reasonsOf(waitingForImport(worker(1), "demo", verifying).conditions)["Reconciling"], "Progressing");
});

test("a pool that is to be taken over says that its control plane is not there", () => {
  const { conditions } = waitingForImport(worker(1), "demo", undefined);
  assert.equal(reasonsOf(conditions)["Ready"], "ControlPlaneNotFound");
  assert.match(conditions[0]?.message ?? "", /TalosControlPlane demo/);
  assert.match(waitingForImport(worker(1), "", undefined).conditions[0]?.message ?? "", /^The pool names no TalosControlPlane/);
});

test("a pool of a control plane that is left alone says so where nothing was said of it, and keeps what was", () => {
  assert.deepEqual(reasonsOf(heldStatus(worker(1), told([])).conditions), { Ready: "Paused" });
  const importing = told([conditionFor("Imported", "ApprovalRequired", "Approve it.")]);
  assert.deepEqual(reasonsOf(heldStatus(worker(1), importing).conditions), { Ready: "ImportPending" });
  const ready = { ...conditionFor("Ready", "AllReady", "Ready.", 1), lastTransitionTime: rfc3339(0) };
  const known = { ...worker(1), status: { observedGeneration: worker(1).metadata.generation ?? 0, conditions: [ready] } };
  const held = heldStatus(known, told([]));
  assert.deepEqual([held.conditions, held.keepsOthers], [[], true]);
});

test("a pool that is left alone in the middle of its work is not under way, for people and tools alike, as often as it is looked at", () => {
  const progress = { ...conditionFor("Progressing", "WaitingForMachines", "Waits.", 1), lastTransitionTime: rfc3339(0) };
  const ready = { ...conditionFor("Ready", "WaitingForMachines", "Waits.", 1), lastTransitionTime: rfc3339(0) };
  const reconciling = { ...conditionFor("Reconciling", "Progressing", "Waits.", 1), lastTransitionTime: rfc3339(0) };
  const wants = { Progressing: "Blocked", Stalled: "Paused" };
  const first = heldStatus({ ...worker(1), status: { observedGeneration: 1, conditions: [ready, progress, reconciling] } }, told([]));
  assert.deepEqual(reasonsOf(first.conditions), wants);
  const written = first.conditions.map((condition) => ({ ...condition, lastTransitionTime: rfc3339(0) }));
  const again = heldStatus({ ...worker(1), status: { observedGeneration: 1, conditions: [ready, ...written] } }, told([]));
  assert.deepEqual(reasonsOf(again.conditions), wants);
});
