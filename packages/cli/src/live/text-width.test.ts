import assert from "node:assert/strict";
import { it } from "node:test";
import { asciiOnly, cut, cutMiddle, oneLine, pad, widthOf } from "./text-width.ts";

it("counts cells, not characters", () => {
  assert.deepEqual(["abc", "中文", "e\u0301", "🚀", ""].map(widthOf), [3, 4, 1, 2, 0]);
});

it("cuts to a width, in the end or in the middle, never in a wide character", () => {
  assert.equal(cut("abcdef", 6, "…"), "abcdef");
  assert.equal(cut("abcdef", 5, "…"), "abcd…");
  assert.equal(cut("abcdef", 2, "..."), "..");
  assert.equal(cut("abc", 0, "…"), "");
  assert.equal(widthOf(cut("中文字符", 4, "…")), 3);
  assert.equal(cutMiddle("first-very-long-10.0.0.1", 14, "…"), "first-…0.0.0.1");
});

it("pads, and takes out what moves the cursor or is no ASCII", () => {
  assert.equal(pad("中", 4), "中  ");
  assert.equal(oneLine("a\u001b[1m\n\tb\u202e"), "a [1m b");
  assert.equal(asciiOnly("ä…z"), "?...z");
});
