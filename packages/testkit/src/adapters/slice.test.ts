import assert from "node:assert/strict";
import { test } from "node:test";
import { readSlice } from "./slice.ts";

test("a slice is given by its text, or depends on the commit", () => {
  assert.deepEqual(readSlice("2/10", 3), { index: 2, count: 10 });
  for (const none of ["", "3/3", "1/0", "-1/3", "1/3/5", "a/b"]) assert.equal(readSlice(none, 3), undefined, none);
  const told = readSlice("auto", 3);
  assert.equal(told?.count, 3);
  assert.ok(told.index >= 0 && told.index < 3);
});
