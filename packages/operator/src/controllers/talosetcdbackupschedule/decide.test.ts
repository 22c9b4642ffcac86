import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations, labels, rfc3339, setCondition } from "@talos-operator/api";
import type { Condition, TalosEtcdBackup, TalosEtcdBackupSchedule } from "@talos-operator/api";
import { readSchedule } from "./cron.ts";
import { decideSchedule } from "./decide.ts";
import type { ScheduleDecision, ScheduleSeen } from "./decide.ts";

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 0, 10, 2, 0, 30);
const DUE = Date.UTC(2026, 0, 10, 2);
const UID = "s-1";
const active = { type: "Ready", status: "True", reason: "ScheduleActive", message: "", lastTransitionTime: rfc3339(0) } as const;

function schedule(
  status: TalosEtcdBackupSchedule["status"] = { conditions: [active], observedGeneration: 1, nextScheduleTime: rfc3339(DUE) },
  spec: Partial<TalosEtcdBackupSchedule["spec"]> = {},
  metadata: Partial<TalosEtcdBackupSchedule["metadata"]> = {},
): TalosEtcdBackupSchedule {
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosEtcdBackupSchedule",
    metadata: {
      namespace: "default",
      name: "nightly",
      uid: UID,
      generation: 1,
      creationTimestamp: rfc3339(NOW - 30 * 24 * HOUR),
      ...metadata,
    },
    spec: {
      schedule: "0 2 * * *",
      timeZone: "UTC",
      backupTemplate: { spec: { talosControlPlaneRef: { name: "demo" }, backupStorage: { directory: {} } } },
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  };
}

const condition = (type: string, status: Condition["status"], reason: string, message = ""): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: rfc3339(0),
});
function backup(
  at: number,
  state: "active" | "stored" | "failed" | "never-began" | "of-others",
  over: Partial<TalosEtcdBackup["status"]> = {},
): TalosEtcdBackup {
  const stamp = new Date(at).toISOString().slice(0, 19).replaceAll(/\D/g, "");
  const slot = `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
  const status: Record<typeof state, TalosEtcdBackup["status"]> = {
    active: { slot },
    stored: {
      slot: `${slot}-x`,
      filename: "f",
      startTime: rfc3339(at),
      completionTime: rfc3339(at + 60_000),
      lastProofTime: rfc3339(at + 60_000),
      proof: { how: "Restored", on: "AtWriting", at: rfc3339(at + 60_000) },
      conditions: [condition("Ready", "True", "BackupSucceeded"), condition("Proved", "True", "Restored")],
    },
    failed: {
      slot,
      attempts: 3,
      conditions: [condition("Ready", "False", "BackupFailed", "The store is full."), condition("Failed", "True", "BackupFailed")],
    },
    "never-began": {
      slot,
      attempts: 0,
      conditions: [condition("Ready", "False", "BackupFailed"), condition("Failed", "True", "BackupFailed")],
    },
    "of-others": { filename: "f", conditions: [condition("Ready", "True", "BackupSucceeded")] },
  };
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosEtcdBackup",
    metadata: {
      namespace: "default",
      name: `nightly-${stamp}`,
      uid: `b-${stamp}`,
      labels: { [labels.backupSchedule]: "nightly" },
      annotations: { [annotations.backupSlot]: slot },
      ownerReferences: [
        { apiVersion: "talos.alperen.cloud/v1alpha1", kind: "TalosEtcdBackupSchedule", name: "nightly", uid: UID, controller: true },
      ],
    },
    spec: { talosControlPlaneRef: { name: "demo" }, backupStorage: { directory: {} } },
    status: { ...status[state], ...over },
  };
}
const daysAgo = (
  days: number,
  state: Parameters<typeof backup>[1] = "stored",
  over: Partial<TalosEtcdBackup["status"]> = {},
): TalosEtcdBackup => backup(DUE - days * 24 * HOUR, state, over);
const decided = (over: Partial<ScheduleSeen> = {}): ScheduleDecision => {
  const given = over.schedule ?? schedule();
  return decideSchedule({
    now: NOW,
    times: readSchedule(given.spec.schedule, given.spec.timeZone),
    problems: [],
    isTerminating: false,
    backups: [],
    ...over,
    schedule: given,
  });
};
const reasonOf = ({ conditions }: ScheduleDecision, type: string): string | undefined =>
  conditions.find((one) => one.type === type)?.reason;
const after = ({ fields, conditions }: ScheduleDecision): TalosEtcdBackupSchedule["status"] => ({
  ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
  conditions: conditions.reduce<readonly Condition[]>((list, one) => setCondition(list, one, NOW), []),
});

const NAME = "nightly-20260110020000";
const promised = (at: number): TalosEtcdBackupSchedule["status"] => ({
  conditions: [active],
  observedGeneration: 1,
  nextScheduleTime: rfc3339(at),
});
const cases: readonly {
  readonly name: string;
  readonly over: Partial<ScheduleSeen>;
  readonly make?: string;
  readonly missed?: number;
  readonly skipped?: number;
  readonly ready?: string;
  readonly failed?: string;
  readonly next?: number;
}[] = [
  { name: "its time has come", over: {}, make: NAME },
  { name: "its time has not come", over: { now: DUE - 1 } },
  { name: "a new one waits for its first time", over: { schedule: schedule({}, {}, { creationTimestamp: rfc3339(NOW - 10_000) }) } },
  {
    name: "a new one whose first time passed while nobody was there",
    over: { schedule: schedule({}, {}, { creationTimestamp: rfc3339(DUE - HOUR) }) },
    make: NAME,
  },
  {
    name: "what was promised while a clock was ahead is not waited for",
    over: { now: DUE - HOUR, schedule: schedule(promised(DUE + 30 * 24 * HOUR)) },
    next: DUE,
  },
  { name: "three were missed: one is made", over: { schedule: schedule(promised(DUE - 2 * 24 * HOUR)) }, make: NAME, missed: 2 },
  { name: "it was made, and nobody wrote that down", over: { backups: [daysAgo(0, "active")] } },
  { name: "IN92: the one before is still being taken: it is skipped and counted", over: { backups: [daysAgo(1, "active")] }, skipped: 1 },
  { name: "too late", over: { now: DUE + 2 * HOUR, schedule: schedule(undefined, { startingDeadline: "1h" }) }, missed: 1 },
  { name: "late, and not too late", over: { now: DUE + 2 * HOUR, schedule: schedule(undefined, { startingDeadline: "3h" }) }, make: NAME },
  { name: "it was edited: the old time does not count", over: { schedule: schedule(undefined, { schedule: "30 5 * * *" }) } },
  {
    name: "it was edited, and the time is the same",
    over: { schedule: schedule(undefined, { retention: 2 }, { generation: 2 }) },
    make: NAME,
  },
  { name: "paused", over: { schedule: schedule(undefined, { paused: true }) }, ready: "SchedulePaused" },
  {
    name: "no zone",
    over: { schedule: schedule(undefined, { timeZone: "Mars/Base" }) },
    ready: "InvalidSchedule",
    failed: "InvalidSchedule",
  },
  { name: "no cron", over: { schedule: schedule(undefined, { schedule: "0 2 *" }) }, ready: "InvalidSchedule", failed: "InvalidSchedule" },
  { name: "never", over: { schedule: schedule(undefined, { schedule: "0 0 30 2 *" }) }, ready: "NeverFires", failed: "NeverFires" },
  { name: "its namespace goes", over: { isTerminating: true }, ready: "NamespaceTerminating" },
  {
    name: "what it would make cannot be",
    over: { problems: [{ field: "f", message: "m", remedy: "r", reason: "SpecRefused" }] },
    ready: "SpecRefused",
  },
  {
    name: "IN92: due faster than one is taken: refused with a reason",
    over: {
      schedule: schedule(promised(DUE), { schedule: "* * * * *" }),
      backups: [1, 2].map((days) => daysAgo(days, "stored", { completionTime: rfc3339(DUE - days * 24 * HOUR + 90_000) })),
    },
    ready: "TooFrequent",
    failed: "TooFrequent",
  },
  {
    name: "the last one failed: it goes on",
    over: { backups: [daysAgo(1, "failed"), daysAgo(2)] },
    make: NAME,
    ready: "BackupFailed",
    failed: "BackupFailed",
  },
  { name: "the last one is good again", over: { backups: [daysAgo(1), daysAgo(2, "failed")] }, make: NAME },
  {
    name: "one that never began is made up for",
    over: { now: DUE - HOUR, backups: [daysAgo(1, "never-began")] },
    make: "nightly-20260109020000-again",
    missed: 1,
    ready: "BackupFailed",
    failed: "BackupFailed",
  },
];
describe("a schedule", () => {
  for (const { name, over, make, missed = 0, skipped = 0, ready = "ScheduleActive", failed = "ScheduleActive" } of cases)
    test(name, () => {
      const decision = decided(over);
      const { create, fields } = decision;
      assert.deepEqual(
        [create?.name, fields.missed, fields.skipped, reasonOf(decision, "Ready"), reasonOf(decision, "Failed")],
        [make, missed, skipped, ready, failed],
      );
    });

  test("does not make up for what it missed while it was paused", () => {
    const paused = decided({ now: DUE - HOUR, schedule: schedule(undefined, { paused: true }) });
    assert.equal(paused.fields.nextScheduleTime, undefined);
    const again = decided({ now: DUE + HOUR, schedule: schedule(after(paused)) });
    assert.deepEqual([again.create, again.fields.nextScheduleTime], [undefined, rfc3339(DUE + 24 * HOUR)]);
  });

  const slow = (days: number): TalosEtcdBackup => daysAgo(days, "stored", { completionTime: rfc3339(DUE - days * 24 * HOUR + 90_000) });
  const everyMinute = schedule(promised(DUE), { schedule: "* * * * *" });
  const tooFrequent = (backups: readonly TalosEtcdBackup[]): boolean =>
    reasonOf(decided({ schedule: everyMinute, backups }), "Ready") === "TooFrequent";
  test("IN92: is no longer too frequent when the newest one was taken in time, and measures anew after a day", () => {
    const today = (at: number, ms: number): TalosEtcdBackup => backup(at, "stored", { completionTime: rfc3339(at + ms) });
    const slowOnes = [today(DUE - HOUR, 90_000), today(DUE - 2 * HOUR, 90_000)];
    assert.equal(tooFrequent(slowOnes), true);
    assert.equal(tooFrequent([today(DUE - HOUR / 2, 30_000), ...slowOnes]), false);
    assert.equal(tooFrequent([slow(2), slow(3)]), false);
  });

  test("IN92: is not too frequent for one that was slow, whatever came before it", () => {
    const today = (at: number, ms: number): TalosEtcdBackup => backup(at, "stored", { completionTime: rfc3339(at + ms) });
    const [slowOne, fast, older] = [today(DUE - HOUR, 90_000), today(DUE - 2 * HOUR, 10_000), today(DUE - 3 * HOUR, 90_000)];
    assert.equal(tooFrequent([slowOne, fast]), false, "two show nothing while they differ");
    assert.equal(tooFrequent([slowOne, fast, today(DUE - 3 * HOUR, 10_000)]), false);
    assert.equal(tooFrequent([slowOne, fast, older]), true);
  });

  test("says of missed ones what became of them", () => {
    const told = (over: Partial<ScheduleSeen>): string =>
      decided(over)
        .news.map(({ note }) => note)
        .join(" ");
    const missedTwo = promised(DUE - 2 * 24 * HOUR);
    assert.match(told({ schedule: schedule(missedTwo) }), /^2 backups .* one is made up for them\.$/);
    assert.match(
      told({ now: DUE + 2 * HOUR, schedule: schedule(missedTwo, { startingDeadline: "1h" }) }),
      /^3 backups .* later than spec\.startingDeadline/,
    );
    assert.doesNotMatch(told({ schedule: schedule(missedTwo), backups: [daysAgo(3, "active")] }), /made up/);
  });

  test("says what holds up the backup that is to be taken, for as long as it does", () => {
    const held = (reason: string, over: Partial<TalosEtcdBackup["status"]> = {}): string | undefined => {
      const conditions = [condition("Ready", "False", reason, "Secret s3 not found.")];
      return reasonOf(decided({ now: DUE - HOUR, backups: [daysAgo(1, "active", { conditions, ...over })] }), "Ready");
    };
    assert.deepEqual(
      ["KeysNotReadable", "SourceUnreachable", "StoreUnreachable", "BackupInProgress", "WaitingForTurn", "WaitingForDisruption"].map(
        (reason) => held(reason),
      ),
      ["KeysNotReadable", "SourceUnreachable", "StoreUnreachable", "ScheduleActive", "ScheduleActive", "ScheduleActive"],
    );
  });

  test("gives an edit of its template to the backup that has not begun, at once and no other", () => {
    const s3 = { bucket: "b", region: "r" };
    const edited = { backupTemplate: { spec: { talosControlPlaneRef: { name: "demo" }, backupStorage: { s3 } } } };
    const fit = (generation: number, backups: readonly TalosEtcdBackup[], spec = edited) =>
      decided({ now: DUE - HOUR, backups, schedule: schedule(undefined, spec, { generation }) }).fit.map(({ metadata }) =>
        metadata.name.slice(8, 16),
      );
    assert.deepEqual(fit(2, [daysAgo(1, "active"), daysAgo(2)]), ["20260109"]);
    assert.deepEqual(fit(1, [daysAgo(1, "active")]), []);
    const run = { name: "backup-1", attempt: "1", task: "take", startedAt: rfc3339(NOW) } as const;
    assert.deepEqual(fit(2, [daysAgo(1, "active", { run, attempts: 1 })]), []);
    assert.deepEqual(fit(2, [daysAgo(1, "active", { attempts: 1 })]), []);
    assert.deepEqual(fit(2, [daysAgo(1, "active")], { backupTemplate: { spec: daysAgo(1).spec } } as typeof edited), []);
  });

  test("makes up once for one that never began, not again for that one", () => {
    const first = daysAgo(1, "never-began");
    const second = { ...first, metadata: { ...first.metadata, name: `${first.metadata.name}-again` } };
    assert.equal(decided({ now: DUE - HOUR, backups: [first, second] }).create, undefined);
  });

  test("says what is next and what was last", () => {
    const { fields } = decided({ backups: [daysAgo(1), daysAgo(2)] });
    assert.deepEqual(
      [
        fields.lastScheduleTime,
        fields.nextScheduleTime,
        fields.lastSuccessfulBackupTime,
        fields.activeBackups,
        fields.backups,
        fields.lastProof?.result,
      ],
      [rfc3339(DUE), rfc3339(DUE + 24 * HOUR), rfc3339(DUE - 24 * HOUR + 60_000), [NAME], 2, "Proved"],
    );
  });
});

describe("retention of a schedule", () => {
  const removed = (backups: readonly TalosEtcdBackup[], spec: Partial<TalosEtcdBackupSchedule["spec"]> = {}): readonly string[] =>
    decided({ now: DUE - HOUR, backups, schedule: schedule(undefined, spec) }).remove.map(({ metadata }) => metadata.name.slice(8, 16));

  test("keeps five by default", () => assert.deepEqual(removed([1, 2, 3, 4, 5, 6].map((days) => daysAgo(days))), ["20260104"]));
  test("keeps the newest that was proved", () => {
    const unproved = { conditions: [condition("Ready", "True", "BackupSucceeded"), condition("Proved", "False", "ProofFailed")] };
    assert.deepEqual(removed([daysAgo(1, "stored", unproved), daysAgo(2), daysAgo(3)], { retention: 1 }), ["20260107"]);
  });
  test("keeps the newest that was proved, though its last proof could not be tried", () => {
    const unproved = { conditions: [condition("Ready", "True", "BackupSucceeded"), condition("Proved", "False", "ProofFailed")] };
    const untried = { conditions: [condition("Ready", "True", "BackupSucceeded"), condition("Proved", "Unknown", "ProofNotRun")] };
    const backups = [daysAgo(1, "stored", unproved), daysAgo(2, "stored", untried), daysAgo(3)];
    assert.deepEqual(removed(backups, { retention: 1 }), ["20260107"]);
  });
  test("lets two go at a time: each needs a run, and a deletion waits for its run no longer than ten minutes", () => {
    const all = [1, 2, 3, 4, 5, 6].map((days) => daysAgo(days));
    assert.deepEqual(removed(all, { retention: 1 }), ["20260104", "20260105"]);
    const going = all.map((one, index) => (index === 5 ? { ...one, metadata: { ...one.metadata, deletionTimestamp: rfc3339(NOW) } } : one));
    assert.deepEqual(removed(going, { retention: 1 }), ["20260105"]);
  });
  test("leaves alone what is in use", () => {
    const run = { name: "backup-1", attempt: "1", task: "prove", startedAt: rfc3339(NOW) } as const;
    assert.deepEqual(removed([daysAgo(1), daysAgo(2, "stored", { run })], { retention: 1 }), []);
  });
  test("neither counts nor deletes what another operator took", () => {
    assert.deepEqual(removed([daysAgo(1), daysAgo(2, "of-others"), daysAgo(3)], { retention: 2 }), []);
  });
  test("neither sees what another schedule made", () => {
    const other = daysAgo(3);
    const [owner] = other.metadata.ownerReferences ?? [];
    assert.ok(owner !== undefined);
    const ofOther = { ...other, metadata: { ...other.metadata, ownerReferences: [{ ...owner, uid: "s-2" }] } };
    assert.deepEqual(removed([daysAgo(1), ofOther], { retention: 1 }), []);
  });
  test("lets failed ones go beyond as many as it keeps", () => {
    assert.deepEqual(removed([daysAgo(1), daysAgo(2, "failed"), daysAgo(3, "failed")], { retention: 1 }), ["20260107"]);
  });
});

describe("backups that were taken before a risk, with the store of a schedule", () => {
  const beforeRisk = (...given: Parameters<typeof daysAgo>): TalosEtcdBackup => {
    const made = daysAgo(...given);
    return { ...made, metadata: { ...made.metadata, labels: { ...made.metadata.labels, [labels.beforeRisk]: "demo" } } };
  };
  const of = (backups: readonly TalosEtcdBackup[], spec: Partial<TalosEtcdBackupSchedule["spec"]> = {}): readonly string[] =>
    decided({ now: DUE - HOUR, backups, schedule: schedule(undefined, spec) }).remove.map(({ metadata }) => metadata.name.slice(8, 16));

  test("are kept for a week, however few the schedule keeps, and then let go", () => {
    assert.deepEqual(of([daysAgo(1), beforeRisk(2), beforeRisk(3), beforeRisk(6)], { retention: 1 }), []);
    assert.deepEqual(of([beforeRisk(6), beforeRisk(8)], { retention: 5 }), ["20260102"]);
  });
  test("outlive the week as the newest of all that is stored, and as the newest that was proved", () => {
    const unproved = { conditions: [condition("Ready", "True", "BackupSucceeded"), condition("Proved", "False", "ProofFailed")] };
    assert.deepEqual(of([beforeRisk(9), beforeRisk(8)]), ["20260101"]);
    assert.deepEqual(of([beforeRisk(8), daysAgo(9)]), []);
    assert.deepEqual(of([daysAgo(2), beforeRisk(8)]), ["20260102"]);
    assert.deepEqual(of([daysAgo(2, "stored", unproved), beforeRisk(8), beforeRisk(9)]), ["20260101"]);
    assert.deepEqual(of([beforeRisk(8, "stored", unproved), beforeRisk(9, "stored", unproved)]), ["20260101"]);
  });
  test("push out none of its own, and stand for none of them", () => {
    const own = [1, 2, 3, 4, 5].map((days) => daysAgo(days));
    assert.deepEqual(of([beforeRisk(0.5), ...own]), []);
    assert.equal(decided({ now: DUE - HOUR, backups: [beforeRisk(0.5), ...own] }).fields.backups, 5);
  });
  test("stay while a person wants one, or a run is open", () => {
    const run = { name: "backup-1", attempt: "1", task: "prove", startedAt: rfc3339(NOW) } as const;
    const kept = beforeRisk(9);
    const wanted = { ...kept, spec: { ...kept.spec, retention: { keep: true } } };
    assert.deepEqual(of([wanted, beforeRisk(8, "stored", { run })]), []);
  });
  test("go when they failed, but for the newest, which says why", () =>
    assert.deepEqual(of([beforeRisk(1, "failed"), beforeRisk(2, "failed"), beforeRisk(3, "failed")]), ["20260108", "20260107"]));
  test("do not keep one from being made that is due, and are not made up for", () => {
    assert.equal(decided({ backups: [beforeRisk(0.01, "active")] }).create?.name, NAME);
    assert.equal(decided({ now: DUE - HOUR, backups: [beforeRisk(0.5, "never-began")] }).create, undefined);
  });
  test("follow an edit of the template while they wait", () => {
    const edited = schedule(
      { ...promised(DUE), observedGeneration: 1 },
      { backupTemplate: { spec: { talosControlPlaneRef: { name: "demo" }, backupStorage: { directory: { path: "other" } } } } },
      { generation: 2 },
    );
    assert.equal(decided({ now: DUE - HOUR, schedule: edited, backups: [beforeRisk(0.01, "active")] }).fit.length, 1);
    assert.equal(decided({ now: DUE - HOUR, schedule: edited, backups: [beforeRisk(1, "failed"), beforeRisk(2)] }).fit.length, 0);
  });
});

describe("proofs of a schedule", () => {
  const word = (over: Partial<ScheduleSeen>): string | undefined => decided({ now: DUE - HOUR, ...over }).prove?.word;
  test("are due a day after the last one", () => {
    assert.equal(word({ backups: [daysAgo(1)] }), undefined);
    assert.match(word({ backups: [daysAgo(2)] }) ?? "", /^schedule-20260110T010000Z$/);
  });
  test("are never due with an interval of 0s", () => {
    assert.equal(word({ backups: [daysAgo(9)], schedule: schedule(undefined, { drill: { interval: "0s" } }) }), undefined);
  });
  test("are asked for by a person, once", () => {
    const asked = schedule(undefined, {}, { annotations: { [annotations.proveNow]: "now" } });
    const decision = decided({ now: DUE - HOUR, backups: [daysAgo(1)], schedule: asked });
    assert.deepEqual([decision.prove?.word, decision.fields.provedNow], ["now", "now"]);
    const told = schedule(after(decision), {}, { annotations: { [annotations.proveNow]: "now" } });
    assert.equal(word({ backups: [daysAgo(1)], schedule: told }), undefined);
  });
});
