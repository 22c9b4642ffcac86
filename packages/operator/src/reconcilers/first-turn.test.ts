import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TalosControlPlane, TalosWorker } from "@talos-operator/api";
import { firstTurnMs } from "./first-turn.ts";

const condition = (type: string, status: string, reason: string, observedGeneration = 3): object => ({
  type,
  status,
  reason,
  observedGeneration,
});
const settled = [
  condition("Ready", "True", "AllReady"),
  condition("Progressing", "False", "Settled"),
  condition("ConfigUpToDate", "True", "UpToDate"),
];

function controlPlane(conditions: readonly object[] = settled, metadata: object = {}): TalosControlPlane {
  return { metadata: { name: "demo", generation: 3, ...metadata }, status: { conditions } } as unknown as TalosControlPlane;
}

function pool(conditions: readonly object[], metadata: object = {}): TalosWorker {
  return { metadata: { name: "pool", generation: 3, ...metadata }, status: { conditions } } as unknown as TalosWorker;
}

describe("the first turn of a cluster in a new process", () => {
  const readyPool = pool([condition("Ready", "True", "AllReady")]);

  it("waits where everything was settled, by chance, and longer the more clusters there are", () => {
    const wait = (clusters: number, fraction: number): number => firstTurnMs(controlPlane(), [readyPool], clusters, fraction);
    assert.deepEqual([wait(1, 0.5), wait(200, 0), wait(200, 0.5), wait(2_000, 0.5), wait(10_000, 0.999)], [25, 0, 5_000, 30_000, 59_940]);
  });

  const cases: readonly (readonly [string, TalosControlPlane, readonly TalosWorker[]])[] = [
    ["that was never looked at", controlPlane([]), []],
    ["that is not ready", controlPlane(settled.with(0, condition("Ready", "False", "EtcdUnhealthy"))), []],
    ["whose spec was edited", controlPlane(settled, { generation: 4 }), []],
    ["that is in the middle of a rollout", controlPlane(settled.with(1, condition("Progressing", "True", "ChangingConfiguration"))), []],
    ["with drift", controlPlane(settled.with(2, condition("ConfigUpToDate", "False", "Drifted"))), []],
    ["that is being deleted", controlPlane(settled, { deletionTimestamp: "2026-11-21T00:00:00Z" }), []],
    ["with a request in an annotation", controlPlane(settled, { annotations: { "talos-operator.dev/abandon-machine": "x" } }), []],
    ["with another reconcile mode", controlPlane(settled, { annotations: { "talos.alperen.cloud/reconcile-mode": "dryrun" } }), []],
    ["one of whose pools was edited", controlPlane(), [readyPool, pool([condition("Ready", "True", "AllReady")], { generation: 4 })]],
    ["one of whose pools is not ready", controlPlane(), [pool([condition("Ready", "False", "Machines")])]],
    [
      "one of whose pools goes",
      controlPlane(),
      [pool([condition("Ready", "True", "AllReady")], { deletionTimestamp: "2026-11-21T00:00:00Z" })],
    ],
  ];
  for (const [what, seen, workers] of cases)
    it(`comes at once for a cluster ${what}`, () => assert.equal(firstTurnMs(seen, workers, 200, 0.9), 0));
});
