import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { byteSize, durationMs } from "../index.ts";

describe("byteSize", () => {
  for (const [text, want] of [
    ["8Gi", 8 * 2 ** 30],
    ["500M", 500e6],
    ["1.5Ki", 1536],
    [1048576, 1048576],
    ["0", undefined],
    ["-1Gi", undefined],
    ["8GiB", undefined],
    ["9007199254740993", undefined],
    ["1e3", undefined],
    ["", undefined],
  ] as const)
    it(`reads ${JSON.stringify(text)} as ${want}`, () => assert.equal(byteSize(text), want));
});

describe("durationMs", () => {
  for (const [text, want] of [
    ["90s", 90_000],
    ["1h30m", 5_400_000],
    ["30d", 2_592_000_000],
    ["0s", 0],
    ["1.5h", undefined],
    ["1w", undefined],
    ["", undefined],
  ] as const)
    it(`reads ${JSON.stringify(text)} as ${want}`, () => assert.equal(durationMs(text), want));
});
