import assert from "node:assert/strict";
import { test } from "node:test";
import { commaSeparated } from "./comma-separated.ts";

test("items of a list flag are read as talosctl reads them", () => {
  const cases: readonly (readonly [string, readonly string[] | undefined])[] = [
    ["", []],
    ["a", ["a"]],
    ["a,b", ["a", "b"]],
    ["a,", ["a", ""]],
    [",a", ["", "a"]],
    ['"a,b",c', ["a,b", "c"]],
    ['"say ""hi""",b', ['say "hi"', "b"]],
    ['""', [""]],
    ['a"b', undefined],
    ['"a', undefined],
    ['"a"b', undefined],
  ];
  for (const [text, items] of cases) assert.deepEqual(commaSeparated(text), items, text);
});
