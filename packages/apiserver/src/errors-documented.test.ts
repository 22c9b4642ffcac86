import assert from "node:assert/strict";
import { it } from "node:test";
import { apiServerErrorCodes } from "./api-server-error.ts";
import { errorReference } from "./error-reference.ts";

it("explains every error code once, in sentences", () => {
  assert.deepEqual(new Set(Object.keys(errorReference.codes)), new Set(apiServerErrorCodes));
  for (const [code, texts] of Object.entries(errorReference.codes))
    for (const text of Object.values(texts)) assert.match(text, /^[^\n]+\.$/, code);
});
