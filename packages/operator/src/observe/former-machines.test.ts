import assert from "node:assert/strict";
import { test } from "node:test";
import { configured, controlPlane, facts, worker } from "../testing/builders.ts";
import { formerMachines } from "./former-machines.ts";
import type { Tellers } from "./former-machines.ts";
import type { SeenRecord } from "../model/observation.ts";

const tellers: Tellers = { controlPlane: controlPlane(1), workers: [worker(0)], machineObjects: [], installed: [] };
const recordOf = (...machines: readonly ReturnType<typeof configured>[]): SeenRecord => ({
  resourceVersion: "7",
  metadata: { name: "demo" },
  facts: facts({ machines }),
});
const ownersOf = (record: SeenRecord | undefined, more: Partial<Tellers> = {}): readonly string[] =>
  formerMachines([], record, { ...tellers, ...more }).map(({ name, owner }) => `${name} of ${owner.name || "nobody"}`);

test("a worker whose TalosMachine is gone belongs to the pool that the record names", () => {
  const referred = { ...configured("10.0.1.1", "worker", "demo-workers"), name: "demo-workers-blue" };
  assert.deepEqual(ownersOf(recordOf({ ...referred, pool: "demo-workers" })), ["demo-workers-blue of demo-workers"]);
  assert.deepEqual(ownersOf(recordOf(referred)), ["demo-workers-blue of nobody"], "its name may be that of another pool's machine");
});

test("a record of before the pools belongs by the address in the name", () => {
  assert.deepEqual(ownersOf(recordOf(configured("10.0.1.1", "worker", "demo-workers"))), ["demo-workers-10.0.1.1 of demo-workers"]);
});

test("without a record a Machine that was installed tells of itself, and a second one at its address does not", () => {
  const blue = { name: "demo-workers-blue", role: "worker", pool: "demo-workers", address: "10.0.1.1" } as const;
  const installed = [blue, { ...blue, name: "demo-workers-green" }];
  assert.deepEqual(ownersOf(undefined, { installed }), ["demo-workers-blue of demo-workers"]);
  assert.deepEqual(ownersOf(recordOf(), { installed }), [], "the record says what it was made with");
});
