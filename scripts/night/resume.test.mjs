import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { failedLives, livesKnown, unitsKept, unitsToPlay } from "./resume.mjs";

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

  it("replays a failed life alone", () => {
    const printed = [
      "   3 create                 no trouble             reached     npm run simulate -- --seed 7 --runs 7 --only 6",
      "   4 create                 power-lost             VIOLATION   npm run simulate -- --seed 7 --runs 9 --only 8",
      "   5 drain                  no trouble             not reached npm run simulate -- --seed 7 --runs 11 --only 10",
    ].join("\n");
    assert.deepEqual(failedLives(printed), [
      "npm run simulate -- --seed 7 --runs 9 --only 8",
      "npm run simulate -- --seed 7 --runs 11 --only 10",
    ]);
  });

  it("knows a failed life once", () => {
    const seed = { seed: 1, command: "npm run simulate -- --seed 1" };
    const other = { seed: 2, command: "npm run simulate -- --seed 2" };
    assert.deepEqual(livesKnown(livesKnown([seed], [other]), [seed]), [seed, other]);
  });
});
