import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualTime, createSeededRandom } from "@talos-operator/kube-runtime/testing";
import { createDatacenter, instantTimings } from "@talos-operator/simulator";
import { createValueKeys } from "../../world/value-keys.ts";
import type { Conditioned } from "../object-view.ts";
import { createToldRules } from "./index.ts";

const GROUP = "talos.alperen.cloud/v1alpha1";
const ours = { controlPlaneRef: { name: "first" } };

interface Said {
  readonly spec?: object;
  readonly status?: object;
  readonly metadata?: object;
}

type Conditions = Readonly<Record<string, readonly [status: string, reason: string, message?: string]>>;

function object(kind: string, name: string, conditions: Conditions, { spec = {}, status = {}, metadata = {} }: Said = {}): Conditioned {
  const told = Object.entries(conditions).map(([type, [state, reason, message = "m"]]) => ({
    type,
    status: state,
    reason,
    message,
    observedGeneration: 1,
  }));
  return {
    apiVersion: GROUP,
    kind,
    metadata: { name, uid: `${kind}-${name}`, generation: 1, ...metadata },
    spec,
    status: { ...status, conditions: told },
  } as unknown as Conditioned;
}

const ready = ["True", "AllReady"] as const;
const settled = ["False", "Settled"] as const;
const address = "10.5.0.1";
const name = `first-${address}`;
const list = { spec: { version: "v1.13.9", metalSpec: { machines: [{ address }] } } };

const machine = (conditions: Conditions, status: object = {}): Conditioned =>
  object("TalosMachine", name, conditions, { spec: { endpoint: address, ...ours }, status });
const controlPlane = (conditions: Conditions, over: Said = {}): Conditioned =>
  object("TalosControlPlane", "first", conditions, { ...list, ...over });
const cluster = (conditions: Conditions, over: Said = {}): Conditioned => object("TalosCluster", "first", conditions, over);
const worker = (conditions: Conditions, over: Said = {}): Conditioned =>
  object("TalosWorker", "pool", conditions, { spec: { metalSpec: { machines: [{ address: "10.5.0.2" }] } }, ...over });
const record = (spec: object): Conditioned => ({ kind: "ClusterRecord", metadata: { name: "first" }, spec }) as unknown as Conditioned;
const known = { name, address, configuredAt: "2026-01-01T00:00:00Z" };

/** Rules that are broken for half an hour beside two machines that wait in maintenance mode. */
async function broken(...objects: readonly Conditioned[]): Promise<readonly string[]> {
  const time = createVirtualTime();
  const keys = createValueKeys(createSeededRandom(1));
  const machines = [{ address }, { address: "10.5.0.2" }];
  const ports = { clock: time.clock, timers: time.timers, random: createSeededRandom(2), keys };
  const datacenter = createDatacenter({ ...ports, machines, timings: instantTimings });
  await time.advance(1_000);
  const view = {
    get: () => undefined,
    all: (plural: string) => objects.filter(({ kind }) => `${String(kind).toLowerCase()}s` === plural),
  };
  const found = new Set<string>();
  const rules = createToldRules(
    { objects: view, datacenter, routes: new Map() },
    () => time.now(),
    (id) => void found.add(id),
  );
  rules.look();
  assert.ok(!found.has("W1") && !found.has("W5"), "what a look has yet to find is tolerated");
  await time.advance(1_800_000);
  rules.look();
  await datacenter.close();
  return [...found].toSorted();
}

const cases: readonly { readonly name: string; readonly objects: readonly Conditioned[]; readonly want: readonly string[] }[] = [
  {
    name: "nothing is broken where nothing false is said",
    objects: [controlPlane({}), machine({ Ready: ["False", "WaitingForMachines"] })],
    want: [],
  },
  { name: "W1: a version that does not run", objects: [controlPlane({}), machine({}, { observedVersion: "v1.13.10" })], want: ["W1"] },
  { name: "W2: a version that no machine shows", objects: [controlPlane({}, { status: { observedVersion: "v1.13.9" } })], want: ["W2"] },
  { name: "W5: a ready machine that waits in maintenance mode", objects: [controlPlane({}), machine({ Ready: ready })], want: ["W5"] },
  {
    name: "W6: settled while an effect is open",
    objects: [
      controlPlane({ Ready: ["True", "AllReady"], Progressing: settled }),
      record({ openControlPlaneIntent: { what: "Reboot", machine: { name } }, knownControlPlanes: [known] }),
    ],
    want: ["W5", "W6"],
  },
  { name: "W7: settled and not ready", objects: [cluster({ Ready: ["False", "SpecMissing"], Progressing: settled })], want: ["W7"] },
  {
    name: "W8: a condition of a spec that nobody wrote",
    objects: [cluster({ Ready: ready }, { metadata: { generation: 0 } })],
    want: ["W8"],
  },
  {
    name: "W9: a machine in maintenance mode is not available",
    objects: [controlPlane({}), machine({}, { state: "Available" })],
    want: ["W9"],
  },
  {
    name: "W12: bootstrapped where etcd never was",
    objects: [controlPlane({ Bootstrapped: ["True", "Bootstrapped"] }), record({ clusterId: "id" })],
    want: ["W12"],
  },
  {
    name: "W12: not bootstrapped where the record has it done",
    objects: [controlPlane({ Bootstrapped: ["False", "WaitingForControlPlanes"] }), record({ bootstrap: { done: {} } })],
    want: ["W12"],
  },
  {
    name: "W13: a wait for machines that names none",
    objects: [controlPlane({ Ready: ["False", "NodesNotReady", "A machine is not ready."] })],
    want: ["W13"],
  },
  {
    name: "W15: the control plane is blamed for a worker",
    objects: [
      controlPlane({ Ready: ["False", "NodesNotReady", "pool-10.5.0.2: disk."] }),
      worker({}),
      cluster({ Ready: ["False", "ControlPlaneNotReady", "TalosControlPlane first: pool-10.5.0.2: disk."] }),
    ],
    want: ["W15"],
  },
  {
    name: "W15: the control plane is not ready because of a worker",
    objects: [controlPlane({ Ready: ["False", "NodesNotReady", "pool-10.5.0.2: disk."] }), worker({})],
    want: ["W15"],
  },
  {
    name: "W16: a note that is not where the field was written",
    objects: [
      controlPlane(
        { FieldNotSupported: ["True", "FieldNotSupported"] },
        { metadata: { ownerReferences: [{ uid: "TalosCluster-first" }] } },
      ),
      cluster({}),
    ],
    want: ["W16"],
  },
  { name: "W17: a column that says ready", objects: [controlPlane({}, { status: { state: "Ready" } })], want: ["W17"] },
  {
    name: "W18: machines that are counted twice",
    objects: [controlPlane({}, { status: { machines: "1/1", wantedMachines: 1, readyMachines: 1 } })],
    want: ["W18"],
  },
  {
    name: "W19: a condition that is not there",
    objects: [cluster({ Ready: ["False", "SpecMissing", "See the condition Removing."] })],
    want: ["W19"],
  },
  {
    name: "W20: under way for tools, and not for people",
    objects: [controlPlane({ Progressing: ["False", "Blocked"], Reconciling: ["True", "Progressing"] })],
    want: ["W20"],
  },
  {
    name: "W20: under way for people, and stalled for tools",
    objects: [worker({ Progressing: ["True", "Removing"], Stalled: ["True", "PersonNeeded"] })],
    want: ["W20"],
  },
];

for (const { name: what, objects, want } of cases)
  test(`told rules, ${what}`, async () => {
    assert.deepEqual(await broken(...objects), want);
  });

test("told rules: nothing is judged while a person wants everything to stand still", async () => {
  const held = cluster({}, { metadata: { annotations: { "talos.alperen.cloud/reconcile-mode": "disable" } } });
  assert.deepEqual(await broken(controlPlane({}), machine({ Ready: ready }), held), []);
});
