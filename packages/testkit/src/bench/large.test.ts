import assert from "node:assert/strict";
import { test } from "node:test";
import { missedBounds } from "./large.ts";

const figures = { workers: 1_000, settledPassMs: 10, longestBlockMs: 50, bytesPerIntent: 1, ratioTo100: 15 };

for (const [what, over, isBusy, missed] of [
  ["holds at its bounds", {}, false, 0],
  ["misses a slow pass", { settledPassMs: 10.1 }, false, 1],
  ["misses a long block", { longestBlockMs: 50.1 }, false, 1],
  ["gives both three times as long on a busy machine", { settledPassMs: 30, longestBlockMs: 150 }, true, 0],
  ["and no longer", { settledPassMs: 30.1, longestBlockMs: 150.1 }, true, 2],
  ["wants machines to cost the same on a busy machine, too", { ratioTo100: 15.1 }, true, 1],
  ["takes no figure for a good one", { ratioTo100: Number.NaN }, false, 1],
] as const)
  test(`the benchmark of a large cluster ${what}`, () => assert.equal(missedBounds({ ...figures, ...over }, isBusy).length, missed));
