import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ClusterRecord, Condition } from "@talos-operator/api";
import { explain } from "./explain.ts";
import { printExplanation } from "./print-explanation.ts";
import type { Explained } from "./what-stands.ts";

const NOW = Date.parse("2026-01-01T00:01:00Z");
const condition = (type: string, status: Condition["status"], reason: string, message: string): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: "2026-01-01T00:00:00Z",
});
const object = (kind: string, ...conditions: readonly Condition[]): Explained => ({
  kind,
  metadata: { namespace: "default", name: "demo" },
  status: { conditions },
});
const ready = condition("Ready", "True", "AllReady", "Ready.");
const pending = condition("UpgradePending", "True", "VersionDiffers", "v1.13.10 is asked for, v1.13.9 runs.");
const inert = condition("FieldNotSupported", "True", "FieldNotSupported", "spec.replicas has no effect.");

const textOf = (one: Explained, related: readonly Explained[] = []): string =>
  printExplanation(explain({ object: one, related, record: undefined }), NOW);

describe("why", () => {
  it("waits for nothing where a version is asked for that nobody carries out, and does not call it as asked for", () => {
    for (const [one, related] of [
      [object("TalosCluster", ready, pending), [object("TalosControlPlane", ready, pending)]],
      [object("TalosCluster", ready), [object("TalosWorker", ready, inert)]],
      [object("TalosControlPlane", ready, inert), []],
    ] as const) {
      const text = textOf(one, related);
      assert.match(text, /Nothing is waited for\.\n\nWorth knowing:/);
      assert.doesNotMatch(text, /Waiting for:|It is as the spec asks|To continue/);
      assert.equal(explain({ object: one, related, record: undefined }).isSettled, true);
    }
  });

  const stalled = (message: string): Condition => condition("Stalled", "True", "PersonNeeded", message);
  const reconciling = condition("Reconciling", "True", "Progressing", "x");

  for (const [what, open, told] of [
    [
      "an upgrade that failed",
      condition("UpgradePending", "True", "VersionFailed", "v1.13.10 failed on demo-1."),
      stalled("v1.13.10 failed"),
    ],
    ["a word that is none", condition("SnapshotBeforeRisk", "False", "WordUnknown", '"maybe" is no word.'), stalled('"maybe" is no word.')],
    ["an upgrade that goes on", condition("UpgradePending", "True", "Upgrading", "demo-1 boots v1.13.10."), reconciling],
    ["what is done to etcd", condition("Progressing", "True", "TendingEtcd", "Defragment demo-1."), reconciling],
    ["what nothing else says", ready, stalled("A person is needed.")],
  ] as const)
    it(`opens with ${what}`, () => {
      const one = object("TalosControlPlane", ready, open, told);
      const text = textOf(one);
      assert.match(
        text,
        told.type === "Stalled" ? /^.*\n\nStalled: a person is needed\.\n\nWaiting for:/ : /^.*\n\nIn progress\.\n\nWaiting for:/,
      );
      assert.doesNotMatch(text, /Nothing is waited for|nothing is waited for/);
      assert.ok(text.includes(open === ready ? told.message : open.message), text);
      assert.equal(explain({ object: one, related: [], record: undefined }).isSettled, false);
    });

  it("shows the condition that a text refers to", () => {
    const waits = condition("UpgradePending", "True", "UpgradeWaits", "demo-1 is next. See the condition SnapshotBeforeRisk.");
    const risk = condition("SnapshotBeforeRisk", "False", "StoreMissing", "No store.");
    const text = textOf(object("TalosCluster", ready, waits, reconciling), [object("TalosControlPlane", ready, waits, risk)]);
    assert.match(text, /TalosControlPlane\/demo {2}SnapshotBeforeRisk=False {2}StoreMissing[^]*No store\./);
  });

  it("tells apart what is waited for and what is worth knowing", () => {
    const down = condition("Ready", "False", "NodesNotReady", "demo-1: kubelet not running.");
    const text = textOf(object("TalosCluster", down, pending));
    assert.match(
      text,
      /Waiting for:\n\n {2}TalosCluster\/demo {2}Ready=False[^]*Worth knowing:\n\n {2}TalosCluster\/demo {2}UpgradePending/,
    );
  });

  it("says once what a cluster and its control plane both say, and what would release it", () => {
    const words = "demo-1 does not answer.";
    const text = textOf(object("TalosCluster", condition("Ready", "False", "MachineUnreachable", `TalosControlPlane demo: ${words}`)), [
      object("TalosControlPlane", condition("Ready", "False", "MachineUnreachable", words)),
    ]);
    assert.equal(text.split(words).length, 2, text);
    assert.equal(text.split("To continue:").length, 2, text);
    assert.match(text, /TalosControlPlane\/demo {2}Ready=False {2}MachineUnreachable/);
  });

  it("does not wait for what an object belongs to", () => {
    const down = object("TalosControlPlane", condition("Ready", "False", "NodesNotReady", "demo-2: kubelet not running."));
    const { isSettled, waitingFor, worthKnowing } = explain({ object: object("TalosMachine", ready), related: [down], record: undefined });
    assert.deepEqual([isSettled, waitingFor.length, worthKnowing.map(({ reason }) => reason)], [true, 0, ["NodesNotReady"]]);
  });

  it("tells of a machine what was decided about it, and of its cluster everything", () => {
    const decisions = ["demo", "other", undefined].map((machine) => ({
      at: "2026-01-01T00:00:00Z",
      action: "Reboot",
      reason: "Booted",
      message: "",
      ...(machine === undefined ? {} : { machine }),
    }));
    const openWorkerIntents = ["other", "demo"].map((name) => ({ what: "Reboot", machine: { name } }));
    const record = { spec: { decisions, openWorkerIntents } } as unknown as ClusterRecord;
    const told = (kind: string): readonly [number, number] => {
      const { decisions: own, openIntents } = explain({ object: object(kind, ready), related: [], record });
      return [own.length, openIntents.length];
    };
    assert.deepEqual(
      [told("TalosMachine"), told("TalosControlPlane")],
      [
        [1, 1],
        [3, 2],
      ],
    );
  });
});
