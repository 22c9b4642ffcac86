import assert from "node:assert/strict";
import { test } from "node:test";
import { NOW, facts, founded, observed } from "../../testing/builders.ts";
import { besideSnapshot } from "./beside-snapshot.ts";
import type { ClusterFacts, IntentFact } from "../../model/record.ts";
import type { Verdict } from "../../model/plans.ts";

const snapshot = { machine: "demo-10.0.0.2", backup: "default/nightly", deadline: NOW + 60_000 };
const intent = (role: IntentFact["role"], machine: string): IntentFact => ({
  what: "Reboot",
  machine,
  address: "10.0.0.1",
  uuid: "u",
  role,
  at: NOW,
  deadline: NOW + 1,
  why: "",
});
const base = facts({ bootstrapDone: founded });
const write = (intents: readonly IntentFact[], from: ClusterFacts): Verdict => ({
  actions: [{ kind: "WriteRecord", ifResourceVersion: "7", facts: { ...from, intents }, why: "x" }],
  waiting: { reason: "Configuring", message: "m1 changes." },
});

const cases: readonly {
  readonly name: string;
  readonly before: ClusterFacts;
  readonly intents: readonly IntentFact[];
  readonly acts: boolean;
}[] = [
  { name: "no snapshot", before: base, intents: [intent("controlplane", "m1")], acts: true },
  { name: "a snapshot stands", before: { ...base, snapshot }, intents: [intent("controlplane", "m1")], acts: false },
  {
    name: "its deadline has passed",
    before: { ...base, snapshot: { ...snapshot, deadline: NOW } },
    intents: [intent("controlplane", "m1")],
    acts: true,
  },
  { name: "only a worker is disturbed", before: { ...base, snapshot }, intents: [intent("worker", "w1")], acts: true },
  {
    name: "the disturbance was open before",
    before: { ...base, snapshot, intents: [intent("controlplane", "m1")] },
    intents: [intent("controlplane", "m1"), intent("worker", "w1")],
    acts: true,
  },
];

for (const { name, before, intents, acts } of cases)
  test(`a control plane is ${acts ? "" : "not "}begun to be disturbed: ${name}`, () => {
    const verdict = besideSnapshot(write(intents, before), observed({ facts: before }));
    assert.equal(verdict?.actions.length, acts ? 1 : 0);
    assert.equal(verdict?.waiting?.message.includes("default/nightly"), !acts);
  });
