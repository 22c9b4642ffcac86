import assert from "node:assert/strict";
import { test } from "node:test";
import { talosClusterResource, talosControlPlaneResource, talosMachineResource, talosWorkerResource } from "@talos-operator/api";
import type { Condition } from "@talos-operator/api";
import { createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { createTelling } from "../../telling/telling.ts";
import { tellTurns, turnsOf } from "./turns.ts";

const saying = (type: string, status: string): { readonly conditions: readonly Condition[] } => ({
  conditions: [{ type, status, reason: "R", message: `${type} ${status}`, lastTransitionTime: "2026-01-01T00:00:00Z" } as Condition],
});

for (const { type, from, to, tells } of [
  { type: "Ready", from: "False", to: "True", tells: ["Ready"] },
  { type: "Ready", from: undefined, to: "True", tells: ["Ready"] },
  { type: "Ready", from: "True", to: "True", tells: [] },
  { type: "Ready", from: "True", to: "Unknown", tells: ["NotReady"] },
  { type: "Ready", from: undefined, to: "False", tells: [] },
  { type: "Ready", from: "Unknown", to: "False", tells: [] },
  { type: "EtcdHealthy", from: "True", to: "False", tells: ["EtcdUnhealthy"] },
  { type: "EtcdHealthy", from: "Unknown", to: "True", tells: ["EtcdHealthy"] },
  { type: "Progressing", from: "False", to: "True", tells: [] },
] as const)
  test(`${type} from ${from ?? "nothing"} to ${to ?? "nothing"}: ${tells.join() || "no event"}`, () => {
    const status = (word: string | undefined): { readonly conditions: readonly Condition[] } =>
      word === undefined ? { conditions: [] } : saying(type, word);
    assert.deepEqual(
      turnsOf(from === undefined ? undefined : status(from), status(to)).map(({ reason }) => reason),
      tells,
    );
  });

test("that etcd is unhealthy is reported once more when only a person can release it", () => {
  const etcd = (status: string, reason: string): { readonly conditions: readonly Condition[] } => ({
    conditions: [{ type: "EtcdHealthy", status, reason, message: reason, lastTransitionTime: "2026-01-01T00:00:00Z" } as Condition],
  });
  const [well, goesOn, stopped, corrupt] = [
    etcd("True", "AllMembersHealthy"),
    etcd("False", "NoSpace"),
    etcd("False", "NoSpaceStopped"),
    etcd("False", "DataCorrupt"),
  ];
  const told = (before: typeof well, after: typeof well): readonly string[] => turnsOf(before, after).map(({ note }) => note);
  assert.deepEqual(told(well, goesOn), ["NoSpace"]);
  assert.deepEqual(told(goesOn, stopped), ["NoSpaceStopped"]);
  assert.deepEqual(told(well, stopped), ["NoSpaceStopped"]);
  assert.deepEqual(told(stopped, stopped), []);
  assert.deepEqual(told(stopped, corrupt), ["DataCorrupt"]);
  assert.deepEqual(told(stopped, goesOn), []);
});

const madeBy = (kind: string): readonly object[] => [
  { apiVersion: "talos.alperen.cloud/v1alpha1", kind, name: "demo", uid: "u1", controller: true },
];
for (const { title, type, object, tells } of [
  { title: "a TalosCluster that makes its pools", type: talosClusterResource, object: { spec: { controlPlane: {} } }, tells: true },
  { title: "a pool that it made", type: talosControlPlaneResource, object: { owners: madeBy("TalosCluster") }, tells: false },
  { title: "a worker pool that it made", type: talosWorkerResource, object: { owners: madeBy("TalosCluster") }, tells: false },
  { title: "a pool that a person wrote", type: talosControlPlaneResource, object: {}, tells: true },
  { title: "a TalosCluster that names such pools", type: talosClusterResource, object: { spec: { controlPlaneRef: {} } }, tells: false },
  { title: "a machine, whoever made it", type: talosMachineResource, object: { owners: madeBy("TalosControlPlane") }, tells: true },
] as const)
  test(`that something is not ready any more is ${tells ? "" : "not "}told of ${title}`, () => {
    const told: string[] = [];
    const recorder = { dropped: 0, record: () => void told.push("x"), flush: async () => undefined, close: async () => undefined };
    const { spec, owners } = { spec: undefined, owners: undefined, ...object };
    const metadata = { namespace: "default", name: "demo", uid: "u2", ...(owners === undefined ? {} : { ownerReferences: owners }) };
    tellTurns(createTelling(recorder, createVirtualTime().timers), type)(
      { metadata, spec } as never,
      saying("Ready", "True"),
      saying("Ready", "False"),
    );
    assert.equal(told.length, tells ? 1 : 0);
  });

test("that the operator restarts machines is no bad news, and that they are back no good news", () => {
  const ready = (status: string, reason: string): { readonly conditions: readonly Condition[] } => ({
    conditions: [{ type: "Ready", status, reason, message: reason, lastTransitionTime: "2026-01-01T00:00:00Z" } as Condition],
  });
  const [well, restarting, lost] = [ready("True", "AllReady"), ready("False", "Restarting"), ready("False", "NodesNotReady")];
  const wiped = ready("False", "Removing");
  const told = (before: typeof well, after: typeof well): readonly string[] => turnsOf(before, after).map(({ reason }) => reason);
  assert.deepEqual([told(well, restarting), told(restarting, well), told(well, wiped), told(restarting, lost)], [[], [], [], ["NotReady"]]);
});
