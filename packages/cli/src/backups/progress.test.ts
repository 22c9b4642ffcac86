import assert from "node:assert/strict";
import { test } from "node:test";
import { progressLine } from "./progress.ts";

test("progress is told in bytes, and as a share where the whole is known", () => {
  assert.equal(progressLine("asking s3://b", 0), "asking s3://b ...");
  assert.equal(progressLine("reading a", 512), "reading a: 512 B");
  assert.equal(progressLine("reading a", 1536, 3072), "reading a: 1.5 KiB of 3.0 KiB (50 %)");
  assert.equal(progressLine("reading a", 3 * 2 ** 30, 2 ** 31), "reading a: 3.0 GiB of 2.0 GiB (100 %)");
});
