import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations } from "@talos-operator/api";
import { assess } from "../../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running, silent } from "../../testing/builders.ts";
import { servedApproval } from "./served-approvals.ts";
import type { Look } from "../../model/look.ts";
import type { IntentFact, MachineFact } from "../../model/record.ts";

const asked = "v1.13.10";
const runs = (index: number, version = asked): Look => running(member(index, 2), { version });
/** Booted by one call, so that nothing tells of it but its intent. */
const watched: IntentFact = {
  what: "UpgradeTalos",
  role: "controlplane",
  machine: "demo-10.0.0.2",
  address: "10.0.0.2",
  uuid: "",
  at: NOW,
  deadline: NOW + 60_000,
  why: "",
  talosVersion: asked,
  talosBefore: "v1.13.9",
  provenAt: NOW,
};
interface Given {
  readonly second?: Look;
  readonly intents?: readonly IntentFact[];
  readonly fact?: Partial<MachineFact>;
  readonly word?: string;
  /** What the second one is to run, where that is another one. */
  readonly pin?: string;
}

const cases: readonly (readonly [string, boolean, Given])[] = [
  ["every control plane runs what it names", true, {}],
  ["one is still watched", false, { intents: [watched] }],
  ["a worker is still watched", true, { intents: [{ ...watched, role: "worker" }] }],
  ["one runs the version of before", false, { second: runs(1, "v1.13.9") }],
  ["one is silent", false, { second: silent }],
  ["one is to boot what is installed", false, { fact: { installed: { version: asked, before: "v1.13.9", bootId: "b" } } }],
  ["it names another version", false, { word: "v1.13.9" }],
  ["the one that is pinned to another version has yet to get it", true, { pin: "v1.13.11" }],
  ["it names the version of the one that is pinned, which has yet to get it", false, { pin: "v1.13.11", word: "v1.13.11" }],
  [
    "it names the version of the one that is pinned, which runs it",
    true,
    { pin: "v1.13.11", word: "v1.13.11", second: runs(1, "v1.13.11") },
  ],
];
for (const [what, isOver, { second = runs(1), intents = [], fact = {}, word = asked, pin = asked }] of cases)
  test(`the word for an outage is ${isOver ? "taken off" : "left"} where ${what}`, () => {
    const known = facts({
      bootstrapDone: founded,
      machines: [configured("10.0.0.1"), { ...configured("10.0.0.2"), ...fact }],
      intents,
    });
    const metalSpec = { machines: [{ address: "10.0.0.1" }, { address: "10.0.0.2", version: pin }] };
    const assessed = assess(
      observed({
        controlPlane: controlPlane(2, { version: asked, metalSpec }, { annotations: { [annotations.approveOutage]: word } }),
        facts: known,
        looks: { "10.0.0.1": runs(0), "10.0.0.2": second },
      }),
    );
    assert.equal(servedApproval(assessed, known)?.kind, isOver ? "AnswerAnnotation" : undefined);
  });

const downgrades: readonly (readonly [
  string,
  boolean,
  { readonly runs?: readonly [string, string]; readonly asked?: string; readonly pin?: string; readonly intents?: readonly IntentFact[] },
])[] = [
  ["every machine runs what it names", true, {}],
  ["one runs the newer version still", false, { runs: [asked, "v1.13.11"] }],
  ["its version is not asked for yet", false, { runs: ["v1.13.11", "v1.13.11"], asked: "v1.13.11" }],
  ["one that is pinned runs a newer version, from which it may be meant to go back", false, { runs: [asked, "v1.13.11"], pin: "v1.13.11" }],
  ["one that is pinned runs an older version", true, { runs: [asked, "v1.13.9"], pin: "v1.13.9" }],
  ["one is still watched", false, { intents: [{ ...watched, role: "worker" }] }],
];
for (const [what, isOver, { runs: [first, second] = [asked, asked], asked: wanted = asked, pin = wanted, intents = [] }] of downgrades)
  test(`what allows a downgrade is ${isOver ? "taken off" : "left"} where ${what}`, () => {
    const known = facts({ bootstrapDone: founded, machines: [configured("10.0.0.1"), configured("10.0.0.2")], intents });
    const metalSpec = { machines: [{ address: "10.0.0.1" }, { address: "10.0.0.2", version: pin }] };
    const assessed = assess(
      observed({
        controlPlane: controlPlane(2, { version: wanted, metalSpec }, { annotations: { [annotations.allowDowngrade]: asked } }),
        facts: known,
        looks: { "10.0.0.1": runs(0, first), "10.0.0.2": runs(1, second) },
      }),
    );
    assert.equal(servedApproval(assessed, known)?.kind, isOver ? "AnswerAnnotation" : undefined);
  });
