import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { emitYaml } from "./emit.ts";
import { kindOfPlain, oldBoolean } from "./resolve.ts";

describe("texts as Go's library prints them", () => {
  const cases: readonly (readonly [text: string, older: string, newer?: string])[] = [
    ["yes", '"yes"', "'yes'"],
    ["12:30", '"12:30"', "'12:30'"],
    ["1:60", "1:60"],
    ["<<", '"<<"', "'<<'"],
    ["1e400", "1e400"],
    ["1e-400", '"1e-400"'],
    ["0x1ffffffffffffffffff", "0x1ffffffffffffffffff"],
    ["99999999999999999999", '"99999999999999999999"'],
    ["0777777777777777777777777777777777", '"0777777777777777777777777777777777"'],
    ["2001-01-01T25:00:00Z", "2001-01-01T25:00:00Z"],
    ["2001-01-01T23:00:00Z", '"2001-01-01T23:00:00Z"'],
    ["\u{1f600}", '"\\U0001F600"'],
    ["\n", '"\\n"'],
    ["\t\n", '"\\t\\n"'],
    ["\na", "|-\n\n    a"],
    ["\n a\n", "|\n\n     a"],
    [" a\n", "|4\n     a"],
    ["a\n\n", "|+\n    a\n"],
    ["a \nb", '"a \\nb"'],
  ];
  for (const [text, older, newer = older] of cases) {
    test(JSON.stringify(text), () => {
      assert.equal(emitYaml({ a: text }), `a: ${older}\n`);
      assert.equal(emitYaml({ a: text }, { oldBooleanQuotes: "single" }), `a: ${newer}\n`);
    });
  }
});

test("numbers beyond sixty-four bits are numbers only when they are written in tens", () => {
  const texts = [
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "0xffffffffffffffff",
    "0x10000000000000000",
    "1e308",
    "1e309",
  ];
  assert.deepEqual(texts.map(kindOfPlain), ["int", "float", "int", "int", "str", "float", "str"]);
});

test("words that older YAML reads as booleans mean one only in three cases of letters", () => {
  assert.deepEqual(["yes", "YES", "On", "y", "no", "OFF", "N", "oN", "true"].map(oldBoolean), [
    true,
    true,
    true,
    true,
    false,
    false,
    false,
    undefined,
    undefined,
  ]);
});
