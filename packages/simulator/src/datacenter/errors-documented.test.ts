import assert from "node:assert/strict";
import test from "node:test";
import { errorReference } from "./error-reference.ts";
import { simulatorErrorCodes } from "./errors.ts";

test("every error code is explained once, in sentences", () => {
  assert.deepEqual(Object.keys(errorReference.codes).toSorted(), [...simulatorErrorCodes].toSorted());
  for (const [code, texts] of Object.entries(errorReference.codes))
    for (const text of Object.values(texts)) assert.match(text, /^[^\n]+\.$/, code);
});
