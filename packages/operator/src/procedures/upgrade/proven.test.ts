import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running, worker } from "../../testing/builders.ts";
import { isProvenOn } from "./proven.ts";
import type { Look } from "../../model/look.ts";
import type { IntentFact } from "../../model/record.ts";

const asked = { version: "v1.13.10", schematic: "none" };
const watched: IntentFact = {
  what: "Reboot",
  role: "worker",
  machine: "demo-workers-10.0.1.1",
  address: "10.0.1.1",
  uuid: "",
  at: NOW,
  deadline: NOW + 60_000,
  why: "",
  talosVersion: asked.version,
  talosBefore: "v1.13.9",
  provenAt: NOW,
};

const cases: readonly (readonly [string, boolean, Look, readonly IntentFact[]])[] = [
  ["is well with it", true, running(undefined, asked), []],
  ["is well with it and still watched", false, running(undefined, asked), [watched]],
  ["is not ready with it", false, running(undefined, { ...asked, ready: false }), []],
  ["runs the version of before", false, running(undefined, { ...asked, version: "v1.13.9" }), []],
  ["runs another image of it", false, running(undefined, { ...asked, schematic: "5".repeat(64) }), []],
];
for (const [what, isProven, look, intents] of cases)
  test(`a Talos is ${isProven ? "" : "not "}proven by a worker that ${what}`, () => {
    const machines = [configured("10.0.0.1"), configured("10.0.1.1", "worker", "demo-workers", { pool: "demo-workers" })];
    const assessed = assess(
      observed({
        controlPlane: controlPlane(1),
        workers: [worker(1)],
        facts: facts({ bootstrapDone: founded, machines, intents }),
        looks: { "10.0.0.1": running(member(0, 1), asked), "10.0.1.1": look },
      }),
    );
    assert.equal(isProvenOn(assessed, "worker", asked), isProven);
    assert.equal(isProvenOn(assessed, "controlplane", asked), true);
  });
