import assert from "node:assert/strict";
import { test } from "node:test";

import { errorReference } from "./error-reference.ts";
import { isSnapshotError, SNAPSHOT_ERROR_REMEDIES, SnapshotError } from "./errors.ts";

test("every code is explained once, in sentences", () => {
  assert.deepEqual(Object.keys(errorReference.codes), Object.keys(SNAPSHOT_ERROR_REMEDIES));
  for (const [code, texts] of Object.entries(errorReference.codes))
    for (const text of Object.values(texts)) assert.match(text, /^[^\n]+\.$/, code);
});

test("a message begins with its code and ends with the remedy", () => {
  const error = new SnapshotError("TRUNCATED", "3 pages are there");
  assert.equal(error.message, "TRUNCATED: 3 pages are there. Take or fetch the snapshot again: its end is missing.");
  assert.ok(isSnapshotError(error) && isSnapshotError(error, "CORRUPT", "TRUNCATED") && !isSnapshotError(error, "CORRUPT"));
});
