import assert from "node:assert/strict";
import { test } from "node:test";
import { configured, facts, founded, NOW, observed } from "../testing/builders.ts";
import { asksWord } from "./definitions.ts";
import type { ClusterFacts, IntentFact } from "../model/record.ts";

const machine = configured("10.0.0.1", "controlplane");
const before = facts({ machines: [machine] });
const intent: IntentFact = {
  what: "Reboot",
  machine: machine.name,
  address: machine.address,
  uuid: "",
  role: "controlplane",
  at: NOW,
  deadline: NOW,
  why: "",
};

for (const { title, change, want } of [
  { title: "what a machine runs", change: { machines: [{ ...machine, appliedHash: "aa" }] }, want: false },
  { title: "which member of etcd it is", change: { machines: [{ ...machine, memberId: "aa" }] }, want: false },
  { title: "that etcd was bootstrapped, and why that is known", change: { bootstrapDone: founded }, want: false },
  { title: "another decision", change: { decisions: [{ at: NOW, action: "A", reason: "B", message: "" }] }, want: false },
  { title: "an intent", change: { intents: [intent] }, want: true },
  { title: "who bootstraps etcd", change: { bootstrapIntent: { ...intent } }, want: true },
  { title: "that a machine may be configured", change: { machines: [{ ...machine, configuredAt: NOW + 1 }] }, want: true },
  { title: "that a machine was let go", change: { machines: [{ ...machine, releasedAt: NOW }] }, want: true },
  { title: "that settings wait for a boot", change: { machines: [{ ...machine, staged: { configHash: "a", bootId: "b" } }] }, want: true },
  { title: "another machine", change: { machines: [machine, configured("10.0.0.2", "controlplane")] }, want: true },
  { title: "a machine less", change: { machines: [] }, want: true },
  { title: "other keys", change: { bundle: { ...before.bundle, fingerprint: "other" } }, want: true },
] as readonly { readonly title: string; readonly change: Partial<ClusterFacts>; readonly want: boolean }[])
  test(`${title} is written down ${want ? "only where the cluster is still to be reconciled" : "whatever people say by now"}`, () => {
    const seen = observed({ facts: before });
    const next = { kind: "WriteRecord", ifResourceVersion: "1", facts: { ...before, ...change }, why: "Test" } as const;
    assert.equal(asksWord(next, seen), want);
    assert.equal(asksWord({ ...next, ifResourceVersion: undefined }, seen), true, "a first record");
  });
