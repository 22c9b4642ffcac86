import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { canonicalQuantity } from "./canonical-quantity.ts";

describe("a quantity", () => {
  // As kube-apiserver 1.36.3 printed them.
  const cases: readonly (readonly [unknown, unknown])[] = [
    [1, "1"],
    [0.5, "500m"],
    ["1", "1"],
    ["0.5", "500m"],
    ["1000m", "1"],
    ["1500m", "1500m"],
    ["2000", "2k"],
    ["1500", "1500"],
    ["1024Mi", "1Gi"],
    ["1.5Gi", "1536Mi"],
    ["512", "512"],
    ["1024", "1024"],
    ["0", "0"],
    ["1e3", "1e3"],
    ["12e6", "12e6"],
    ["100M", "100M"],
    ["0.1", "100m"],
    ["-5", "-5"],
    ["1Ki", "1Ki"],
    ["0.5Gi", "512Mi"],
    ["1.1Ki", "1126400m"],
    ["1000000", "1M"],
    ["1000Ki", "1000Ki"],
    ["nonsense", "nonsense"],
  ];
  for (const [given, want] of cases)
    it(`${JSON.stringify(given)} is ${JSON.stringify(want)}`, () => assert.equal(canonicalQuantity(given), want));
});
