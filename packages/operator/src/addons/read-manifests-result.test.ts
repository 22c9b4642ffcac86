import assert from "node:assert/strict";
import { test } from "node:test";
import { readAddonResult } from "./read-result.ts";

const kept = { total: 1, names: ["Namespace web"] };
const applied = {
  kind: "manifests-applied",
  objects: 2,
  workloads: [{ kind: "Job", namespace: "web", name: "a" }],
  pruned: 0,
  kept,
  at: 1,
};
const removed = { kind: "manifests-removed", wasThere: true, deleted: 1, kept };
const failed = { kind: "manifests-failed", reason: "digest-mismatch", message: "words", mayRepeat: false };

for (const result of [applied, removed, failed])
  test(`${result.kind} is read as it was told`, () => assert.deepEqual(readAddonResult(JSON.stringify(result)), result));

for (const [what, told] of [
  ["another word for a reason", { ...failed, reason: "constructor" }],
  ["a count that is none", { ...applied, objects: -1 }],
  ["a workload of another kind", { ...applied, workloads: [{ kind: "Pod", namespace: "web", name: "a" }] }],
  ["no list of what was kept", { ...removed, kept: { total: 1 } }],
  ["no time", { ...applied, at: null }],
] as const)
  test(`${what} is no result`, () => assert.equal(readAddonResult(JSON.stringify(told)), undefined));
