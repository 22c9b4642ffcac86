import assert from "node:assert/strict";
import { test } from "node:test";
import { controlPlane, facts, member, NOW, observed, running, silent } from "../testing/builders.ts";
import { upgradeCount } from "./upgrade-count.ts";
import type { IntentFact, OperationFact } from "../model/record.ts";
import type { Look } from "../model/look.ts";

const [before, asked] = ["v1.13.8", "v1.13.9"];
const run: OperationFact = { id: "x", kind: "UpgradeTalos", phase: "x", startedAt: NOW, since: NOW, inputs: { asked } };
const boot: IntentFact = {
  what: "Reboot",
  machine: "demo-10.0.0.1",
  role: "controlplane",
  address: "10.0.0.1",
  uuid: "",
  at: NOW,
  deadline: NOW,
  why: "",
  talosVersion: asked,
  talosBefore: before,
};

for (const { name, runs, version = asked, intents = [], done } of [
  { name: "none is done before it", runs: [before, before, before], done: 0 },
  { name: "one on which a step is open is not done", runs: [asked, asked, before], intents: [boot], done: 1 },
  { name: "one that is silent is not done", runs: [asked, undefined, before], done: 1 },
  { name: "all are done after it", runs: [asked, asked, asked], done: 3 },
  { name: "those that are done stay so when another version is asked for", runs: [asked, asked, before], version: before, done: 2 },
])
  test(`machines of an upgrade: ${name}`, () => {
    const looks = runs.map((one, index): readonly [string, Look] => [
      `10.0.0.${index + 1}`,
      one === undefined ? silent : running(member(index, 3), { version: one }),
    ]);
    const seen = observed({ controlPlane: controlPlane(3, { version }), looks: Object.fromEntries(looks) });
    assert.deepEqual(upgradeCount(seen, run, facts({ intents })), { done, machines: 3 });
  });
