import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionFor, rfc3339 } from "@talos-operator/api";
import type { ReadyReason, TalosMachine } from "@talos-operator/api";
import { controlPlane, NOW, worker } from "../../testing/builders.ts";
import { machinesOf } from "../../spec/declared.ts";
import { decideWorker } from "./decide.ts";
import type { WorkerSeen } from "./decide.ts";

const FINALIZER = "talosworker.talos.alperen.cloud/finalizer";

function machine(index: number, ready: ReadyReason, state = "Available"): TalosMachine {
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosMachine",
    metadata: { namespace: "default", name: `demo-workers-10.0.1.${index}` },
    spec: { endpoint: `10.0.1.${index}`, version: "v1.13.9" },
    status: { state, conditions: [{ ...conditionFor("Ready", ready, "m"), lastTransitionTime: rfc3339(NOW) }] },
  };
}

function seen(over: Partial<WorkerSeen> = {}): WorkerSeen {
  const pool = over.worker ?? worker(2, { finalizers: [FINALIZER] });
  const nothing = { problems: [], inertFields: [], machines: [] };
  return { worker: pool, controlPlane: controlPlane(), declared: machinesOf(pool), ...nothing, ...over };
}

const going = { finalizers: [FINALIZER], deletionTimestamp: "2026-01-01T00:00:00Z" };
const both = [machine(1, "AllReady"), machine(2, "AllReady")];

const cases: readonly {
  readonly name: string;
  readonly seen: WorkerSeen;
  readonly want: {
    readonly ready: string;
    readonly state: string;
    readonly release?: number;
    readonly isReleased?: true;
  };
}[] = [
  {
    name: "waits for machines that are not made yet",
    seen: seen({ machines: [machine(1, "AllReady")] }),
    want: { ready: "WaitingForMachines", state: "Pending" },
  },
  {
    name: "waits for its control plane where that goes on first",
    seen: seen({ composition: { waitsForControlPlane: true } }),
    want: { ready: "ControlPlaneNotReady", state: "Pending" },
  },
  { name: "is ready when every machine is", seen: seen({ machines: both }), want: { ready: "AllReady", state: "Ready" } },
  {
    name: "is ready without machines",
    seen: seen({ worker: worker(0, { finalizers: [FINALIZER] }) }),
    want: { ready: "AllReady", state: "Ready" },
  },
  {
    name: "says why a machine is not even asked, which no boot changes",
    seen: seen({ machines: [machine(1, "AllReady"), machine(2, "NameUnresolved", "Pending")] }),
    want: { ready: "NameUnresolved", state: "Pending" },
  },
  {
    name: "is not ready while one node is not",
    seen: seen({ machines: [machine(1, "AllReady"), machine(2, "NodesNotReady")] }),
    want: { ready: "NodesNotReady", state: "Pending" },
  },
  {
    name: "names a machine that stopped before those that only wait",
    seen: seen({ machines: [machine(1, "WaitingForMachines", "Pending"), machine(2, "IdentityMismatch", "Installing")] }),
    want: { ready: "IdentityMismatch", state: "Pending" },
  },
  {
    name: "makes nothing of a spec that cannot be",
    seen: seen({ problems: [{ field: "f", message: "m", remedy: "r", reason: "DuplicateAddress" }] }),
    want: { ready: "DuplicateAddress", state: "Pending" },
  },
  {
    name: "is let go by its control plane once its machines are gone, not from here",
    seen: seen({ worker: worker(2, going), composition: { held: [] } }),
    want: { ready: "Deleting", state: "Pending" },
  },
  {
    name: "goes once its machines are gone where there is no control plane",
    seen: seen({ worker: worker(2, going), controlPlane: undefined }),
    want: { ready: "Deleting", state: "Pending", isReleased: true },
  },
  {
    name: "without a control plane waits for a machine that may be configured",
    seen: seen({ worker: worker(2, going), controlPlane: undefined, machines: [machine(1, "AllReady")] }),
    want: { ready: "Deleting", state: "Pending" },
  },
  {
    name: "waits for its machines before it goes",
    seen: seen({ worker: worker(2, going), machines: both }),
    want: { ready: "Deleting", state: "Pending" },
  },
  {
    name: "lets machines go that were never configured when there is no control plane",
    seen: seen({
      worker: worker(2, going),
      controlPlane: undefined,
      machines: [machine(1, "WaitingForMachines", "Pending"), machine(2, "AllReady")],
    }),
    want: { ready: "Deleting", state: "Pending", release: 1 },
  },
];

for (const { name, seen: given, want } of cases) {
  test(`worker: ${name}`, () => {
    const decision = decideWorker(given, FINALIZER);
    assert.deepEqual(
      {
        ready: decision.conditions.find((condition) => condition.type === "Ready")?.reason,
        state: decision.state,
        release: decision.release.length,
        isReleased: decision.removeFinalizer,
      },
      { release: 0, isReleased: false, ...want },
    );
  });
}

test("worker: a spec that became wrong leaves in place how machines and nodes are", () => {
  const problems = [{ field: "f", message: "m", remedy: "r", reason: "DuplicateAddress" }] as const;
  const { conditions } = decideWorker(seen({ problems, machines: [machine(1, "AllReady"), machine(2, "NodesNotReady")] }), FINALIZER);
  const reasons = Object.fromEntries(conditions.map(({ type, reason }) => [type, reason]));
  assert.deepEqual(reasons, {
    Ready: "DuplicateAddress",
    Progressing: "Blocked",
    MachinesReady: "AllMachinesReady",
    NodesReady: "NodesNotReady",
  });
});

test("worker: what the cluster's reconciler said of an earlier spec settles nothing", () => {
  const quiet = { conditions: [], isChangingConfig: false, hasOpenEffect: false };
  const progressOf = (over: Partial<WorkerSeen>): unknown => {
    const pool = worker(2, { finalizers: [FINALIZER], generation: 2 });
    return decideWorker(seen({ worker: pool, machines: both, ...over }), FINALIZER).conditions.find(({ type }) => type === "Progressing")
      ?.reason;
  };
  assert.equal(progressOf({ state: { ...quiet, generation: 1 } }), "Starting");
  assert.equal(progressOf({ state: { ...quiet, generation: 2 } }), "Settled");
  assert.equal(progressOf({ state: undefined }), "Starting");
});

test("worker: without its control plane it says which one it waits for", () => {
  const { conditions } = decideWorker(seen({ controlPlane: undefined }), FINALIZER);
  const ready = conditions.find((condition) => condition.type === "Ready");
  assert.equal(ready?.reason, "ControlPlaneNotFound");
  assert.match(ready.message, /TalosControlPlane demo/);
});

const settledPool = { worker: worker(2, { finalizers: [FINALIZER] }), machines: both };
const removing = conditionFor("Removing", "MachineUnreachable", "demo-workers-10.0.1.3 does not answer.");
const pending = conditionFor("UpgradePending", "VersionDiffers", "demo-workers-10.0.1.1 runs Talos v1.13.8, the spec asks for v1.13.9.");

/** Reasons by type, of the conditions of a pool whose machines are all ready. */
function toldBy(state: WorkerSeen["state"], over: Partial<WorkerSeen> = {}): Readonly<Record<string, string>> {
  const { conditions } = decideWorker(seen({ ...settledPool, state, ...over }), FINALIZER);
  return Object.fromEntries(conditions.map(({ type, reason }) => [type, reason]));
}

test("worker: a removal, a rollout or another version is in its own conditions, and nothing is called settled", () => {
  const quiet = { generation: 1, conditions: [], isChangingConfig: false, hasOpenEffect: false };
  assert.equal(toldBy(quiet)["Progressing"], "Settled");
  assert.deepEqual(toldBy({ ...quiet, conditions: [removing, pending] }), {
    Ready: "AllReady",
    MachinesReady: "AllMachinesReady",
    NodesReady: "AllNodesReady",
    Progressing: "Blocked",
    Removing: "MachineUnreachable",
    UpgradePending: "VersionDiffers",
  });
  assert.equal(toldBy({ ...quiet, isChangingConfig: true })["Progressing"], "ChangingConfiguration");
  assert.equal(toldBy({ ...quiet, conditions: [pending] })["Progressing"], "UpgradePending");
  const rejected = conditionFor("ConfigUpToDate", "ConfigRejected", "demo-workers-10.0.1.1: it refused them.");
  assert.equal(toldBy({ ...quiet, conditions: [rejected, pending] })["Progressing"], "Blocked");
});

test("worker: until the cluster's reconciler has spoken, what was said of the pool stands", () => {
  const stored = { ...pending, lastTransitionTime: rfc3339(NOW) };
  const pool = { ...settledPool.worker, status: { conditions: [stored] } };
  assert.equal(toldBy(undefined, { worker: pool })["UpgradePending"], "VersionDiffers");
  assert.equal(
    toldBy({ generation: 1, conditions: [], isChangingConfig: false, hasOpenEffect: false }, { worker: pool })["UpgradePending"],
    undefined,
  );
});

test("worker: a machine that left the list is departing before anybody says where it stands", () => {
  const pool = worker(1, { finalizers: [FINALIZER], uid: "pool" });
  const owner = {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosWorker",
    name: pool.metadata.name,
    uid: "pool",
    controller: true,
  };
  const left = machine(2, "AllReady");
  const machines = [machine(1, "AllReady"), { ...left, metadata: { ...left.metadata, ownerReferences: [owner] } }];
  const told = toldBy({ generation: 1, conditions: [], isChangingConfig: false, hasOpenEffect: false }, { worker: pool, machines });
  assert.equal(told["Removing"], "WaitingForTurn");
  assert.equal(told["Progressing"], "Removing");
});

test("worker: its machines that leave are told one by one, also of names that begin or end alike", () => {
  const pool = { ...settledPool.worker, metadata: { ...settledPool.worker.metadata, uid: "pool" } };
  const owner = { apiVersion: "talos.alperen.cloud/v1alpha1", kind: "TalosWorker", name: "demo-workers", uid: "pool", controller: true };
  const [one, ten] = ["demo-workers-10.0.1.1", "demo-workers-10.0.1.10"] as const;
  const left = machine(10, "AllReady");
  const machines = [...both, { ...left, metadata: { ...left.metadata, ownerReferences: [owner] } }];
  const removalsOf = (state: WorkerSeen["state"], told: WorkerSeen["worker"] = pool): unknown =>
    decideWorker(seen({ worker: told, machines, state }), FINALIZER).removals;
  const quiet = { generation: 1, conditions: [], isChangingConfig: false, hasOpenEffect: false };
  assert.deepEqual(removalsOf(quiet), [{ machine: ten, reason: "WaitingForTurn" }]);
  const removals = [
    { machine: ten, reason: "Draining" },
    { machine: one, reason: "MachineUnreachable" },
  ];
  assert.deepEqual(removalsOf({ ...quiet, removals }), removals);
  assert.deepEqual(removalsOf(undefined, { ...pool, status: { removals } }), removals, "what was told before stands");
  assert.equal(decideWorker(seen(settledPool), FINALIZER).removals, undefined);
});

test("worker: the columns count ready nodes and show what runs", () => {
  const running = (index: number, version: string): TalosMachine => {
    const one = machine(index, index === 1 ? "AllReady" : "NodesNotReady");
    return { ...one, status: { ...one.status, observedVersion: version } };
  };
  const { running: fields } = decideWorker(seen({ machines: [running(1, "v1.13.10"), running(2, "v1.13.9")] }), FINALIZER);
  assert.deepEqual(fields, {
    configContract: undefined,
    observedVersion: "v1.13.9, v1.13.10",
    wantedMachines: 2,
    readyMachines: 1,
    machines: "1/2",
  });
});

for (const state of ["Installing", "Unreachable", "Booting", "Available"])
  test(`a pool that goes without a control plane keeps a machine that is ${state}, for it may hold a configuration`, () => {
    const machines = [machine(1, "WaitingForMachines", state), machine(2, "WaitingForMachines", "Pending")];
    const decision = decideWorker(seen({ worker: worker(2, going), controlPlane: undefined, machines }), FINALIZER);
    assert.deepEqual(decision.release, ["demo-workers-10.0.1.2"]);
  });

for (const [what, over, says] of [
  ["machines of which nobody can tell", { composition: { held: "unknown" } }, /the ClusterRecord does not say whether machines are left/],
  ["machines of which nobody has told yet", {}, /the ClusterRecord does not say whether machines are left/],
  ["machines that nothing stands for", { composition: { held: ["demo-workers-10.0.1.1"] } }, /may hold .*: demo-workers-10\.0\.1\.1\./],
  ["nothing", { composition: { held: [] } }, /^Every machine of the pool is gone\.$/],
  [
    "a control plane, to wipe its machines",
    { controlPlane: undefined, machines: both },
    /Create TalosControlPlane demo again, or set deletionPolicy/,
  ],
] as const)
  test(`a pool that goes says that it waits for ${what}`, () => {
    const { conditions } = decideWorker(seen({ worker: worker(2, going), ...over }), FINALIZER);
    assert.match(conditions.find(({ type }) => type === "Deleting")?.message ?? "", says);
  });

test("worker: machines that boot another Talos are upgraded, others that are away beside them are not", () => {
  const row = { machine: "demo-workers-10.0.1.1", from: "v1.13.8", to: "v1.13.9", stage: "Booting" };
  const state = { generation: undefined, conditions: [], isChangingConfig: false, hasOpenEffect: true };
  const told = (machines: readonly TalosMachine[], stage = "Booting"): readonly unknown[] => {
    const upgrade = { done: 0, machines: 2, progress: "0/2", underWay: [{ ...row, stage }] };
    const decision = decideWorker(seen({ machines, state: { ...state, upgrade } }), FINALIZER);
    assert.deepEqual(decision.upgrade, upgrade);
    return ["Ready", "Progressing"].map((type) => decision.conditions.find((one) => one.type === type)?.reason);
  };
  const booting = machine(1, "Booting", "Upgrading");
  assert.deepEqual(told([booting, machine(2, "AllReady")]), ["Booting", "UpgradingTalos"]);
  assert.deepEqual(told([machine(1, "NodesNotReady"), machine(2, "AllReady")]), ["NodesNotReady", "UpgradingTalos"]);
  assert.deepEqual(told([booting, machine(2, "NodesNotReady")]), ["WaitingForMachines", "WaitingForMachines"]);
  assert.deepEqual(told([booting, machine(2, "MachineUnreachable", "Unreachable")]), ["MachineUnreachable", "Blocked"]);
  assert.deepEqual(told([machine(1, "NodesNotReady"), machine(2, "AllReady")], "Failed"), ["NodesNotReady", "WaitingForNodes"]);
});
