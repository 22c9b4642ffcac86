import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations } from "@talos-operator/api";
import { controlPlane } from "../testing/builders.ts";
import { outageWord } from "./approved-outage.ts";

const cases: readonly (readonly [string | undefined, "none" | "approved" | "another"])[] = [
  [undefined, "none"],
  ["v1.13.9", "approved"],
  ["1.13.9", "approved"],
  [" v1.13.9 ", "approved"],
  ["v1.13.10", "another"],
  ["v1.13.8", "another"],
  ["v1.12.9", "another"],
  ["v1.13", "another"],
  ["true", "another"],
  ["", "another"],
  ["v1.13.9 v1.13.10", "another"],
  ["x".repeat(200_000), "another"],
];
for (const [value, kind] of cases)
  test(`approve-outage: ${JSON.stringify(value)?.slice(0, 40) ?? "absent"} is ${kind}`, () => {
    const word = outageWord({
      controlPlane: controlPlane(3, {}, value === undefined ? {} : { annotations: { [annotations.approveOutage]: value } }),
    });
    assert.equal(word.kind, kind);
    assert.ok(word.kind !== "another" || word.value.length <= 64);
  });
