import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { controlPlane, facts, NOW, observed, running } from "../../testing/builders.ts";
import { quarantineOf } from "../../record/upgrades.ts";
import { failedHere, lifted, quarantined } from "./quarantine.ts";
import type { SeenMachine } from "../../model/observation.ts";
import type { TalosBuild, UpgradeIntent } from "../../record/upgrades.ts";

const [first, second] = ["1".repeat(64), "2".repeat(64)];
const intent = (talosBefore: string, schematic?: string): UpgradeIntent => ({
  what: "Reboot",
  role: "worker",
  machine: "demo-workers-10.0.1.1",
  address: "10.0.1.1",
  uuid: "",
  at: NOW,
  deadline: NOW,
  why: "",
  talosBefore,
  talosVersion: "v1.13.10",
  ...(schematic === undefined ? {} : { talosSchematic: schematic }),
});

const cases: readonly (readonly [string, UpgradeIntent, TalosBuild, boolean, "image"?])[] = [
  ["what an image of another version lacks, with it", intent("v1.13.9", first), { version: "v1.13.10", schematic: first }, true, "image"],
  [
    "what an image of another version lacks, with no other one of it",
    intent("v1.13.9", first),
    { version: "v1.13.10", schematic: second },
    false,
    "image",
  ],
  ["what an image lacks whose name tells nothing, with the version", intent("v1.13.9"), { version: "v1.13.10" }, true, "image"],
  ["a version, with it", intent("v1.13.9"), { version: "v1.13.10" }, true],
  ["a version, with it in any image", intent("v1.13.9", first), { version: "v1.13.10", schematic: second }, true],
  ["a version, with no other one", intent("v1.13.9", first), { version: "v1.13.11", schematic: first }, false],
  ["an image, with it", intent("v1.13.10", first), { version: "v1.13.10", schematic: first }, true],
  ["an image, with no other one of the same version", intent("v1.13.10", first), { version: "v1.13.10", schematic: second }, false],
];
for (const [what, failed, build, isQuarantined, blames] of cases)
  test(`nothing is begun after the failure of ${what}`, () => {
    const known = facts();
    const after = quarantined(assess(observed({ facts: known })), known, failed, "It failed.", blames);
    assert.equal(quarantineOf(after, build).length > 0, isQuarantined);
  });

for (const [what, isTold, over] of [
  ["it runs what failed on it, and is not well", true, {}],
  ["it got well", false, { ready: true }],
  ["it runs another one", false, { version: "v1.13.9" }],
  ["it failed on another machine", false, { name: "demo-workers-10.0.1.2" }],
] as const)
  test(`the failure of a machine is ${isTold ? "" : "not "}told while ${what}`, () => {
    const known = facts();
    const after = quarantined(assess(observed({ facts: known })), known, intent("v1.13.9"), "It failed.");
    const { name = "demo-workers-10.0.1.1", ...look } = { name: undefined, ...over };
    const machine = { declared: { name, version: "v1.13.10" }, look: running(undefined, { version: "v1.13.10", ready: false, ...look }) };
    assert.equal(failedHere(after, machine as unknown as SeenMachine) !== undefined, isTold);
  });

for (const [word, left] of [
  ["v1.13.1", ["v1.13.10"]],
  ["v1.13.10", ["v1.13.1"]],
  ["1.13.10", ["v1.13.1"]],
  ["v1.13", ["v1.13.1", "v1.13.10"]],
] as const)
  test(`lift-quarantine: ${word} leaves ${left.join(", ")} in quarantine`, () => {
    const row = { machine: "demo-workers-10.0.1.1", at: NOW, why: "It failed." };
    const known = facts({ quarantine: ["v1.13.1", "v1.13.10"].map((version) => ({ ...row, version })) });
    const pool = controlPlane(1, {}, { annotations: { "talos-operator.dev/lift-quarantine": word } });
    const after = lifted(assess(observed({ controlPlane: pool, facts: known })), known);
    assert.deepEqual(
      after?.facts.quarantine?.map(({ version }) => version),
      left,
    );
  });
