import assert from "node:assert/strict";
import { it } from "node:test";
import * as fc from "fast-check";
import { compareResourceVersions } from "./resource-version.ts";

it("orders resourceVersions as numbers, also beyond what a number holds", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 80n }), fc.bigInt({ min: 0n, max: 2n ** 80n }), (a, b) => {
      const order = compareResourceVersions(String(a), String(b)) ?? Number.NaN;
      assert.equal(Math.sign(order), a < b ? -1 : a > b ? 1 : 0);
    }),
  );
});

it("does not order what is no number", () => {
  assert.equal(compareResourceVersions("abc", "12"), undefined);
  assert.equal(compareResourceVersions("007", "7"), undefined);
  assert.equal(compareResourceVersions("abc", "abc"), 0);
});
