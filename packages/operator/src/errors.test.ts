import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { EffectError, effectRemedies, isEffectError } from "./errors.ts";

test("every code has an entry with cause, effect and remedy, and the page has no other", () => {
  const page = readFileSync(new URL("../../../docs/reference/errors/operator.md", import.meta.url), "utf8");
  const entries = page.split(/^## /m).slice(1);
  assert.deepEqual(
    entries.map((entry) => entry.split("\n")[0]),
    Object.keys(effectRemedies),
  );
  for (const entry of entries)
    for (const part of ["- Cause:", "- Effect:", "- Remedy:"]) assert.ok(entry.includes(part), `${entry.slice(0, 40)} lacks ${part}`);
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
