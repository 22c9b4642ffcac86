import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { diskSizeGB } from "./disk-size.ts";

describe("the size of a disk", () => {
  const sizes: readonly (readonly [text: string, gb: number | undefined])[] = [
    ["20Gi", 20],
    ["20G", 20],
    ["1.5Ti", 1536],
    ["2T", 2000],
    ["512Mi", 1],
    ["512M", 1],
    ["2049Mi", 3],
    ["21474836480", 20],
    ["64Ti", 65_536],
    ["65Ti", undefined],
    ["0", undefined],
    ["0Gi", undefined],
    ["-1Gi", undefined],
    ["1e3Gi", undefined],
    ["Gi", undefined],
    ["example-size", undefined],
    ["", undefined],
    ["9".repeat(40), undefined],
  ];
  for (const [text, gb] of sizes) it(`${JSON.stringify(text)} is ${gb ?? "none"} (V33)`, () => assert.equal(diskSizeGB(text), gb));
});
