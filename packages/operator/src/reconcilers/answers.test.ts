import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Observed } from "../model/observation.ts";
import { awaitedAnswers } from "./answers.ts";

const told = { metadata: { name: "demo", generation: 2 }, status: { observedGeneration: 1, conditions: [] } };

function seenWith(kind: "TalosControlPlane" | "TalosWorker", now: number): Observed {
  const machine = { declared: { name: "demo-10.5.0.1", owner: { kind, name: "demo" } } };
  return { now, machines: [machine], former: [], workers: [told] } as unknown as Observed;
}

const toChange = new Set(["demo-10.5.0.1"]);

describe("what a change waits for", () => {
  test("the pool of its machine, for two seconds", () => {
    const cluster = { answersAwaitedSince: undefined };
    assert.deepEqual(awaitedAnswers(toChange, seenWith("TalosWorker", 0), [], cluster), [told]);
    assert.deepEqual(awaitedAnswers(toChange, seenWith("TalosWorker", 1_999), [], cluster), [told]);
    assert.deepEqual(awaitedAnswers(toChange, seenWith("TalosWorker", 2_000), [], cluster), []);
  });
  test("no pool that has the name of its control plane", () =>
    assert.deepEqual(awaitedAnswers(toChange, seenWith("TalosControlPlane", 0), [], { answersAwaitedSince: undefined }), []));
});
