import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { conditionCatalogue } from "../index.ts";
import type { ConditionEntry } from "../index.ts";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/reference/conditions.md"), "utf8");
const catalogue: Readonly<Record<string, ConditionEntry>> = conditionCatalogue;

describe("the condition catalogue", () => {
  for (const [type, { meaning, kinds, reasons }] of Object.entries(catalogue)) {
    it(`documents ${type}: words in UpperCamelCase, a sentence each, and what to do about what is not as it should be`, () => {
      assert.match(type, /^[A-Z][A-Za-z]+$/);
      assert.match(meaning, /\.$/);
      assert.ok(kinds.length > 0);
      for (const [reason, { when, next }] of Object.entries(reasons)) {
        assert.match(reason, /^[A-Z][A-Za-z]+$/);
        assert.match(when, /\.$/, reason);
        assert.match(next, /^-$|\.$/, reason);
      }
    });
  }

  it("stands on its page, entry for entry", () => {
    const headings = [...page.matchAll(/^## (\w+)$/gm)].map(([, type]) => type);
    assert.deepEqual(headings, Object.keys(catalogue));
    const rows = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, reason]) => reason);
    assert.deepEqual(
      rows,
      Object.values(catalogue).flatMap(({ reasons }) => Object.keys(reasons)),
    );
  });
});
