import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations } from "@talos-operator/api";
import { controlPlane, observed } from "../testing/builders.ts";
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
    const word = outageWord(
      observed({ controlPlane: controlPlane(3, {}, value === undefined ? {} : { annotations: { [annotations.approveOutage]: value } }) }),
      "demo-10.0.0.1",
    );
    assert.equal(word.kind, kind);
    assert.ok(word.kind !== "another" || word.value.length <= 64);
  });

for (const [value, one, other] of [
  ["v1.13.10", "approved", "another"],
  ["v1.13.9", "another", "approved"],
] as const)
  test(`approve-outage: ${value} is for control planes that are to run that, whatever the others are`, () => {
    const metalSpec = { machines: [{ address: "10.0.0.1", version: "v1.13.10" }, { address: "10.0.0.2" }] };
    const seen = observed({ controlPlane: controlPlane(2, { metalSpec }, { annotations: { [annotations.approveOutage]: value } }) });
    assert.deepEqual([outageWord(seen, "demo-10.0.0.1").kind, outageWord(seen, "demo-10.0.0.2").kind], [one, other]);
    assert.equal(outageWord(seen, "demo-10.0.0.9").kind, "another");
  });
