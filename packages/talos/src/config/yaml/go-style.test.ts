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

describe("texts as the library before prints them", () => {
  const long = "a text of many words that goes on and on beyond eighty columns so that there is something to fold";
  const a90 = "a".repeat(90);
  const cases: readonly (readonly [text: string, printed: string])[] = [
    ["<<", "<<"],
    ["\n", "|2+\n"],
    ["a\tb\n", '"a\\tb\\n"'],
    ["\na", "|2-\n\n  a"],
    [long, "a text of many words that goes on and on beyond eighty columns so that there is\n  something to fold"],
    [`# ${long}`, "'# a text of many words that goes on and on beyond eighty columns so that there\n  is something to fold'"],
    [`\t${long}  b  `, '"\\ta text of many words that goes on and on beyond eighty columns so that there\n  is something to fold  b  "'],
    [`${a90}  b c`, `${a90}  b\n  c`],
    [`\t${a90}  b`, `"\\t${a90}\n  \\ b"`],
    [`'${a90} `, `'''${a90} '`],
  ];
  for (const [text, printed] of cases) {
    test(JSON.stringify(text), () => {
      assert.equal(emitYaml({ a: text }, { indent: 2, isOlder: true }), `a: ${printed}\n`);
    });
  }
});

test("a key of several lines or of more than 128 bytes stands behind a question mark", () => {
  const keys = new Map([
    ["a\nb", "c"],
    ["d\r", "e"],
    ["ä".repeat(64), "f"],
    ["ä".repeat(65), "g"],
  ]);
  const printed = `? |-\n    a\n    b\n: c\n? "d\\r"\n: e\n${"ä".repeat(64)}: f\n? ${"ä".repeat(65)}\n: g\n`;
  assert.equal(emitYaml(keys), printed);
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
    ".5_0",
  ];
  assert.deepEqual(texts.map(kindOfPlain), ["int", "float", "int", "int", "str", "float", "str", "str"]);
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
