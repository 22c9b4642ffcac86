import assert from "node:assert/strict";
import { test } from "node:test";
import type { Condition, TalosMachine } from "@talos-operator/api";
import { configured, inMaintenance, NOW, preparing, running, silent } from "../../testing/builders.ts";
import { decideMachine } from "./decide.ts";
import type { Look } from "../../model/look.ts";
import type { MachineFact } from "../../model/record.ts";

const machine: TalosMachine = {
  apiVersion: "talos.alperen.cloud/v1alpha1",
  kind: "TalosMachine",
  metadata: { namespace: "default", name: "demo-10.0.0.1", generation: 2 },
  spec: { endpoint: "10.0.0.1", version: "v1.13.9" },
};
const known = configured("10.0.0.1");
const foreign: Look = { kind: "foreign", at: NOW, detail: "x" };

/** State, observed version, then the reasons of Ready, Reachable, MaintenanceIdentityPinned and ConfigApplied. */
const cases: readonly {
  readonly name: string;
  readonly look: Look;
  readonly fact?: MachineFact;
  readonly hasOwner?: boolean;
  readonly want: readonly (string | undefined)[];
}[] = [
  {
    name: "says that a machine was not asked yet",
    look: { kind: "not-asked" },
    want: ["Pending", undefined, "Unobserved", "NotAskedYet", "NotSeenInMaintenance", "WaitingForMachine"],
  },
  {
    name: "asks for a machine that never answered",
    look: silent,
    want: ["Pending", undefined, "WaitingForMachines", "NoAnswer", "NotSeenInMaintenance", "WaitingForMachine"],
  },
  {
    name: "waits for a machine that took its configuration",
    look: silent,
    fact: known,
    want: ["Installing", undefined, "Configuring", "NoAnswer", "TrustedOnFirstUse", "OutcomeUnknown"],
  },
  {
    name: "misses a machine that does not come back with its configuration",
    look: { kind: "silent", at: NOW, since: NOW - 11 * 60_000, detail: "unreachable" },
    fact: known,
    want: ["Installing", undefined, "MachineUnreachable", "NoAnswer", "TrustedOnFirstUse", "OutcomeUnknown"],
  },
  {
    name: "misses a machine that ran",
    look: silent,
    fact: { ...known, appliedHash: "x" },
    want: ["Unreachable", undefined, "MachineUnreachable", "NoAnswer", "TrustedOnFirstUse", "OutcomeUnknown"],
  },
  {
    name: "misses a machine that ran when something else answers in its place",
    look: foreign,
    fact: { ...known, appliedHash: "x" },
    want: ["IdentityMismatch", undefined, "IdentityMismatch", "IdentityMismatch", "TrustedOnFirstUse", "Blocked"],
  },
  {
    name: "reports a machine that waits",
    look: inMaintenance("10.0.0.1"),
    want: ["Pending", "v1.13.9", "WaitingForMachines", "Answers", "NotPinnedYet", "WaitingForMachine"],
  },
  {
    name: "reports a machine that is being configured",
    look: inMaintenance("10.0.0.1"),
    fact: known,
    want: ["Installing", "v1.13.9", "Configuring", "Answers", "TrustedOnFirstUse", "OutcomeUnknown"],
  },
  {
    name: "stops at a configured machine with another key",
    look: inMaintenance("10.0.0.1", { spki: "new" }),
    fact: known,
    want: ["IdentityMismatch", "v1.13.9", "MaintenanceUnexpected", "Answers", "TrustedOnFirstUse", "Blocked"],
  },
  {
    name: "takes a machine that was released for a new one",
    look: inMaintenance("10.0.0.1", { spki: "new" }),
    fact: { ...known, releasedAt: NOW },
    want: ["Pending", "v1.13.9", "WaitingForMachines", "Answers", "TrustedOnFirstUse", "WaitingForMachine"],
  },
  {
    name: "names a machine of another cluster",
    look: foreign,
    want: ["Pending", undefined, "ForeignCluster", "IdentityMismatch", "NotSeenInMaintenance", "WaitingForMachine"],
  },
  {
    name: "names an impostor",
    look: foreign,
    fact: known,
    want: ["IdentityMismatch", undefined, "IdentityMismatch", "IdentityMismatch", "TrustedOnFirstUse", "Blocked"],
  },
  {
    name: "names what is not Talos",
    look: { kind: "not-talos", at: NOW, detail: "x" },
    want: ["Pending", undefined, "NotTalos", "NotTalos", "NotSeenInMaintenance", "WaitingForMachine"],
  },
  {
    name: "reports a machine that installs",
    look: running(undefined, { stage: "installing", ready: false }),
    fact: known,
    want: ["Installing", "v1.13.9", "Configuring", "Answers", "TrustedOnFirstUse", "Applied"],
  },
  {
    name: "reports what keeps a node from being ready",
    look: running(preparing, { ready: false, unmet: [{ name: "nodeReady", reason: "no CNI" }] }),
    fact: known,
    want: ["Available", "v1.13.9", "NodesNotReady", "Answers", "TrustedOnFirstUse", "Applied"],
  },
  {
    name: "reports a ready node",
    look: running(),
    fact: known,
    want: ["Available", "v1.13.9", "AllReady", "Answers", "TrustedOnFirstUse", "Applied"],
  },
  {
    name: "does not say of what the record does not know, as a second entry for another machine, that its configuration is there, or that it is ready",
    look: running(),
    want: ["Available", "v1.13.9", "MachineInUse", "Answers", "NotSeenInMaintenance", "WaitingForMachine"],
  },
  {
    name: "reports an orphan",
    look: running(),
    fact: known,
    hasOwner: false,
    want: ["Orphaned", "v1.13.9", "Orphaned", "Answers", "TrustedOnFirstUse", "Applied"],
  },
];

for (const { name, look, fact, hasOwner = true, want } of cases) {
  test(`machine: ${name}`, () => {
    const report = decideMachine({ machine, look, fact, hasOwner, hasRecord: true });
    const reason = (type: string): string | undefined => report.conditions.find((condition) => condition.type === type)?.reason;
    assert.deepEqual(
      [
        report.state,
        report.observedVersion,
        reason("Ready"),
        reason("Reachable"),
        reason("MaintenanceIdentityPinned"),
        reason("ConfigApplied"),
      ],
      want,
    );
    assert.ok(report.conditions.every((condition) => condition.observedGeneration === 2));
  });
}

test("machine: nobody vouched for its key, whatever else is the case, and the message has the key", () => {
  const { conditions } = decideMachine({ machine, look: running(), fact: known, hasOwner: true, hasRecord: true });
  const pinned = conditions.find((condition) => condition.type === "MaintenanceIdentityPinned");
  assert.equal(pinned?.status, "False");
  assert.match(pinned.message, /spki-10\.0\.0\.1/);
});

test("machine: says why a single machine that is being deleted stays", () => {
  const going = { ...machine, metadata: { ...machine.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  const deleting = (isPoolGoing: boolean) =>
    decideMachine({ machine: going, look: running(), fact: known, hasOwner: true, isPoolGoing, hasRecord: true }).conditions.find(
      (condition) => condition.type === "Deleting",
    );
  assert.equal(deleting(false)?.reason, "Blocked");
  assert.match(deleting(false)?.message ?? "", /take it out of spec/);
  assert.match(deleting(true)?.message ?? "", /goes with its pool: the condition Deleting of the TalosControlPlane/);
});

test("machine: while the record is away, neither that a configuration was sent nor who the machine is is unsaid", () => {
  const look = inMaintenance("10.0.0.1");
  const { conditions, state } = decideMachine({ machine, look, fact: known, identity: "own", hasOwner: true, hasRecord: true });
  const stored = conditions.map((condition) => ({ ...condition, lastTransitionTime: "2026-01-01T00:00:00Z" })) as unknown as NonNullable<
    TalosMachine["status"]
  >["conditions"];
  const told: TalosMachine = { ...machine, status: { state, ...(stored === undefined ? {} : { conditions: stored }) } };
  const report = decideMachine({ machine: told, look: inMaintenance("10.0.0.1"), fact: undefined, hasOwner: true, hasRecord: false });
  assert.equal(report.state, "Installing");
  const reasons = new Map(report.conditions.map(({ type, reason }) => [type, reason]));
  assert.equal(reasons.get("ConfigApplied"), "OutcomeUnknown");
  assert.equal(reasons.get("MaintenanceIdentityPinned"), "TrustedOnFirstUse");
  assert.equal(report.conditions.find(({ type }) => type === "IdentityUnique")?.message, "Its UUID uuid-10.0.0.1 is its own.");
});

test("machine: while the record is away its identity stays, in whatever form it was told", () => {
  const look = inMaintenance("10.0.0.1");
  const fact = { ...known, failed: { configHash: "new", kind: "refused", why: "no" } } as const;
  const report = decideMachine({ machine, look, fact, identity: "own", hasOwner: true, hasRecord: true });
  assert.deepEqual(report.identity, { uuid: "uuid-10.0.0.1", kind: "own", maintenanceKey: "spki-10.0.0.1" });
  assert.deepEqual(report.failedConfig, { kind: "refused" });
  const later = (status: TalosMachine["status"]): unknown =>
    decideMachine({
      machine: { ...machine, ...(status === undefined ? {} : { status }) },
      look,
      fact: undefined,
      hasOwner: true,
      hasRecord: false,
    }).identity;
  assert.equal(later({ identity: report.identity }), report.identity);
  const stored = report.conditions.map((condition) => ({ ...condition, lastTransitionTime: "2026-01-01T00:00:00Z" })) as Condition[];
  assert.deepEqual(later({ conditions: stored }), { uuid: "uuid-10.0.0.1", maintenanceKey: "spki-10.0.0.1" });
  assert.equal(later(undefined), undefined);
});

test("machine: nothing is told of who a machine is that the record does not know", () => {
  const told = { ...machine, status: { identity: { uuid: "by hand" } } };
  const report = decideMachine({ machine: told, look: running(), fact: undefined, hasOwner: true, hasRecord: true });
  assert.equal(report.identity, undefined);
});

test("machine: a key that a person vouched for is no trust on first use", () => {
  const fact = configured("10.0.0.1", "controlplane", "demo", { vouchedAt: NOW });
  const { conditions } = decideMachine({ machine, look: running(), fact, hasOwner: true, hasRecord: true });
  assert.equal(conditions.find((condition) => condition.type === "MaintenanceIdentityPinned")?.reason, "AcceptedByPerson");
});

test("machine: says what the machine answered to a configuration that it refused", () => {
  const sent = { at: NOW, outcome: "refused", detail: "no such disk" } as const;
  const { conditions } = decideMachine({ machine, look: inMaintenance("10.0.0.1"), fact: known, sent, hasOwner: true, hasRecord: true });
  const applied = conditions.find((condition) => condition.type === "ConfigApplied");
  assert.equal(applied?.reason, "Rejected");
  assert.match(applied.message, /no such disk/);
});

test("machine: of one that ran and is silent it is not said that its configuration may have been sent", () => {
  const said = (fact: typeof known): string | undefined =>
    decideMachine({ machine, look: silent, fact, hasOwner: true, hasRecord: true }).conditions.find(({ type }) => type === "ConfigApplied")
      ?.message;
  assert.match(said({ ...known, appliedHash: "read" }) ?? "", /^It ran with its configuration/);
  assert.match(said(known) ?? "", /may have been sent/);
});

test("machine: an orphan whose owner is back is none any more (W35)", () => {
  const orphan: TalosMachine = { ...machine, status: { state: "Orphaned" } };
  assert.equal(decideMachine({ machine: orphan, look: running(), fact: known, hasOwner: true, hasRecord: true }).state, "Available");
});

const read = { ...known, appliedHash: "read" };
const shows = (stage: string): Look => running(undefined, { stage, ready: false });

for (const { name, want, ...seen } of [
  { name: "its disk is wiped", look: shows("resetting"), fact: read, want: "Resetting" },
  { name: "it boots after the wipe", look: shows("rebooting"), fact: read, underWay: "reset", want: "Resetting" },
  { name: "it does not answer while it is wiped", look: silent, fact: read, underWay: "reset", want: "Resetting" },
  {
    name: "it was wiped, and nobody wrote that down yet",
    look: inMaintenance("10.0.0.1"),
    fact: read,
    underWay: "reset",
    want: "Resetting",
  },
  { name: "its reset may have been sent, by another process", look: silent, fact: known, hasOpenEffect: true, want: "Unreachable" },
  { name: "it waits for its drain", look: running(), fact: read, want: "Available" },
  { name: "it boots with other settings", look: shows("rebooting"), fact: read, underWay: "reboot", want: "Rebooting" },
  { name: "it does not answer while it boots with other settings", look: silent, fact: read, underWay: "reboot", want: "Rebooting" },
  { name: "it boots after its installation", look: shows("rebooting"), fact: known, want: "Installing" },
  { name: "somebody else boots it", look: shows("rebooting"), fact: read, want: "Rebooting" },
] as const)
  test(`machine: is ${want} when ${name}`, () => {
    assert.equal(decideMachine({ machine, hasOwner: true, hasRecord: true, ...seen }).state, want);
  });

test("machine: one whose configuration was never read back does not install while something else is under way on it", () => {
  const said = (hasOpenEffect: boolean): string | undefined =>
    decideMachine({ machine, look: silent, fact: known, hasOpenEffect, hasOwner: true, hasRecord: true }).conditions.find(
      ({ type }) => type === "Ready",
    )?.reason;
  assert.deepEqual([said(false), said(true)], ["Configuring", "MachineUnreachable"]);
});

test("machine: one that the operator restarts is no fault of anybody, and what nobody restarts is", () => {
  const said = (look: Look, isRestarted: boolean): string | undefined =>
    decideMachine({ machine, look, fact: { ...known, appliedHash: "x" }, isRestarted, hasOwner: true, hasRecord: true }).conditions.find(
      ({ type }) => type === "Ready",
    )?.reason;
  assert.deepEqual([said(silent, true), said(silent, false)], ["Restarting", "MachineUnreachable"]);
  assert.deepEqual([said(shows("booting"), true), said(shows("booting"), false)], ["Restarting", "Booting"]);
  assert.equal(said(running(), true), "AllReady");
  assert.equal(said(inMaintenance("10.0.0.1", { spki: "other" }), true), "MaintenanceUnexpected");
});

for (const [told, want] of [
  ["IdentityMismatch", "IdentityMismatch"],
  ["Resetting", "Resetting"],
  ["Unreachable", "Unreachable"],
  ["Installing", "Installing"],
  ["Available", "Unreachable"],
] as const)
  test(`machine: one that was ${told} is ${want} while the record is away and it does not answer`, () => {
    const before: TalosMachine = { ...machine, status: { state: told } };
    assert.equal(decideMachine({ machine: before, look: silent, fact: undefined, hasOwner: true, hasRecord: false }).state, want);
  });

test("machine: nobody says that another one answers while the keys that would tell are away", () => {
  const before: TalosMachine = { ...machine, status: { state: "Available" } };
  const seen = { machine: before, look: foreign, fact: read, hasOwner: true, hasRecord: true };
  assert.equal(decideMachine(seen).state, "IdentityMismatch");
  assert.equal(decideMachine({ ...seen, areKeysInDoubt: true }).state, "Unreachable");
});

test("machine: says itself why nothing is sent to it", () => {
  const stopped = {
    name: "demo-10.0.0.1",
    role: "worker",
    reason: "InstallDiskUnclear",
    message: "demo-10.0.0.1 has no disk /dev/sdz.",
  } as const;
  const seen = { machine, look: inMaintenance("10.0.0.1"), fact: undefined, hasOwner: true, hasRecord: true };
  const [ready] = decideMachine({ ...seen, stopped }).conditions;
  assert.deepEqual([ready?.reason, ready?.message], ["InstallDiskUnclear", "demo-10.0.0.1 has no disk /dev/sdz."]);
  const sent = { at: NOW, outcome: "refused", detail: "no such disk" } as const;
  assert.equal(decideMachine({ ...seen, fact: known, sent }).conditions[0]?.reason, "ConfigRejected");
});

test("a machine that boots another Talos says so, and nobody is sent to look at its power and network", () => {
  const upgrade = { machine: "demo-10.0.0.1", from: "v1.13.8", to: "v1.13.9" };
  const told = (look: Look, stage: "Installing" | "Booting" | "RollingBack"): readonly (string | undefined)[] => {
    const seen = { machine, look, fact: { ...known, appliedHash: "x" }, hasOwner: true, hasRecord: true, hasOpenEffect: true };
    const report = decideMachine({ ...seen, upgrade: { ...upgrade, stage } });
    assert.deepEqual(report.upgrade, { from: "v1.13.8", to: "v1.13.9", stage });
    const ready = report.conditions.find(({ type }) => type === "Ready");
    return [report.state, ready?.reason, ready?.message];
  };
  assert.deepEqual(told(silent, "Booting"), ["Upgrading", "Booting", "Boots Talos v1.13.9 in the place of v1.13.8."]);
  assert.deepEqual(told(silent, "RollingBack"), ["Upgrading", "Booting", "Boots Talos v1.13.8 again."]);
  assert.deepEqual(told(silent, "Installing").slice(0, 2), ["Unreachable", "MachineUnreachable"]);
  assert.deepEqual(told(running(), "Installing").slice(0, 2), ["Available", "AllReady"], "it serves while it is installed beside");
  assert.equal(told(running(undefined, { stage: "rebooting", ready: false }), "Booting")[0], "Upgrading");
});

test("machine: one that the operator wipes is not blamed for its silence while the reset has its time", () => {
  const reasonOf = (isRestarted: boolean): string | undefined =>
    decideMachine({ machine, look: silent, fact: read, hasOwner: true, hasRecord: true, underWay: "reset", isRestarted }).conditions.find(
      ({ type }) => type === "Ready",
    )?.reason;
  assert.deepEqual([reasonOf(true), reasonOf(false)], ["Removing", "MachineUnreachable"]);
});
