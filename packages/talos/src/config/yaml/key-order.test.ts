import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { compareBytes, compareKeys } from "./key-order.ts";

test("numbers inside keys count as numbers, and letters come last", () => {
  const keys = ["a10", "a9", "b", "a", "1", "A", "a-b", "a.b", "a01", "_"];
  assert.deepEqual(keys.toSorted(compareKeys), ["_", "1", "A", "a", "a-b", "a.b", "a01", "a9", "a10", "b"]);
});

test("the library before put letters last behind digits too", () => {
  assert.deepEqual(["a9b", "a9-"].toSorted(compareKeys), ["a9b", "a9-"]);
  assert.deepEqual(
    ["a9b", "a9-"].toSorted((a, b) => compareKeys(a, b, true)),
    ["a9-", "a9b"],
  );
});

test("bytes know no numbers", () => {
  assert.deepEqual(["a9", "a10", "é", "z", "Z"].toSorted(compareBytes), ["Z", "a10", "a9", "z", "é"]);
});

test("the order of keys is antisymmetric", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      assert.equal(Math.sign(compareKeys(a, b)), -Math.sign(compareKeys(b, a)) || 0);
    }),
    { seed: 3 },
  );
});
