import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TalosCluster, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { findInTrees, statusTrees } from "./status-tree.ts";
import type { TreeCluster, TreeInput, TreeNode } from "./status-tree.ts";

type Conditions = NonNullable<NonNullable<TalosMachine["status"]>["conditions"]>;

const condition = (type: string, status: "True" | "False", reason: string, message = ""): Conditions[number] => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: "2026-01-01T00:00:00Z",
});
const READY = condition("Ready", "True", "AllReady");
const meta = (name: string, more: object = {}) => ({ namespace: "default", name, uid: `uid-${name}`, ...more });
const spec = (...addresses: readonly string[]) => ({
  version: "v1.13.9",
  kubeVersion: "v1.36.3",
  mode: "metal" as const,
  metalSpec: { machines: addresses.map((address) => ({ address })) },
});
const API = "talos.alperen.cloud/v1alpha1" as const;

const cluster = (more: Partial<TalosCluster> = {}): TalosCluster => ({
  apiVersion: API,
  kind: "TalosCluster",
  metadata: meta("demo"),
  spec: { controlPlane: spec("10.0.0.1"), worker: spec("10.0.0.2", "10.0.0.10") },
  status: { conditions: [READY] },
  ...more,
});
const controlPlane = (more: Partial<TalosControlPlane> = {}): TalosControlPlane => ({
  apiVersion: API,
  kind: "TalosControlPlane",
  metadata: meta("demo"),
  spec: spec("10.0.0.1"),
  status: { state: "Ready", conditions: [READY], observedVersion: "v1.13.9", observedKubeVersion: "v1.36.3" },
  ...more,
});
const worker = (more: Partial<TalosWorker> = {}): TalosWorker => ({
  apiVersion: API,
  kind: "TalosWorker",
  metadata: meta("demo"),
  spec: { ...spec("10.0.0.2", "10.0.0.10"), controlPlaneRef: { name: "demo" } },
  status: { state: "Ready", conditions: [READY], observedVersion: "v1.13.9" },
  ...more,
});
const machine = (address: string, role: "cp" | "w", more: Partial<TalosMachine> = {}): TalosMachine => ({
  apiVersion: API,
  kind: "TalosMachine",
  metadata: meta(`demo-${address}`),
  spec: {
    endpoint: address,
    version: "v1.13.9",
    ...(role === "cp" ? { controlPlaneRef: { name: "demo" } } : { workerRef: { name: "demo" } }),
  },
  status: { state: "Available", observedVersion: "v1.13.9", conditions: [READY] },
  ...more,
});
const whole = (more: Partial<TreeInput> = {}): TreeInput => ({
  kubernetesClusters: [],
  talosClusters: [cluster()],
  controlPlanes: [controlPlane()],
  workers: [worker()],
  machines: [machine("10.0.0.10", "w"), machine("10.0.0.2", "w"), machine("10.0.0.1", "cp")],
  ...more,
});
/** `TalosCluster/demo(TalosControlPlane/demo(...))` */
const shape = (node: TreeNode): string =>
  `${node.kind}/${node.name}${node.children.length === 0 ? "" : `(${node.children.map(shape).join(" ")})`}`;

describe("the tree of a cluster", () => {
  it("has the control plane, the pool and their machines, by number rather than by text", () => {
    const trees = statusTrees(whole());
    assert.deepEqual(trees.map(shape), [
      "TalosCluster/demo(TalosControlPlane/demo(TalosMachine/demo-10.0.0.1) TalosWorker/demo(TalosMachine/demo-10.0.0.2 TalosMachine/demo-10.0.0.10))",
    ]);
    const [tree] = trees;
    assert.deepEqual(
      [tree?.ready, tree?.state, tree?.talos, tree?.kubernetes, tree?.machines],
      ["True", "Ready", "v1.13.9", "v1.36.3", { ready: 3, wanted: 3 }],
    );
  });

  it("has further pools of the control plane, and the pools of a KubernetesCluster", () => {
    const second = worker({ metadata: meta("second") });
    assert.match(shape(statusTrees(whole({ workers: [worker(), second] }))[0] as TreeNode), /TalosWorker\/second\)$/);
    const owner = { apiVersion: "vitistack.io/v1alpha1", kind: "KubernetesCluster", name: "kc", uid: "uid-kc", controller: true };
    const owned = { metadata: meta("demo", { ownerReferences: [owner] }) };
    const composed = { kind: "KubernetesCluster", metadata: meta("kc"), status: { phase: "Running" } } as TreeCluster;
    const trees = statusTrees(
      whole({ talosClusters: [], kubernetesClusters: [composed], controlPlanes: [controlPlane(owned)], workers: [worker(owned)] }),
    );
    assert.match(trees.map(shape).join(), /^KubernetesCluster\/kc\(TalosControlPlane\/demo\(.*\) TalosWorker\/demo\(.*\)\)$/);
    assert.equal(trees[0]?.state, "Running");
  });

  it("shows what belongs to nothing by itself, and a control plane without a cluster with its pools", () => {
    const trees = statusTrees(
      whole({ talosClusters: [], machines: [machine("10.0.0.9", "w", { spec: { endpoint: "10.0.0.9", version: "" } })] }),
    );
    assert.deepEqual(trees.map(shape), ["TalosControlPlane/demo(TalosWorker/demo)", "TalosMachine/demo-10.0.0.9"]);
  });

  it("finds one object with what is below it", () => {
    const found = findInTrees(statusTrees(whole()), { kind: "TalosWorker", namespace: "default", name: "demo" });
    assert.equal(found?.children.length, 2);
    assert.equal(findInTrees(statusTrees(whole()), { kind: "TalosWorker", namespace: "other", name: "demo" }), undefined);
  });

  it("shows objects of the release before, which have neither counts nor versions", () => {
    const old = statusTrees(
      whole({
        controlPlanes: [controlPlane({ status: { state: "Ready", conditions: [READY] } })],
        workers: [worker({ status: { state: "Ready", conditions: [READY] } })],
      }),
    );
    assert.deepEqual([old[0]?.talos, old[0]?.kubernetes, old[0]?.machines], ["v1.13.9", undefined, { ready: 3, wanted: 3 }]);
  });

  it("says what an object without a status waits for", () => {
    const [tree] = statusTrees(whole({ talosClusters: [cluster({ status: {} })] }));
    assert.deepEqual(
      [tree?.ready, tree?.state, tree?.notes[0]?.message],
      ["Unknown", "Pending", "The operator has not written a status yet."],
    );
  });

  it("takes no condition of an older generation for ready", () => {
    const seen = { conditions: [{ ...READY, observedGeneration: 1 }] };
    const at = (generation: number): TreeNode | undefined =>
      statusTrees(whole({ talosClusters: [cluster({ metadata: meta("demo", { generation }), status: seen })] }))[0];
    assert.equal(at(1)?.ready, "True");
    assert.deepEqual([at(2)?.ready, at(2)?.notes[0]?.message], ["Unknown", "The operator has not seen the last edit yet."]);
  });

  it("never calls a cluster or pool ready beside a machine of it that is not", () => {
    const down = machine("10.0.0.2", "w", {
      status: { state: "Unreachable", conditions: [condition("Ready", "False", "MachineUnreachable", "Unreachable.")] },
    });
    const [tree] = statusTrees(whole({ machines: [machine("10.0.0.1", "cp"), down, machine("10.0.0.10", "w")] }));
    assert.equal(tree?.ready, "Unknown");
    assert.equal(tree.notes[0]?.message, "2 of 3 machines are Ready; not Ready: TalosWorker demo.");
    const [pool, workers] = tree.children;
    assert.equal(pool?.ready, "True");
    assert.equal(workers?.notes[0]?.message, "1 of 2 machines are Ready; not Ready: demo-10.0.0.2.");
  });

  it("takes no stored status for ready while the machine's Node is not", () => {
    const upNodes = new Map([
      ["10.0.0.1", "talos-a"],
      ["10.0.0.2", "talos-b"],
    ]);
    const [tree] = statusTrees(whole({ upNodes }));
    assert.equal(tree?.ready, "Unknown");
    assert.deepEqual(
      tree.children.flatMap(({ children }) => children.map(({ state, node }) => [state, node])),
      [
        ["Available", "talos-a"],
        ["Available", "talos-b"],
        ["Starting", undefined],
      ],
    );
  });

  for (const [what, conditions, want] of [
    [
      "that goes on",
      [condition("Progressing", "True", "UpgradingTalos", "See UpgradePending.")],
      "Upgrading Talos v1.13.9 → v1.13.10: 1 of 3 done.",
    ],
    [
      "that stopped for a person",
      [condition("Stalled", "True", "PersonNeeded", "v1.13.10 failed on demo-1. Choose another.")],
      "v1.13.10 failed on demo-1.",
    ],
    ["that is at rest", [], undefined],
  ] as const)
    it(`has the headline of a cluster ${what}`, () => {
      const pending = condition("UpgradePending", "True", "Upgrading", "Upgrading Talos v1.13.9 → v1.13.10: 1 of 3 done. demo-2 is next.");
      const [tree] = statusTrees(whole({ talosClusters: [cluster({ status: { conditions: [READY, pending, ...conditions] } })] }));
      assert.equal(tree?.headline, want);
    });

  it("tells a version that is asked for and not carried out, and stays ready", () => {
    const pending = condition("UpgradePending", "True", "VersionDiffers", "v1.13.10 is asked for, v1.13.9 runs.");
    const [tree] = statusTrees(whole({ talosClusters: [cluster({ status: { conditions: [READY, pending] } })] }));
    assert.deepEqual([tree?.ready, tree?.notes.map(({ type }) => type)], ["True", ["UpgradePending"]]);
  });
});
