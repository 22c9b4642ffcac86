import assert from "node:assert/strict";
import { test } from "node:test";
import { errorReference } from "./error-reference.ts";
import { EffectError, effectRemedies, isEffectError } from "./errors.ts";

test("every code is explained once, in sentences", () => {
  assert.deepEqual(Object.keys(errorReference.codes), Object.keys(effectRemedies));
  for (const [code, texts] of Object.entries(errorReference.codes))
    for (const text of Object.values(texts)) assert.match(text, /^[^\n]+\.$/, code);
});

test("an effect error begins with its code and ends with what to do", () => {
  const error = new EffectError("RECORD_CHANGED", "the record moved");
  assert.equal(error.message, `RECORD_CHANGED: the record moved. ${effectRemedies.RECORD_CHANGED}`);
  assert.ok(
    isEffectError(error) &&
      isEffectError(error, "RECORD_CHANGED") &&
      !isEffectError(error, "NOT_LEADING") &&
      !isEffectError(new Error("x")),
  );
});
