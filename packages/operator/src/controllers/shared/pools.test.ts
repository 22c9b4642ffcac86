import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionFor, rfc3339 } from "@talos-operator/api";
import type { ConditionInput, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import { controlPlane, NOW, worker } from "../../testing/builders.ts";
import { etcdConditions, progressOfReady, progressOfUnready, readyAsBefore, unreadyPool, upgradesOf } from "./pools.ts";
import type { StoredPool } from "./pools.ts";
import { settledOr } from "./settled.ts";

function pool<T extends TalosControlPlane | TalosWorker>(object: T, conditions: readonly ConditionInput[]): StoredPool {
  const status = { conditions: conditions.map((one) => ({ ...one, lastTransitionTime: rfc3339(NOW) })) };
  return { kind: object.kind, name: object.metadata.name, stored: { ...object, status } };
}

const settled = conditionFor("Progressing", "Settled", "Everything is carried out.", 1);
const ready = conditionFor("Ready", "AllReady", "Ready.", 1);
const well = [
  conditionFor("EtcdHealthy", "AllMembersHealthy", "m", 1),
  conditionFor("MachinesReady", "AllMachinesReady", "m", 1),
  conditionFor("NodesReady", "AllNodesReady", "m", 1),
];
const nodesNotReady = conditionFor("Ready", "NodesNotReady", "demo-workers-1: disk.", 1);
const meta = { name: "demo", generation: 1 };
const cp = (conditions: readonly ConditionInput[]): StoredPool => pool(controlPlane(3, {}, meta), conditions);
const workers = (conditions: readonly ConditionInput[]): StoredPool => pool(worker(2, { name: "demo-workers", generation: 1 }), conditions);

test("pools: nobody is named while all are ready", () => {
  assert.equal(unreadyPool(cp([ready, ...well]), [workers([ready])]), undefined);
});

test("pools: a worker's disk is the worker's", () => {
  const unready = unreadyPool(cp([ready, ...well]), [workers([nodesNotReady])]);
  assert.equal(unready?.reason, "WorkersNotReady");
  assert.match(unready?.message ?? "", /^TalosWorker demo-workers: demo-workers-1: disk\./);
});

test("pools: a pool whose machine is removed leaves the cluster ready, and names what is done", () => {
  const removing = [
    conditionFor("Progressing", "Removing", "See the condition Removing.", 1),
    conditionFor("Removing", "Draining", "w-3 drains.", 1),
  ];
  const pools = [cp([ready, ...well]), workers([ready, ...removing])] as const;
  assert.equal(unreadyPool(pools[0], [pools[1]]), undefined);
  const progress = progressOfReady(pools, 1);
  // The cluster has no condition Removing of its own.
  assert.deepEqual([progress.reason, progress.message], ["Removing", "TalosWorker demo-workers: w-3 drains."]);
});

test("pools: a pool that goes is named while its machines leave, and the cluster does not compose it", () => {
  const going = worker(2, { name: "demo-workers", generation: 1, deletionTimestamp: "2026-01-01T00:00:00Z" });
  const deleting = conditionFor("Ready", "Deleting", "w-3 drains.", 1);
  const unready = unreadyPool(cp([ready, ...well]), [pool(going, [deleting])]);
  assert.equal(unready?.reason, "WorkersNotReady");
  assert.ok(unready);
  assert.equal(progressOfUnready(unready, 1).reason, "Removing");
});

test("pools: a machine that leaves and waits for a person keeps the cluster from being settled", () => {
  const removing = conditionFor("Removing", "MachineUnreachable", "w-3 does not answer.", 1);
  const blocked = settledOr([removing], 1);
  assert.equal(blocked.reason, "Blocked");
  assert.equal(settledOr([conditionFor("Removing", "Draining", "w-3 drains.", 1)], 1).reason, "Removing");
  const progress = progressOfReady([cp([ready, settled]), workers([ready, blocked, removing])], 1);
  assert.deepEqual([progress.reason, progress.message], ["Blocked", "TalosWorker demo-workers: w-3 does not answer."]);
});

test("pools: the control plane is named when its own machines or etcd are not well, whatever workers say", () => {
  const broken = [conditionFor("EtcdHealthy", "MemberUnhealthy", "m", 1), ...well.slice(1)];
  assert.equal(unreadyPool(cp([nodesNotReady, ...broken]), [workers([nodesNotReady])])?.reason, "ControlPlaneNotReady");
});

test("pools: what was said of an older spec proves nothing", () => {
  const newer = pool(controlPlane(3, {}, { name: "demo", generation: 2 }), [ready, ...well]);
  assert.equal(unreadyPool(newer, [workers([nodesNotReady])])?.reason, "ControlPlaneNotReady");
  assert.equal(unreadyPool(newer, [workers([ready])])?.message, "TalosControlPlane demo: it does not know the newest spec yet.");
});

test("pools: a cluster that was ready is so until its pool has answered, of the generation that it was said of", () => {
  const newer = pool(controlPlane(3, {}, { name: "demo", generation: 2 }), [ready, ...well]);
  const unanswered = unreadyPool(newer, [workers([ready])]);
  const told = { ...conditionFor("Ready", "AllReady", "All are ready.", 4), lastTransitionTime: "2026-01-01T00:00:00Z" } as const;
  assert.ok(unanswered);
  assert.deepEqual(readyAsBefore(unanswered, [told], 5), conditionFor("Ready", "AllReady", "All are ready.", 4));
  assert.equal(readyAsBefore(unanswered, [], 5), undefined);
  assert.equal(readyAsBefore(unanswered, [{ ...told, status: "False" }], 5), undefined);
  const broken = unreadyPool(cp([nodesNotReady]), []);
  assert.ok(broken);
  assert.equal(readyAsBefore(broken, [told], 5), undefined);
});

test("pools: a cluster that was ready is so while the operator only restarts machines, and not while anything else is wrong", () => {
  const restarting = conditionFor("Ready", "Restarting", "demo-1 boots.", 1);
  const told = { ...conditionFor("Ready", "AllReady", "All are ready.", 4), lastTransitionTime: "2026-01-01T00:00:00Z" } as const;
  const planned = unreadyPool(cp([restarting]), [workers([restarting])]);
  assert.ok(planned);
  assert.deepEqual(readyAsBefore(planned, [told], 5), conditionFor("Ready", "AllReady", "All are ready.", 5));
  assert.equal(readyAsBefore(planned, [{ ...told, status: "False" }], 5), undefined);
  const beside = unreadyPool(cp([restarting]), [workers([nodesNotReady])]);
  assert.equal(beside?.reason, "WorkersNotReady");
  assert.equal(readyAsBefore(beside, [told], 5), undefined);
  const older = unreadyPool(pool(controlPlane(3, {}, { name: "demo", generation: 2 }), [restarting]), []);
  assert.ok(older);
  assert.equal(readyAsBefore(older, [told], 5), undefined);
});

test("pools: fields that a pool names are named where the person wrote them", () => {
  const fields = { spec: "spec.controlPlane" };
  const here = (conditions: readonly ConditionInput[]): StoredPool => ({ ...cp(conditions), fields });
  const wrong = here([conditionFor("Ready", "InvalidAddress", "spec.metalSpec.machines[1].address: it is no address.", 1)]);
  assert.equal(
    unreadyPool(wrong, [])?.message,
    "TalosControlPlane demo: spec.controlPlane.metalSpec.machines[1].address: it is no address.",
  );
  const pending = here([conditionFor("UpgradePending", "VersionDiffers", "spec.version asks for v1.13.8.", 1)]);
  assert.equal(upgradesOf([pending], 1)[0]?.message, "spec.controlPlane.version asks for v1.13.8.");
  const chosen = here([conditionFor("EndpointChosen", "FirstMachine", "spec.endpoint is not set.", 1)]);
  assert.deepEqual(
    etcdConditions(chosen, 1).map(({ message }) => message),
    ["spec.controlPlane.endpoint is not set."],
  );
});

test("pools: what a pool was at before its newest spec is nothing that its cluster is at", () => {
  const pending = conditionFor("Progressing", "UpgradePending", "It runs v1.13.9.", 1);
  const newer = pool(controlPlane(3, {}, { name: "demo", generation: 2 }), [ready, ...well, pending]);
  const unanswered = unreadyPool(newer, []);
  assert.ok(unanswered);
  const progress = progressOfUnready(unanswered, 3);
  assert.deepEqual([progress.reason, progress.status, progress.observedGeneration], ["Composing", "True", 3]);
});
