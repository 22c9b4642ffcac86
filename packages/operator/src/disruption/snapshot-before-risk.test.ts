import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations, labels, rfc3339 } from "@talos-operator/api";
import type { TalosEtcdBackup, TalosEtcdBackupSchedule } from "@talos-operator/api";
import { configured, controlPlane, facts, founded, NOW, observed } from "../testing/builders.ts";
import { snapshotBefore } from "./snapshot-before-risk.ts";
import { takingKey } from "./snapshot-taking.ts";
import type { Observed, SentEffect } from "../model/observation.ts";
import type { BeforeRisk } from "../model/plans.ts";
import type { ClusterFacts } from "../model/record.ts";

const MINUTE = 60_000;
const [one, two] = ["demo-10.0.0.1", "demo-10.0.0.2"] as const;
const LONG_AGO = NOW - 24 * 60 * MINUTE;

function schedule(name: string, over: Partial<TalosEtcdBackupSchedule["spec"]> = {}, mode?: string): TalosEtcdBackupSchedule {
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosEtcdBackupSchedule",
    metadata: {
      namespace: "default",
      name,
      uid: `uid-${name}`,
      ...(mode === undefined ? {} : { annotations: { [annotations.reconcileMode]: mode } }),
    },
    spec: {
      schedule: "0 2 * * *",
      backupTemplate: { spec: { talosControlPlaneRef: { name: "demo" }, backupStorage: { directory: {} } } },
      ...over,
    },
  };
}

interface Made {
  /** How long ago it was made. Default: a minute. */
  readonly agoMs?: number;
  /** What it was taken before; `undefined` = its schedule asked for it. */
  readonly before?: string | undefined;
  readonly by?: string;
  /** Where it is stored. Default: where its schedule stores now. */
  readonly storage?: TalosEtcdBackup["spec"]["backupStorage"];
  readonly name?: string;
  readonly state?: "stored" | "disproved" | "failed" | "waiting" | "running" | "once" | "twice";
  readonly isGoing?: boolean;
}

function backup({
  agoMs = MINUTE,
  before,
  by = "a",
  name = "b",
  state = "stored",
  storage = { directory: {} },
  isGoing,
}: Made): TalosEtcdBackup {
  const at = rfc3339(NOW - agoMs);
  const condition = (type: string, status: "True" | "False", reason: string, message: string) => ({
    type,
    status,
    reason,
    message,
    lastTransitionTime: at,
  });
  const run = { name: "r", attempt: "r-1", task: "take", startedAt: at } as const;
  const stored = { slot: "s", filename: "f", startTime: at, completionTime: at };
  const broken = [condition("Ready", "False", "BackupFailed", "The store is full.")];
  const status: Record<typeof state, TalosEtcdBackup["status"]> = {
    stored: { ...stored, conditions: [condition("Proved", "True", "ReadOnly", "")] },
    disproved: { ...stored, conditions: [condition("Proved", "False", "ProofFailed", "It is gone.")] },
    failed: { slot: "s", attempts: 3, conditions: [...broken, condition("Failed", "True", "BackupFailed", "")] },
    waiting: { slot: "s", conditions: [condition("Ready", "False", "KeysNotReadable", "No Secret.")] },
    running: { slot: "s", attempts: 1, run },
    once: { slot: "s", attempts: 1, conditions: broken },
    twice: { slot: "s", attempts: 2, conditions: broken },
  };
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosEtcdBackup",
    metadata: {
      namespace: "default",
      name,
      uid: `uid-${name}`,
      creationTimestamp: at,
      ...(isGoing === true ? { deletionTimestamp: at } : {}),
      ...(before === undefined ? {} : { labels: { [labels.beforeRisk]: "demo" }, annotations: { [annotations.takenBefore]: before } }),
      ownerReferences: [
        { apiVersion: "talos.alperen.cloud/v1alpha1", kind: "TalosEtcdBackupSchedule", name: by, uid: `uid-${by}`, controller: true },
      ],
    },
    spec: { talosControlPlaneRef: { name: "demo" }, backupStorage: storage },
    ...(status[state] === undefined ? {} : { status: status[state] }),
  };
}

interface Given {
  readonly word?: string;
  /** Default: one, `a`. `undefined` = this operator takes no backups. */
  readonly schedules?: readonly TalosEtcdBackupSchedule[] | undefined;
  readonly backups?: readonly Made[];
  readonly facts?: Partial<ClusterFacts>;
  readonly sent?: readonly (readonly [1 | 2, SentEffect["outcome"], number])[];
  readonly machines?: readonly string[];
}

const machinesOf = (over: Partial<ClusterFacts["machines"][number]> = {}): ClusterFacts["machines"] =>
  [1, 2, 3].map((n) => ({ ...configured(`10.0.0.${n}`), configuredAt: LONG_AGO, ...(n === 3 ? over : {}) }));

function world(given: Given): { readonly seen: Observed; readonly known: ClusterFacts } {
  const known = facts({ bootstrapDone: { ...founded, at: LONG_AGO }, machines: machinesOf(), ...given.facts });
  const hasBackups = !("schedules" in given) || given.schedules !== undefined;
  const seen = observed({
    controlPlane: controlPlane(3),
    facts: known,
    ...(given.word === undefined ? {} : { riskWord: given.word }),
    ...(hasBackups
      ? { snapshots: { schedules: given.schedules ?? [schedule("a")], backups: (given.backups ?? []).map((made) => backup(made)) } }
      : {}),
  });
  const name = snapshotBefore(seen, known, [one]).take?.name ?? "";
  const sent = (given.sent ?? []).map(
    ([attempt, outcome, agoMs]) => [takingKey(name, attempt), { at: NOW - agoMs, outcome, detail: "exceeded quota" }] as const,
  );
  return { seen: { ...seen, sent: new Map(sent) }, known };
}

function answer(given: Given): BeforeRisk {
  const { seen, known } = world(given);
  return snapshotBefore(seen, known, given.machines ?? [one]);
}

const elsewhere = { directory: { path: "elsewhere" } };
const required = { word: "required" } as const;
type Want = readonly [BeforeRisk["reason"], "goes" | "waits" | "asks"];
const cases: readonly (readonly [string, Given, Want])[] = [
  ["nothing was taken", {}, ["SnapshotAwaited", "asks"]],
  ["nothing was taken, and it is required", required, ["SnapshotAwaited", "asks"]],
  ["an empty word", { word: " " }, ["SnapshotAwaited", "asks"]],
  ["the word in other letters", { word: " OFF " }, ["SwitchedOff", "goes"]],
  ["off, whatever failed", { word: "off", backups: [{ before: one, state: "failed" }] }, ["SwitchedOff", "goes"]],
  ["a word that is none", { word: "requierd" }, ["WordUnknown", "asks"]],
  ["a word that is none, and no store", { word: "requierd", schedules: [] }, ["WordUnknown", "waits"]],
  ["no schedule", { schedules: [] }, ["NoStore", "goes"]],
  ["no schedule, and it is required", { ...required, schedules: [] }, ["StoreMissing", "waits"]],
  ["an operator without backups", { schedules: undefined }, ["NoStore", "goes"]],
  ["an operator without backups, and it is required", { ...required, schedules: undefined }, ["StoreMissing", "waits"]],
  ["a paused schedule", { schedules: [schedule("a", { paused: true })] }, ["NoStore", "goes"]],
  ["a schedule that is left alone", { schedules: [schedule("a", {}, "disable")] }, ["NoStore", "goes"]],
  ["a paused schedule before another one", { schedules: [schedule("0", { paused: true }), schedule("a")] }, ["SnapshotAwaited", "asks"]],
  ["a fresh one of the schedule", { backups: [{}] }, ["SnapshotTaken", "goes"]],
  ["a fresh one that is required", { ...required, backups: [{}] }, ["SnapshotTaken", "goes"]],
  [
    "a fresh one while every schedule is paused",
    { schedules: [schedule("a", { paused: true })], backups: [{}] },
    ["SnapshotTaken", "goes"],
  ],
  ["one of a quarter of an hour ago", { backups: [{ agoMs: 15 * MINUTE }] }, ["SnapshotTaken", "goes"]],
  ["one that is older", { backups: [{ agoMs: 15 * MINUTE + 1_000 }] }, ["SnapshotAwaited", "asks"]],
  ["one of a time that has not come", { backups: [{ agoMs: -2 * MINUTE }] }, ["SnapshotAwaited", "asks"]],
  ["a fresh one that is being deleted", { backups: [{ isGoing: true }] }, ["SnapshotAwaited", "asks"]],
  ["a fresh one of which a proof failed", { backups: [{ state: "disproved" }] }, ["SnapshotAwaited", "asks"]],
  ["one of the schedule that is being taken", { backups: [{ state: "running" }] }, ["SnapshotAwaited", "asks"]],
  [
    "a fresh one from before a control plane was released",
    { backups: [{}], facts: { machines: machinesOf({ releasedAt: NOW - 30_000 }) } },
    ["SnapshotAwaited", "asks"],
  ],
  [
    "a fresh one from after that",
    { backups: [{}], facts: { machines: machinesOf({ releasedAt: NOW - 2 * MINUTE }) } },
    ["SnapshotTaken", "goes"],
  ],
  [
    "a fresh one from before a member was removed",
    {
      backups: [{}],
      facts: { decisions: [{ at: NOW - 30_000, action: "CloseRemoveMember", reason: "NotListedByEtcd", machine: two, message: "" }] },
    },
    ["SnapshotAwaited", "asks"],
  ],
  [
    "a fresh one while a control plane may still be joining",
    { backups: [{}], facts: { machines: machinesOf({ configuredAt: NOW - 30 * MINUTE }) } },
    ["SnapshotAwaited", "asks"],
  ],
  [
    "a fresh one while a worker may be joining",
    { backups: [{}], facts: { machines: machinesOf({ role: "worker", configuredAt: NOW - 30 * MINUTE }) } },
    ["SnapshotTaken", "goes"],
  ],
  ["one for this run, that is no longer fresh", { backups: [{ before: `${one},${two}`, agoMs: 40 * MINUTE }] }, ["SnapshotTaken", "goes"]],
  [
    "one for this run, from before the first of it left",
    { backups: [{ before: `${two},${one}` }], facts: { machines: machinesOf({ releasedAt: NOW - 30_000 }) } },
    ["SnapshotTaken", "goes"],
  ],
  ["one for this run, of more than an hour ago", { backups: [{ before: one, agoMs: 61 * MINUTE }] }, ["SnapshotAwaited", "asks"]],
  ["one for another machine, that is no longer fresh", { backups: [{ before: two, agoMs: 40 * MINUTE }] }, ["SnapshotAwaited", "asks"]],
  ["one for fewer machines", { backups: [{ before: two, agoMs: 40 * MINUTE }], machines: [one, two] }, ["SnapshotAwaited", "asks"]],
  [
    "one for this run, and a control plane was added since",
    { backups: [{ before: one }], facts: { machines: machinesOf({ configuredAt: NOW - 30_000 }) } },
    ["SnapshotAwaited", "asks"],
  ],
  ["one for this run, of a time that has not come", { backups: [{ before: one, agoMs: -10 * MINUTE }] }, ["SnapshotTaken", "goes"]],
  [
    "one for this run that runs, though by the clock of the record a control plane was added since",
    { backups: [{ before: one, state: "running" }], facts: { machines: machinesOf({ configuredAt: NOW - 30_000 }) } },
    ["SnapshotAwaited", "waits"],
  ],
  [
    "one for this run, and a control plane that was added in a time that has not come",
    { backups: [{ before: one }], facts: { machines: machinesOf({ configuredAt: NOW + 6 * 60 * MINUTE }) } },
    ["SnapshotTaken", "goes"],
  ],
  ["one for this run that runs", { backups: [{ before: one, state: "running" }] }, ["SnapshotAwaited", "waits"]],
  ["one for this run that waits", { backups: [{ before: one, state: "waiting" }] }, ["SnapshotAwaited", "waits"]],
  ["one that waits for ten minutes", { backups: [{ before: one, state: "waiting", agoMs: 10 * MINUTE }] }, ["WentOnWithout", "goes"]],
  ["one that runs for ten minutes", { backups: [{ before: one, state: "running", agoMs: 10 * MINUTE }] }, ["SnapshotAwaited", "waits"]],
  ["one that failed once", { backups: [{ before: one, state: "once" }] }, ["SnapshotAwaited", "waits"]],
  ["one that failed twice", { backups: [{ before: one, state: "twice" }] }, ["WentOnWithout", "goes"]],
  ["one that failed", { backups: [{ before: one, state: "failed" }] }, ["WentOnWithout", "goes"]],
  ["one of which a proof failed", { backups: [{ before: one, state: "disproved" }] }, ["WentOnWithout", "goes"]],
  [
    "one that waits long, and is required",
    { ...required, backups: [{ before: one, state: "waiting", agoMs: 20 * MINUTE }] },
    ["SnapshotAwaited", "waits"],
  ],
  ["one that failed twice, and is required", { ...required, backups: [{ before: one, state: "twice" }] }, ["SnapshotAwaited", "waits"]],
  ["one that failed, and is required", { ...required, backups: [{ before: one, state: "failed" }] }, ["StoreFails", "waits"]],
  [
    "one that failed five minutes ago, and is required",
    { ...required, backups: [{ before: one, state: "failed", agoMs: 5 * MINUTE }] },
    ["StoreFails", "asks"],
  ],
  [
    "one that failed just now where the schedule stores no more, and is required",
    { ...required, backups: [{ before: one, state: "failed", storage: elsewhere }] },
    ["StoreFails", "asks"],
  ],
  [
    "one that failed twice where the schedule stores no more, and is required",
    { ...required, backups: [{ before: one, state: "twice", storage: elsewhere }] },
    ["SnapshotAwaited", "asks"],
  ],
  [
    "one that runs where the schedule stores no more, and is required",
    { ...required, backups: [{ before: one, state: "running", storage: elsewhere }] },
    ["SnapshotAwaited", "waits"],
  ],
  [
    "one that failed once where the schedule stores no more",
    { backups: [{ before: one, state: "once", storage: elsewhere }] },
    ["SnapshotAwaited", "waits"],
  ],
  ["one of which a proof failed, and is required", { ...required, backups: [{ before: one, state: "disproved" }] }, ["StoreFails", "asks"]],
  [
    "one that failed in another store, and is required",
    { ...required, backups: [{ before: one, by: "0", state: "failed" }] },
    ["SnapshotAwaited", "asks"],
  ],
  ["one that was made and is not shown yet", { sent: [[1, "answered", 5_000]] }, ["SnapshotAwaited", "waits"]],
  ["one that was made and is gone", { sent: [[1, "answered", 15_000]] }, ["SnapshotAwaited", "asks"]],
  ["one that may have been made", { sent: [[1, "unknown", 1_000]] }, ["SnapshotAwaited", "waits"]],
  ["one that was refused", { sent: [[1, "refused", 5_000]] }, ["SnapshotAwaited", "waits"]],
  ["one that was refused a while ago", { sent: [[1, "refused", 30_000]] }, ["SnapshotAwaited", "asks"]],
  [
    "one that was refused twice",
    {
      sent: [
        [1, "refused", 40_000],
        [2, "refused", 5_000],
      ],
    },
    ["WentOnWithout", "goes"],
  ],
  [
    "one that was refused twice, and is required",
    {
      ...required,
      sent: [
        [1, "refused", 40_000],
        [2, "refused", 5_000],
      ],
    },
    ["StoreFails", "waits"],
  ],
  [
    "one that was refused twice a while ago, and is required",
    {
      ...required,
      sent: [
        [1, "refused", 70_000],
        [2, "refused", 30_000],
      ],
    },
    ["StoreFails", "asks"],
  ],
];

test("a snapshot that this process asked for counts by its own clock, however wrong that of its date is", () => {
  const { seen, known } = world({ backups: [{ before: one, name: "first", agoMs: 6 * 60 * MINUTE }] });
  const reason = (sent: Observed["sent"]) => snapshotBefore({ ...seen, sent }, known, [one]).reason;
  const asked = { at: NOW - MINUTE, outcome: "answered" as const, detail: "" };
  assert.deepEqual([reason(new Map()), reason(new Map([[takingKey("first", 1), asked]]))], ["SnapshotAwaited", "SnapshotTaken"]);
});

test("snapshots are not taken one after the other before the same machines, whatever makes them not count", () => {
  const added = { machines: machinesOf({ configuredAt: NOW - 30_000 }) };
  const takes = (agoMs: number): boolean => {
    const { seen, known } = world({ backups: [{ before: one, name: "first" }], facts: added });
    const sent = new Map([[takingKey("first", 1), { at: NOW - agoMs, outcome: "answered" as const, detail: "" }]]);
    return snapshotBefore({ ...seen, sent }, known, [one]).take !== undefined;
  };
  assert.deepEqual([takes(MINUTE), takes(4 * MINUTE), takes(5 * MINUTE)], [false, false, true]);
});

test("what is waited for says when it ends, and no machine is taken for a cluster", () => {
  assert.match(
    answer({ schedules: [] }).message,
    /^No snapshot of etcd is taken before these leave \(\S+\), for no \w+ names this cluster\.$/,
  );
  assert.match(answer({ ...required, schedules: [] }).message, /before these leave \(\S+\), and no \w+ names this cluster\.$/);
  const failed = answer({ ...required, backups: [{ before: one, state: "failed" }] }).message;
  assert.match(failed, /taken anew at \S+Z, or at once when the store of TalosEtcdBackupSchedule a is corrected\.$/);
  const { seen, known } = world({
    backups: [{ before: one, name: "first" }],
    facts: { machines: machinesOf({ configuredAt: NOW - 30_000 }) },
  });
  const sent = new Map([[takingKey("first", 1), { at: NOW - MINUTE, outcome: "answered" as const, detail: "" }]]);
  const { message } = snapshotBefore({ ...seen, sent }, known, [one]);
  assert.ok(message.includes(`It is taken at ${rfc3339(NOW + 4 * MINUTE)}, five minutes after the one before.`), message);
});

test("a snapshot that is asked for after the clock was set back gets a name that none has", () => {
  const later: Made = { before: two, agoMs: -10 * MINUTE, name: "later" };
  const taken = answer({ backups: [later] }).take?.name ?? assert.fail();
  const again = answer({ backups: [later, { before: one, agoMs: 61 * MINUTE, name: taken }] });
  assert.notEqual(again.take?.name ?? taken, taken);
});

describe("a snapshot before control planes are disturbed", () => {
  for (const [what, given, [reason, does]] of cases)
    test(`${does === "goes" ? "is not waited for" : does === "waits" ? "is waited for" : "is asked for"} (${reason}) with ${what}`, () => {
      const { reason: told, holds, take, message } = answer(given);
      assert.deepEqual([told, holds, take !== undefined], [reason, does !== "goes", does === "asks"], message);
      assert.match(message, /^[A-Z].*\.$/s);
      assert.ok(message.includes(one), message);
    });

  test("has the same name whoever asks for it, and another one after each that was made", () => {
    const nameOf = (given: Given): string | undefined => answer(given).take?.name;
    const first = nameOf({});
    assert.match(first ?? "", /^a-before-risk-[0-9a-f]{10}$/);
    assert.equal(nameOf({ word: "required", machines: [one, two] }), first);
    // Another process, later.
    const { seen, known } = world({});
    const later = { ...seen, now: NOW + MINUTE, watchedSince: NOW + 30_000 };
    assert.equal(snapshotBefore(later, known, [one]).take?.name, first);
    // What the schedule itself made is no part of that.
    assert.equal(nameOf({ backups: [{ agoMs: 60 * MINUTE }] }), first);
    const second = nameOf({ backups: [{ before: two, agoMs: 70 * MINUTE }] });
    assert.notEqual(second, first);
    assert.notEqual(
      nameOf({
        backups: [
          { before: two, agoMs: 70 * MINUTE, name: "c" },
          { before: two, agoMs: 80 * MINUTE },
        ],
      }),
      second,
    );
  });

  test("names the schedule, its UID, the machines and the attempt", () => {
    const { take } = answer({ machines: [two, one], sent: [[1, "refused", 30_000]] });
    assert.deepEqual([take?.schedule, take?.ifUid, take?.machines, take?.attempt], ["a", "uid-a", [two, one], 2]);
  });
});
