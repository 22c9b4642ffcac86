import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { facts, NOW } from "../testing/builders.ts";
import { withDecisions } from "./facts.ts";
import type { DecisionFact } from "../model/record.ts";

describe("the remembered decisions", () => {
  const decision = (index: number): DecisionFact => ({ at: NOW + index, action: "Reboot", reason: "Drift", message: `Number ${index}.` });
  const numbered = (from: number, to: number): readonly DecisionFact[] =>
    Array.from({ length: to - from + 1 }, (_, index) => decision(from + index));

  it("are all kept up to fifty, the newest last", () => {
    const kept = withDecisions(withDecisions(facts(), ...numbered(1, 49)), decision(50));
    assert.deepEqual(kept.decisions, numbered(1, 50));
  });

  it("lose the oldest for a new one beyond that", () => {
    const full = withDecisions(facts(), ...numbered(1, 50));
    assert.deepEqual(withDecisions(full, decision(51)).decisions, numbered(2, 51));
  });
});
