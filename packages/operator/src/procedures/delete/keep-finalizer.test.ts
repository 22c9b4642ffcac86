import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { controlPlane, observed, worker } from "../../testing/builders.ts";
import { keepFinalizers } from "./keep-finalizer.ts";
import type { World } from "../../testing/builders.ts";

const bare = { finalizers: [] };

for (const [what, world, want] of [
  [
    "a new cluster and its pool",
    { controlPlane: controlPlane(1, {}, bare), workers: [worker(1, bare)] },
    ["TalosControlPlane/demo", "TalosWorker/demo-workers"],
  ],
  ["a pool that joins later", { workers: [worker(1, bare)] }, ["TalosWorker/demo-workers"]],
  ["nothing that is guarded", { workers: [worker(1)] }, []],
  ["no pool that is deleted", { workers: [worker(1, { ...bare, deletionTimestamp: "2026-01-01T11:00:00Z" })] }, []],
  ["no pool that is paused", { workers: [worker(1, bare)], heldPools: new Set(["demo-workers"]) }, []],
  ["no pool whose spec cannot be: nothing is made of it", { workers: [worker(1, bare)], unsoundPools: ["demo-workers"] }, []],
] as const satisfies readonly (readonly [string, World, readonly string[]])[])
  test(`finalizers are put on ${what}`, () => {
    const actions = keepFinalizers.decide(assess(observed(world)))?.actions ?? [];
    assert.deepEqual(
      actions.map((action) => (action.kind === "AddFinalizer" ? `${action.object.kind}/${action.object.name}` : action.kind)),
      want,
    );
  });
