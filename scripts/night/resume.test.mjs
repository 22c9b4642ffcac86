import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { seedsKnown, unitsKept, unitsToPlay } from "./resume.mjs";

const canary = { part: "canary", verdict: "passed" };
const failed = { part: "lives", verdict: "failed" };
const waiting = { part: "lives" };
const real = { part: "real", verdict: "passed" };
const report = { commit: "one", units: [canary, failed, waiting, real] };

describe("a night that goes on", () => {
  it("keeps what the same commit did, and nothing of another", () => {
    const parts = ["canary", "lives"];
    assert.deepEqual(unitsKept(report, { commit: "one", parts, fresh: false }), report.units);
    assert.deepEqual(unitsKept(report, { commit: "two", parts, fresh: false }), []);
    assert.deepEqual(unitsKept(undefined, { commit: "one", parts, fresh: false }), []);
  });

  it("begins anew with the parts that were asked for, and keeps the verdicts of others", () => {
    assert.deepEqual(unitsKept(report, { commit: "one", parts: ["canary", "lives"], fresh: true }), [real]);
  });

  it("plays what has no verdict, of the parts that were asked for", () => {
    assert.deepEqual(unitsToPlay([...report.units, { part: "real" }], ["canary", "lives"]), [waiting]);
  });

  it("does not get past a canary that was missed", () => {
    const missed = { part: "canary", verdict: "failed" };
    assert.deepEqual(unitsToPlay([missed, failed, waiting], ["canary", "lives"]), [missed, waiting]);
  });

  it("knows a failed seed once", () => {
    const seed = { seed: 1, command: "npm run simulate -- --seed 1" };
    const other = { seed: 2, command: "npm run simulate -- --seed 2" };
    assert.deepEqual(seedsKnown(seedsKnown(seedsKnown([], seed), other), seed), [seed, other]);
  });
});
