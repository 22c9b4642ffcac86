import assert from "node:assert/strict";
import { it } from "node:test";
import { errorReference } from "./error-reference.ts";
import { kubeApiErrorCodes } from "./kube-api-error.ts";

it("explains every error code once, in sentences", () => {
  assert.deepEqual(Object.keys(errorReference.codes), [...kubeApiErrorCodes]);
  for (const [code, texts] of Object.entries(errorReference.codes))
    for (const text of Object.values(texts)) assert.match(text, /^[^\n]+\.$/, code);
});
