import assert from "node:assert/strict";
import { test } from "node:test";
import { createFakeApi, createMemoryLog, createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import type { Keys, TalosDialer, WorkloadDialer } from "@talos-operator/ports";
import { createOperator } from "./index.ts";

test("the example of the README runs, says how it is, and gives the lease back", async () => {
  const time = createVirtualTime();
  const api = createFakeApi();
  const talos: TalosDialer = {
    dial: () => {
      throw new Error("there is no machine to dial");
    },
    reaches: async () => false,
    hold: async () => "unreached",
  };
  const workloads: WorkloadDialer = {
    dial: () => {
      throw new Error("there is no cluster to dial");
    },
  };
  const operator = createOperator({
    kube: api.transport(),
    talos,
    workloads,
    clock: time.clock,
    timers: time.timers,
    random: createSeededRandom(1),
    keys: {} as Keys,
    log: createMemoryLog(),
    options: { leaderElection: { namespace: "talos-operator-system" }, allowLoopbackMachines: false },
  });
  const stop = new AbortController();
  const done = operator.run(stop.signal);
  assert.deepEqual([operator.health().isReady, operator.health().isLeading], [false, false]);
  await time.advance(1_000);
  const { isReady, isAlive, isLeading, controllers } = operator.health();
  assert.deepEqual([isReady, isAlive, isLeading], [true, true, true]);
  assert.deepEqual(Object.keys(controllers).toSorted(), [
    "KubernetesCluster",
    "Machine",
    "clusterrecord",
    "taloscluster",
    "taloscontrolplane",
    "talosmachine",
    "talosworker",
  ]);
  stop.abort();
  await time.advance(5_000);
  await done;
  assert.equal(operator.health().isLeading, false);
  const leases = api.objects("/apis/coordination.k8s.io/v1/leases") as readonly { readonly spec?: { readonly holderIdentity?: string } }[];
  assert.deepEqual(
    leases.map((lease) => lease.spec?.holderIdentity ?? ""),
    [""],
  );
});
