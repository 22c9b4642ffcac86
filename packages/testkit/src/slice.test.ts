import assert from "node:assert/strict";
import { test } from "node:test";
import { readSlice } from "./slice.ts";

test("a slice is given by its text", () => {
  assert.deepEqual(readSlice("2/10"), { index: 2, count: 10 });
  for (const none of ["", "3/3", "1/0", "-1/3", "1/3/5", "a/b"]) assert.equal(readSlice(none), undefined, none);
});
