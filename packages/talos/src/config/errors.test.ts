import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ConfigError, isConfigError, remedies } from "./errors.ts";

const page = readFileSync(new URL("../../../../docs/reference/errors/talos-config.md", import.meta.url), "utf8");

test("every code has an entry on the page, and every entry is a code", () => {
  const entries = [...page.matchAll(/^## (\S+)$/gm)].map((match) => match[1]);
  assert.deepEqual(entries, Object.keys(remedies));
});

for (const [code, remedy] of Object.entries(remedies)) {
  test(`the page tells cause and effect of ${code}, and the remedy that the message ends with`, () => {
    const entry = page.split(`## ${code}\n`)[1]?.split("\n## ")[0] ?? "";
    assert.match(entry, /^- Cause: \S/m);
    assert.match(entry, /^- Effect: \S/m);
    assert.ok(entry.includes(`- Remedy: ${remedy}`), `the remedy on the page does not begin with ${JSON.stringify(remedy)}`);
  });
}

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
