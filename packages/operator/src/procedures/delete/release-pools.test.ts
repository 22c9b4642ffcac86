import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { configured, controlPlane, facts, NOW, observed, worker } from "../../testing/builders.ts";
import { releasePools } from "./release-pools.ts";
import type { World } from "../../testing/builders.ts";

const going = { deletionTimestamp: "2026-01-01T11:00:00Z" };
const pool = worker(1, going);
const one = configured("10.0.1.1", "worker", "demo-workers");
const gone: World = { controlPlane: controlPlane(1), workers: [pool], facts: facts(), hasObjects: false };

for (const [what, world, isReleased] of [
  ["whose machines are gone", gone, true],
  ["that stays", { ...gone, workers: [worker(1)] }, false],
  ["that a TalosMachine is left of", { ...gone, hasObjects: true }, false],
  ["of whose machine the record says that it may be configured", { ...gone, facts: facts({ machines: [one] }) }, false],
  ["whose machine was released", { ...gone, facts: facts({ machines: [{ ...one, releasedAt: NOW }] }) }, true],
  ["whose record cannot be read", { ...gone, record: { kind: "unknown", detail: "x" } }, false],
  ["that never had a finalizer of ours", { ...gone, workers: [worker(1, { ...going, finalizers: ["example.org/other"] })] }, false],
  [
    "that was not what its cache said a moment ago",
    { ...gone, sent: new Map([["Compose/demo-workers", { at: NOW, outcome: "unknown", detail: "" }]]) },
    false,
  ],
  ["while the cluster goes too", { ...gone, controlPlane: controlPlane(1, {}, going) }, true],
] as const satisfies readonly (readonly [string, World, boolean])[])
  test(`a pool ${what} is ${isReleased ? "let go" : "kept"}`, () => {
    const want = [{ kind: "RemoveFinalizer", object: { kind: "TalosWorker", name: "demo-workers" } }];
    assert.deepEqual(releasePools.decide(assess(observed(world)))?.actions ?? [], isReleased ? want : []);
  });
