import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as fc from "fast-check";
import { whyNotExpression, type ExpressionScope } from "./check.ts";

interface Recorded {
  readonly scope: ExpressionScope;
  readonly type: "bool" | "double";
  readonly expression: string;
  /** What Talos 1.13.9 says; null when it takes the expression. */
  readonly refusal: string | null;
}

const recorded = JSON.parse(readFileSync(new URL("../../../../testdata/validate/expressions.json", import.meta.url), "utf8")) as Recorded[];

test("every recorded expression is judged word for word as Talos judges it", () => {
  assert.ok(recorded.length > 100);
  for (const { scope, type, expression, refusal } of recorded) {
    assert.equal(whyNotExpression(expression, scope, type) ?? null, refusal, `${scope}: ${expression}`);
  }
});

test("comparisons bind alike from left to right, whatever parentheses are around their parts", () => {
  const verdicts: readonly (readonly [string, boolean])[] = [
    ["true == 1 < 2", false],
    ["true == (1 < 2)", true],
    ["1 < 2 == true", true],
    ["(true) == (1) < (2)", false],
    ["(true == (1 < 2)) == (false)", true],
  ];
  for (const [expression, isTaken] of verdicts) {
    assert.equal(whyNotExpression(expression, "disk", "bool") === undefined, isTaken, expression);
  }
});

test("an expression that cannot be read is refused at the place where it breaks", () => {
  const places: readonly (readonly [string, string])[] = [
    ["disk.size = 1u", "1:11: Syntax error: token recognition error at: '= '"],
    ["disk..model", "1:6: Syntax error"],
    ["true ? true ? true : false : false", "1:13: Syntax error: mismatched input '?' expecting ':'"],
    ['disk.model == "open', "1:15: Syntax error: token recognition error at: '\"open'"],
    ["disk.rotational\n&& )", "2:4: Syntax error"],
  ];
  for (const [expression, place] of places) {
    assert.match(
      whyNotExpression(expression, "disk", "bool") ?? "",
      new RegExp(`^ERROR: <input>:${place.replace(/[.?'+*()[\]]/g, "\\$&")}`),
    );
  }
});

test("no text makes the check throw", () => {
  const word = fc.constantFrom(
    "disk",
    ".size",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "?",
    ":",
    ",",
    "==",
    "in",
    "1u",
    "'a'",
    "has",
    ".all",
    "x",
    " ",
    "!",
    "-",
    "\n",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(word).map((words) => words.join("")),
      ),
      (expression) => {
        const refusal = whyNotExpression(expression, "disk", "bool");
        assert.ok(refusal === undefined || refusal.length > 0);
      },
    ),
  );
});
