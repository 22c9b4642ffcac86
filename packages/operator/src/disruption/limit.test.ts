import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { RolloutStrategy } from "@talos-operator/api";
import { isUnusableLimit, maxUnavailableOf } from "./limit.ts";

const strategy = (maxUnavailable: unknown): RolloutStrategy =>
  ({ type: "RollingUpdate", rollingUpdate: { maxUnavailable } }) as RolloutStrategy;

describe("maxUnavailable", () => {
  for (const [given, size, most] of [
    [1, 10, 1],
    [3, 10, 3],
    ["3", 10, 3],
    ["30%", 10, 3],
    ["34%", 3, 1],
    ["100%", 4, 4],
    ["250%", 4, 10],
    ["1%", 10, 1],
    ["30%", 0, 1],
  ] as const)
    test(`${JSON.stringify(given)} of ${size} is ${most}`, () => {
      assert.equal(maxUnavailableOf(strategy(given), size), most);
      assert.equal(isUnusableLimit(strategy(given)), false);
    });

  for (const given of [0, -1, 2.5, "2.5", "0", "0%", "-5%", "07", "007%", "%", "", " 3", "3 ", "50 %", "1e3", "nonsense", "0x10"])
    test(`${JSON.stringify(given)} is one at a time, and is told`, () => {
      assert.equal(maxUnavailableOf(strategy(given), 100), 1);
      assert.equal(isUnusableLimit(strategy(given)), true);
    });

  test("nothing is one at a time, and nothing to tell", () => {
    for (const none of [undefined, { type: "RollingUpdate" } as const, { type: "RollingUpdate", rollingUpdate: {} } as const]) {
      assert.equal(maxUnavailableOf(none, 100), 1);
      assert.equal(isUnusableLimit(none), false);
    }
  });
});
