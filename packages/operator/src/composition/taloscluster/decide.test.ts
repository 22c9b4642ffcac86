import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations, conditionFor, rfc3339 } from "@talos-operator/api";
import type { ReadyReason, TalosCluster, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import { controlPlane, NOW, worker } from "../../testing/builders.ts";
import { childrenOf, decideCluster } from "./decide.ts";
import type { ClusterSeen } from "./decide.ts";

const FINALIZER = "taloscluster.talos.alperen.cloud/finalizer";
const UID = "33333333-3333-3333-3333-333333333333";

function cluster(spec: TalosCluster["spec"], metadata: Partial<TalosCluster["metadata"]> = {}): TalosCluster {
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosCluster",
    metadata: { namespace: "default", name: "demo", uid: UID, generation: 1, finalizers: [FINALIZER], ...metadata },
    ...(spec === undefined ? {} : { spec }),
  };
}

const owned = {
  ownerReferences: [{ apiVersion: "talos.alperen.cloud/v1alpha1", kind: "TalosCluster", name: "demo", uid: UID, controller: true }],
};

function ownControlPlane(ready: ReadyReason, generation = 1): TalosControlPlane {
  const conditions = [{ ...conditionFor("Ready", ready, "why", 1), lastTransitionTime: rfc3339(NOW) }];
  return { ...controlPlane(3, {}, { ...owned, generation }), status: { conditions } };
}

function ownWorker(ready: ReadyReason): TalosWorker {
  const conditions = [{ ...conditionFor("Ready", ready, "why", 1), lastTransitionTime: rfc3339(NOW) }];
  return { ...worker(2, { ...owned, name: "demo" }), status: { conditions } };
}

const [controlPlaneSpec, workerSpec] = [controlPlane().spec, worker().spec];
assert.ok(controlPlaneSpec !== undefined && workerSpec !== undefined);
const inline = { controlPlane: controlPlaneSpec, worker: workerSpec };
const none = { controlPlane: undefined, worker: undefined, problems: [] };
const going = { deletionTimestamp: "2026-01-01T00:00:00Z" };

const cases: readonly {
  readonly name: string;
  readonly seen: ClusterSeen;
  readonly want: {
    readonly ready?: string;
    readonly apply?: readonly string[];
    readonly remove?: readonly string[];
    readonly finalizer?: "add" | "remove";
  };
}[] = [
  {
    name: "guards itself before it makes anything",
    seen: { ...none, cluster: cluster(inline, { finalizers: [] }) },
    want: { finalizer: "add" },
  },
  {
    name: "makes control plane and worker pool named like itself",
    seen: { ...none, cluster: cluster(inline) },
    want: { ready: "ControlPlaneNotReady", apply: ["TalosControlPlane demo", "TalosWorker demo"] },
  },
  {
    name: "makes nothing of a spec that cannot be",
    seen: { ...none, cluster: cluster(inline), problems: [{ field: "f", message: "m", remedy: "r", reason: "InvalidEndpoint" }] },
    want: { ready: "InvalidEndpoint" },
  },
  { name: "asks for a control plane when it names none", seen: { ...none, cluster: cluster({}) }, want: { ready: "SpecMissing" } },
  {
    name: "waits for a control plane that it refers to",
    seen: { ...none, cluster: cluster({ controlPlaneRef: { name: "other" } }) },
    want: { ready: "ControlPlaneNotFound" },
  },
  {
    name: "takes over no control plane of the same name",
    seen: { ...none, cluster: cluster(inline), controlPlane: controlPlane() },
    want: { ready: "NameConflict" },
  },
  {
    name: "is ready when both children are",
    seen: { ...none, cluster: cluster(inline), controlPlane: ownControlPlane("AllReady"), worker: ownWorker("AllReady") },
    want: { ready: "AllReady", apply: ["TalosControlPlane demo", "TalosWorker demo"] },
  },
  {
    name: "is not ready on the word of an older spec",
    seen: { ...none, cluster: cluster(inline), controlPlane: ownControlPlane("AllReady", 2), worker: ownWorker("AllReady") },
    want: { ready: "ControlPlaneNotReady", apply: ["TalosControlPlane demo", "TalosWorker demo"] },
  },
  {
    name: "names the workers when only they are not ready",
    seen: { ...none, cluster: cluster(inline), controlPlane: ownControlPlane("AllReady"), worker: ownWorker("NodesNotReady") },
    want: { ready: "WorkersNotReady", apply: ["TalosControlPlane demo", "TalosWorker demo"] },
  },
  {
    name: "takes a pool down that left the spec",
    seen: {
      ...none,
      cluster: cluster({ controlPlane: controlPlaneSpec }),
      controlPlane: ownControlPlane("AllReady"),
      worker: ownWorker("AllReady"),
    },
    want: { ready: "AllReady", apply: ["TalosControlPlane demo"], remove: ["TalosWorker demo"] },
  },
  {
    name: "takes its control plane and its workers down",
    seen: { ...none, cluster: cluster(inline, going), controlPlane: ownControlPlane("AllReady"), worker: ownWorker("AllReady") },
    want: { ready: "Deleting", remove: ["TalosControlPlane demo", "TalosWorker demo"] },
  },
  {
    name: "takes the control plane down when the workers are gone",
    seen: { ...none, cluster: cluster(inline, going), controlPlane: ownControlPlane("AllReady") },
    want: { ready: "Deleting", remove: ["TalosControlPlane demo"] },
  },
  {
    name: "leaves its children to the garbage collector when they are to stay",
    seen: {
      ...none,
      cluster: cluster(inline, { ...going, finalizers: [FINALIZER, "orphan"] }),
      controlPlane: ownControlPlane("AllReady"),
      worker: ownWorker("AllReady"),
    },
    want: { ready: "Deleting" },
  },
  {
    name: "spares children that it only refers to",
    seen: { ...none, cluster: cluster({ controlPlaneRef: { name: "demo" } }, going), controlPlane: controlPlane() },
    want: { ready: "Deleting", finalizer: "remove" },
  },
];

describe("a cluster that runs while its spec cannot be", () => {
  const told = ["Bootstrapped", "EtcdHealthy"] as const;
  const conditions = [
    conditionFor("Bootstrapped", "Bootstrapped", "Founded.", 1),
    conditionFor("EtcdHealthy", "MemberMissing", "One is missing.", 1),
  ].map((condition) => ({ ...condition, lastTransitionTime: rfc3339(NOW) }));
  const problems = [{ field: "f", message: "m", remedy: "r", reason: "InvalidEndpoint" }] as const;
  const runs = { ...controlPlane(3, {}, owned), status: { conditions } };
  const mirrored = (seen: ClusterSeen): readonly (string | undefined)[] => {
    const said = decideCluster(seen, FINALIZER).conditions;
    return told.map((type) => said.find((condition) => condition.type === type)?.message);
  };

  for (const [what, spec] of [
    ["is wrong", inline],
    ["is gone", {}],
  ] as const)
    test(`goes on saying how etcd is, when it ${what}`, () =>
      assert.deepEqual(mirrored({ cluster: cluster(spec), controlPlane: runs, worker: undefined, problems: [...problems] }), [
        "Founded.",
        "One is missing.",
      ]));

  test("says nothing of a control plane that is not its own", () => {
    const others = { ...runs, metadata: { ...runs.metadata, ownerReferences: [] } };
    assert.deepEqual(mirrored({ cluster: cluster(inline), controlPlane: others, worker: undefined, problems: [] }), [undefined, undefined]);
  });
});

test("cluster: a word that only its control plane hears is told to be in the wrong place", () => {
  const annotated = cluster(inline, {
    annotations: { "talos-operator.dev/adopt": "id", "talos.alperen.cloud/reconcile-mode": "reconcile" },
  });
  const { conditions } = decideCluster({ ...none, cluster: annotated }, FINALIZER);
  const told = conditions.find(({ type }) => type === "FieldNotSupported")?.message ?? "";
  assert.match(told, /: the annotation talos-operator\.dev\/adopt \(it acts on TalosControlPlane demo: set it there\)\.$/);
});

test("cluster: a word on it is heard, told to be in the wrong place, or for objects of other kinds", () => {
  const { reconcileMode, importBundle, snapshotBeforeRisk, endpointReachableFrom, ...others } = annotations;
  const heard = [reconcileMode, importBundle, snapshotBeforeRisk, endpointReachableFrom];
  const { machinesWiped, takenBefore, proveNow, backupSlot, addonsFrom, addonUid, addonAdopted, addonNotSelected, rollbackTo } = others;
  const values: Readonly<Record<string, string>> = { [reconcileMode]: "reconcile", [endpointReachableFrom]: "outside" };
  const ofAddonsAndBackups = [takenBefore, proveNow, backupSlot, addonsFrom, addonUid, addonAdopted, addonNotSelected, rollbackTo];
  const ofOthers = [...ofAddonsAndBackups, machinesWiped, others.madeFor, others.releaseKeys];
  const told = (word: string): boolean => {
    const { conditions } = decideCluster(
      { ...none, cluster: cluster(inline, { annotations: { [word]: values[word] ?? "x" } }) },
      FINALIZER,
    );
    return conditions.find(({ type }) => type === "FieldNotSupported")?.message.includes(word) === true;
  };
  const silent = Object.values(annotations).filter((word) => !told(word));
  assert.deepEqual(silent.toSorted(), [...heard, ...ofOthers].toSorted());
});

test("cluster: it is not settled while settings of its machines are being changed", () => {
  const said = [
    conditionFor("Progressing", "ChangingConfiguration", "See the condition ConfigUpToDate.", 1),
    conditionFor("ConfigUpToDate", "RollingOut", "demo-10.0.0.1 (tries it).", 1),
  ].map((condition) => ({ ...condition, lastTransitionTime: rfc3339(NOW) }));
  const ready = ownControlPlane("AllReady");
  const changing = { ...ready, status: { conditions: [...(ready.status?.conditions ?? []), ...said] } };
  const { conditions } = decideCluster(
    { ...none, cluster: cluster(inline), controlPlane: changing, worker: ownWorker("AllReady") },
    FINALIZER,
  );
  const progress = conditions.find(({ type }) => type === "Progressing");
  assert.deepEqual([progress?.status, progress?.reason, progress?.message], ["True", "ChangingConfiguration", "demo-10.0.0.1 (tries it)."]);
});

for (const { name, seen, want } of cases) {
  test(`cluster: ${name}`, () => {
    const decision = decideCluster(seen, FINALIZER);
    assert.deepEqual(
      {
        ready: decision.conditions.find((condition) => condition.type === "Ready")?.reason,
        apply: decision.apply.map((child) => `${child.kind} ${child.metadata.name}`),
        remove: decision.remove.map((child) => `${child.kind} ${child.name}`),
        finalizer: decision.addFinalizer ? "add" : decision.removeFinalizer ? "remove" : undefined,
      },
      { ready: undefined, apply: [], remove: [], finalizer: undefined, ...want },
    );
  });
}

test("cluster: an inline worker joins the control plane that the cluster refers to", () => {
  const { controlPlane: made, worker: pool } = childrenOf(cluster({ controlPlaneRef: { name: "other" }, worker: workerSpec }));
  assert.equal(made, undefined);
  assert.equal(pool?.spec?.controlPlaneRef?.name, "other");
});

test("cluster: what its pools do not act on is told with the places where the person wrote it", () => {
  const noted = <T extends TalosControlPlane | TalosWorker>(pool: T, message: string): T => {
    const note = { ...conditionFor("FieldNotSupported", "FieldNotSupported", message, 1), lastTransitionTime: rfc3339(NOW) };
    return { ...pool, status: { conditions: [...(pool.status?.conditions ?? []), note] } };
  };
  const own = noted(ownControlPlane("AllReady"), "Ignored: spec.replicas, spec.cni.urls.");
  const pool = noted(ownWorker("AllReady"), "Ignored: spec.storageClassName.");
  const told = (seen: ClusterSeen): string | undefined =>
    decideCluster(seen, FINALIZER).conditions.find(({ type }) => type === "FieldNotSupported")?.message;
  assert.equal(
    told({ ...none, cluster: cluster(inline), controlPlane: own, worker: pool }),
    "Ignored: spec.controlPlane.replicas, spec.controlPlane.cni.urls. Ignored: spec.worker.storageClassName.",
  );
  const others = { ...own, metadata: { ...own.metadata, ownerReferences: [] } };
  const referring = cluster({ controlPlaneRef: { name: "demo" } });
  assert.equal(told({ ...none, cluster: referring, controlPlane: others }), undefined, "who wrote another object reads it there");
});

test("taloscluster: a field that a person added to its control plane is named in the control plane, where it can be corrected", () => {
  const says = (field: string): string | undefined => {
    const own = ownControlPlane("InvalidConfig");
    const cni = { cni: { name: "x" } };
    const conditions = [{ ...conditionFor("Ready", "InvalidConfig", `${field}: no. Correct it.`, 1), lastTransitionTime: rfc3339(NOW) }];
    const stored = { ...own, spec: { ...own.spec, ...cni }, status: { ...own.status, conditions } } as TalosControlPlane;
    const decision = decideCluster({ ...none, cluster: cluster(inline), controlPlane: stored }, FINALIZER);
    return decision.conditions.find(({ type }) => type === "Ready")?.message;
  };
  assert.equal(says("spec.cni.name"), "TalosControlPlane demo: spec.cni.name: no. Correct it.");
  assert.equal(says("spec.kubeVersion"), "TalosControlPlane demo: spec.controlPlane.kubeVersion: no. Correct it.");
});
