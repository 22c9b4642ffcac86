import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Condition, EtcdBackup, EtcdBackupSpec, TalosEtcdBackup, TalosEtcdBackupSchedule } from "@talos-operator/api";
import { decideEtcdBackup, isOfOthers } from "./decide.ts";
import type { EtcdBackupDecision, EtcdBackupSeen } from "./decide.ts";

const UID = "eb-1";
const owner = { apiVersion: "vitistack.io/v1alpha1", kind: "EtcdBackup", name: "nightly", uid: UID, controller: true };
const others = { ...owner, uid: "eb-2" };

function asked(over: Partial<EtcdBackupSpec> = {}, status?: EtcdBackup["status"]): EtcdBackupSeen["backup"] {
  return {
    apiVersion: "vitistack.io/v1alpha1",
    kind: "EtcdBackup",
    metadata: { namespace: "default", name: "nightly", uid: UID, generation: 3 },
    spec: { clusterName: "demo", storageLocation: { type: "s3", bucket: "b-u-c" }, ...over },
    ...(status === undefined ? {} : { status }),
  };
}
const condition = (type: string, status: Condition["status"], reason: string, message = ""): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: "2026-01-01T00:00:00Z",
});
const s3 = { bucket: "b-u-c", region: "us-east-1", endpoint: "https://s3.example.org" };
const wanted = { talosControlPlaneRef: { name: "demo" }, storageType: "S3" as const, backupStorage: { s3 } };
function once(status?: TalosEtcdBackup["status"], over: Partial<TalosEtcdBackup["metadata"]> = {}): TalosEtcdBackup {
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosEtcdBackup",
    metadata: { namespace: "default", name: "nightly", uid: "b-1", generation: 1, ownerReferences: [owner], ...over },
    // As the API server stores it: with its defaults.
    spec: { ...wanted, backupStorage: { s3: { ...s3, insecureSkipTLSVerify: false } } },
    ...(status === undefined ? {} : { status }),
  };
}
function schedule(
  over: Partial<TalosEtcdBackupSchedule["spec"]> = {},
  status?: TalosEtcdBackupSchedule["status"],
): TalosEtcdBackupSchedule {
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosEtcdBackupSchedule",
    metadata: { namespace: "default", name: "nightly", uid: "s-1", generation: 1, ownerReferences: [owner] },
    spec: { schedule: "0 2 * * *", retention: 7, paused: false, backupTemplate: { spec: once().spec }, ...over },
    ...(status === undefined ? {} : { status }),
  };
}
function decided(over: Partial<EtcdBackupSeen> = {}): EtcdBackupDecision {
  return decideEtcdBackup({
    backup: asked(),
    problems: [],
    isTerminating: false,
    cluster: { kind: "present", controlPlane: "demo" },
    store: { kind: "read", value: { storage: { s3 }, recipients: [] } },
    once: undefined,
    schedule: undefined,
    newest: undefined,
    limits: {},
    ...over,
  });
}
const daily = asked({ schedule: "0 2 * * *" });
const reasonOf = ({ conditions }: EtcdBackupDecision, type = "Ready"): string | undefined =>
  conditions.find((one) => one.type === type)?.reason;

describe("an EtcdBackup", () => {
  const cases: readonly (readonly [string, Partial<EtcdBackupSeen>, EtcdBackupDecision["act"]["kind"], string])[] = [
    ["makes its backup", {}, "create", "BackupInProgress"],
    ["makes its schedule", { backup: daily }, "create", "BackupInProgress"],
    ["waits for its cluster", { cluster: { kind: "absent", message: "." } }, "none", "ControlPlaneNotFound"],
    ["waits for its Secret", { store: { kind: "missing", message: "." } }, "none", "KeysNotReadable"],
    ["makes nothing in a namespace that goes", { isTerminating: true }, "none", "NamespaceTerminating"],
    ["leaves another's backup alone", { once: once(undefined, { ownerReferences: [others] }) }, "none", "NameConflict"],
    [
      "waits until what it made is gone",
      { once: once(undefined, { deletionTimestamp: "2026-01-01T00:00:00Z" }) },
      "none",
      "BackupInProgress",
    ],
    ["takes the schedule away that it does not ask for any more", { schedule: schedule() }, "delete", "BackupInProgress"],
    [
      "refuses what its Secret says",
      { store: { kind: "read", value: { storage: { s3: { ...s3, endpoint: "http://s3.example.org" } }, recipients: [] } } },
      "none",
      "InsecureObjectStorage",
    ],
    [
      "refuses recipients that are none",
      { store: { kind: "read", value: { storage: { s3 }, recipients: ["age1x"] } } },
      "none",
      "SpecRefused",
    ],
  ];
  for (const [name, over, act, reason] of cases)
    test(name, () => {
      const decision = decided(over);
      assert.deepEqual([decision.act.kind, reasonOf(decision), decision.fields["phase"]], [act, reason, "Pending"]);
    });

  test("leaves what is as it asks alone, defaults of the API server included", () => {
    assert.equal(decided({ once: once() }).act.kind, "none");
    assert.equal(decided({ backup: daily, schedule: schedule() }).act.kind, "none");
    assert.equal(
      decided({ backup: daily, schedule: schedule({ keepDaily: 3, paused: true }) }).act.kind,
      "none",
      "people may set more on it",
    );
  });

  test("patches what differs, and takes away what is not asked for any more", () => {
    const { act } = decided({ backup: daily, schedule: schedule({ retention: 2 }) });
    assert.deepEqual(act.kind === "patch" ? act.value : act, {
      spec: {
        schedule: "0 2 * * *",
        retention: 7,
        backupTemplate: {
          spec: {
            talosControlPlaneRef: { name: "demo" },
            storageType: "S3",
            encryption: null,
            backupStorage: {
              directory: null,
              s3: { prefix: null, accessKeyID: null, secretAccessKey: null, sessionToken: null, caBundle: null, ...s3 },
            },
          },
        },
      },
    });
    const local = { kind: "read", value: { storage: { directory: { path: "x" } }, recipients: [] } } as const;
    const moved = decided({ once: once(), store: local, limits: { hasDirectory: true } }).act;
    assert.deepEqual(moved.kind === "patch" ? moved.value : moved, {
      spec: {
        talosControlPlaneRef: { name: "demo" },
        storageType: "Directory",
        encryption: null,
        backupStorage: { s3: null, directory: { path: "x" } },
      },
    });
  });

  const ready = [condition("Ready", "True", "BackupSucceeded"), condition("Failed", "False", "BackupSucceeded")];
  const failed = [condition("Ready", "False", "BackupFailed", "The store is full."), condition("Failed", "True", "BackupFailed")];
  const going = condition("Progressing", "True", "BackupInProgress");
  const run = { name: "r", attempt: "1", task: "take", startedAt: "2026-01-01T00:00:00Z" } as const;
  const phases: readonly (readonly [string, Partial<EtcdBackupSeen>, string])[] = [
    ["waits", { once: once({ observedGeneration: 1, conditions: [going] }) }, "Pending"],
    ["is taken", { once: once({ observedGeneration: 1, run, conditions: [going] }) }, "Running"],
    ["is stored", { once: once({ observedGeneration: 1, conditions: ready }) }, "Completed"],
    ["failed", { once: once({ observedGeneration: 1, conditions: failed }) }, "Failed"],
    ["was never taken", { backup: daily, schedule: schedule({}, { observedGeneration: 1, conditions: ready }) }, "Pending"],
    [
      "was taken at its time",
      {
        backup: daily,
        schedule: schedule({}, { observedGeneration: 1, conditions: ready, lastSuccessfulBackupTime: "2026-01-01T02:00:00Z" }),
      },
      "Completed",
    ],
    ["is taken at its time", { backup: daily, schedule: schedule({}, { observedGeneration: 1, conditions: [going] }) }, "Running"],
  ];
  for (const [name, over, phase] of phases) test(`that ${name} is ${phase}`, () => assert.equal(decided(over).fields["phase"], phase));

  test("tells an end once", () => {
    const seen = { once: once({ observedGeneration: 1, conditions: failed }) };
    assert.deepEqual(decided(seen).news, [{ reason: "BackupFailed", note: "The store is full." }]);
    assert.deepEqual(decided({ ...seen, backup: asked({}, { phase: "Failed", observedGeneration: 3 }) }).news, []);
  });

  test("of another operator that finished it is left alone; its schedule goes on", () => {
    assert.equal(isOfOthers(asked({}, { phase: "Completed" })), true);
    assert.equal(isOfOthers(asked({}, { phase: "Running" })), false);
    assert.equal(isOfOthers(asked({}, { phase: "Completed", observedGeneration: 1 })), false);
    assert.equal(isOfOthers(asked({ schedule: "0 2 * * *" }, { phase: "Completed" })), false);
  });
});
