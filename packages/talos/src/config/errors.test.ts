import assert from "node:assert/strict";
import { test } from "node:test";
import { errorReference } from "./error-reference.ts";
import { ConfigError, isConfigError, remedies, type ConfigErrorCode } from "./errors.ts";

test("every code is explained once, in sentences, and its remedy begins with what the message ends with", () => {
  assert.deepEqual(Object.keys(errorReference.codes), Object.keys(remedies));
  for (const [code, texts] of Object.entries(errorReference.codes)) {
    for (const text of Object.values(texts)) assert.match(text, /^[^\n]+\.$/, code);
    assert.ok(texts.remedy.startsWith(remedies[code as ConfigErrorCode]), code);
  }
});

test("a message names code, place and remedy", () => {
  const error = new ConfigError("WRONG_TYPE", "cannot construct", { document: "/v1alpha1/", path: "machine.type", line: 3, column: 7 });
  assert.equal(
    error.message,
    "WRONG_TYPE: cannot construct (document /v1alpha1/, path machine.type, line 3, column 7). Give a value of the named type",
  );
  assert.ok(isConfigError(error));
  assert.ok(!isConfigError(new Error("x")));
});

test("what is known about the place is not overwritten", () => {
  const error = new ConfigError("WRONG_TYPE", "x", { line: 3 }).at({ document: "/v1alpha1/", line: 9 });
  assert.deepEqual([error.document, error.line, error.code], ["/v1alpha1/", 3, "WRONG_TYPE"]);
});
