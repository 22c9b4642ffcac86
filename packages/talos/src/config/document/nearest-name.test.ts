import assert from "node:assert/strict";
import { test } from "node:test";
import { nearestName } from "./nearest-name.ts";

const names = ["extraArgs", "extraMounts", "extraConfig", "image", "sysctls", "sysfs"];

for (const [written, want] of [
  ["extraArg", "extraArgs"],
  ["extraargs", "extraArgs"],
  ["extrArgs", "extraArgs"],
  ["sysctl", "sysctls"],
  ["sysctlz", "sysctls"],
  ["extra", undefined],
  ["ab", undefined],
  ["nonsense", undefined],
] as const)
  test(`who writes ${written} may mean ${want ?? "none of these"}`, () => assert.equal(nearestName(written, names), want));

test("of two that are as near none is named", () => assert.equal(nearestName("podSubnet", ["podSubnet1", "podSubnet2"]), undefined));
