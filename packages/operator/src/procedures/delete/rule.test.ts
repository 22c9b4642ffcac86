import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations } from "@talos-operator/api";
import { assess } from "../../assess/assess.ts";
import {
  configured,
  controlPlane,
  facts,
  founded,
  inMaintenance,
  member,
  NOW,
  observed,
  running,
  silent,
  UID,
  worker,
} from "../../testing/builders.ts";
import type { World } from "../../testing/builders.ts";
import { decide } from "../../decide.ts";
import type { IntentFact } from "../../model/record.ts";
import type { Action } from "../../model/effect.ts";
import type { SeenNodes } from "../../model/workload.ts";
import type { Observed } from "../../model/observation.ts";

const bootstrapped = [
  { type: "Bootstrapped", status: "True", reason: "Bootstrapped", message: "Founded.", lastTransitionTime: "2026-01-01T00:00:00Z" },
] as const;
const going = { deletionTimestamp: "2026-01-01T11:00:00Z" };
const wiped = (uid: string) => ({ ...going, annotations: { [annotations.machinesWiped]: uid } });
const cps = ["10.0.0.1", "10.0.0.2", "10.0.0.3"] as const;
const machines = cps.map((address) => configured(address));
const healthy = Object.fromEntries(cps.map((address, index) => [address, running(member(index, 3))]));
const known = facts({ machines, bootstrapDone: founded });
const upgrading = facts({
  machines,
  bootstrapDone: founded,
  operations: [{ id: "u", kind: "UpgradeTalos", phase: "", startedAt: NOW, since: NOW, inputs: {} }],
});
const tainted: SeenNodes = {
  at: NOW,
  isAsking: false,
  isStale: false,
  cordoned: new Map(),
  nodes: [{ name: "a", uuid: "uuid-10.0.0.1", addresses: [], isReady: true, isCordonedByUs: false, hasUpgradeTaint: true }],
};
const ofAnother = { ...known, controlPlaneUid: "other" };
const withPool = facts({ machines: [...machines, configured("10.0.1.1", "worker", "demo-workers")], bootstrapDone: founded });
const madeAnew = facts({ bundle: { secretName: "demo-bundle-1", fingerprint: "fingerprint", wasFound: true } });
const silentForLong = { kind: "silent", at: NOW, since: NOW - 3_600_000, detail: "unreachable" } as const;
const ours: Observed["bundle"] = {
  kind: "present",
  value: { fingerprint: "fingerprint", clusterId: "cluster-id", isOurs: true, isDeleting: false },
};
const reset = (machine: string, role: IntentFact["role"], at = NOW): IntentFact => ({
  what: "Reset",
  machine,
  address: machine.slice(machine.indexOf("-") + 1),
  uuid: "",
  role,
  at,
  deadline: at + 600_000,
  why: "x",
});

/** Nothing lists them any more and all were wiped: a process ended before their TalosMachines went. */
const left: World = {
  workers: [worker(0, going)],
  facts: facts({
    machines: ["10.0.1.1", "10.0.1.2"].map((address) => configured(address, "worker", "demo-workers", { releasedAt: NOW })),
    bootstrapDone: founded,
  }),
  machineObjects: observed({ controlPlane: controlPlane(0), workers: [worker(2)] }).machineObjects,
  namespaceIsTerminating: false,
};

const cases: readonly {
  readonly name: string;
  readonly world: World;
  readonly actions: readonly string[];
  readonly reason: string | undefined;
  readonly opens?: readonly string[];
  readonly says?: RegExp;
}[] = [
  {
    name: "wipes one control plane at a time, written down first",
    world: { controlPlane: controlPlane(3, {}, going), facts: known, looks: healthy, namespaceIsTerminating: false },
    actions: ["WriteRecord", "ResetMachine demo-10.0.0.1"],
    reason: "Resetting",
    opens: ["demo-10.0.0.1"],
  },
  {
    name: "opens no second intent in the stroke that closes the first",
    world: {
      controlPlane: controlPlane(3, {}, going),
      facts: { ...known, intents: [reset("demo-10.0.0.1", "controlplane")] },
      looks: { ...healthy, "10.0.0.1": inMaintenance("10.0.0.1", { spki: "new" }) },
      namespaceIsTerminating: false,
    },
    actions: ["WriteRecord"],
    reason: "WaitingForChildren",
    opens: [],
  },
  {
    name: "keeps a machine that waits with the key that a configuration was just sent to, for it may still arrive",
    world: {
      controlPlane: controlPlane(1, {}, going),
      facts: facts({ machines: [configured("10.0.0.1", "controlplane", "demo", { configuredAt: NOW - 60_000 })] }),
      looks: { "10.0.0.1": inMaintenance("10.0.0.1") },
      namespaceIsTerminating: false,
    },
    actions: [],
    reason: "Resetting",
  },
  {
    name: "lets a machine go that waits with that key when nothing can arrive any more",
    world: {
      controlPlane: controlPlane(1, {}, going),
      facts: facts({ machines: [configured("10.0.0.1", "controlplane", "demo", { configuredAt: NOW - 1_200_000 })] }),
      looks: { "10.0.0.1": inMaintenance("10.0.0.1") },
      namespaceIsTerminating: false,
      watchedSince: NOW - 1_200_000,
    },
    actions: ["WriteRecord"],
    reason: "WaitingForChildren",
  },
  {
    name: "says how to give up a machine that was told to wipe itself and runs on",
    world: {
      controlPlane: controlPlane(3, {}, going),
      facts: { ...known, intents: [reset("demo-10.0.0.1", "controlplane", NOW - 700_000)] },
      looks: healthy,
      namespaceIsTerminating: false,
    },
    actions: ["ResetMachine demo-10.0.0.1"],
    reason: "Resetting",
    says: /still runs.*abandon-machine: uuid-10\.0\.0\.1/,
  },
  {
    name: "takes no other machine that waits at its address for the proof that a machine was wiped",
    world: {
      controlPlane: controlPlane(3, {}, going),
      facts: { ...known, intents: [reset("demo-10.0.0.1", "controlplane")] },
      looks: { ...healthy, "10.0.0.1": inMaintenance("10.0.0.1", { spki: "new", uuid: "of another" }) },
      namespaceIsTerminating: false,
    },
    actions: [],
    reason: "Resetting",
  },
  {
    name: "writes down what runs with the cluster's keys before anything is released when the record was lost",
    world: { controlPlane: controlPlane(3, {}, going), bundle: ours, looks: healthy, namespaceIsTerminating: false },
    actions: ["WriteRecord"],
    reason: "WaitingForChildren",
  },
  {
    name: "wipes nothing by keys that another cluster has",
    world: {
      controlPlane: controlPlane(1, {}, going),
      bundle: ours,
      keysElsewhere: { kind: "present", value: "the cluster other/demo" },
      looks: { "10.0.0.1": running(member(0, 1)) },
      namespaceIsTerminating: false,
    },
    actions: ["DeleteMachine"],
    reason: "WaitingForChildren",
  },
  {
    name: "writes down a machine that runs and that the record does not know before it wipes the others",
    world: {
      controlPlane: controlPlane(3, {}, going),
      facts: facts({ machines: machines.slice(0, 2), bootstrapDone: founded }),
      looks: healthy,
      namespaceIsTerminating: false,
    },
    actions: ["WriteRecord"],
    reason: "WaitingForChildren",
  },
  {
    name: "lets no pool go while the record is lost",
    world: { workers: [worker(1, going)], bundle: ours, looks: { ...healthy, "10.0.1.1": running() }, toldConfigured: ["10.0.1.1"] },
    actions: ["WriteRecord"],
    reason: "Blocked",
  },
  {
    name: "lets no machine go that is said to be configured when record and keys are gone",
    world: {
      controlPlane: controlPlane(1, {}, going),
      looks: { "10.0.0.1": silent },
      toldConfigured: ["10.0.0.1"],
      namespaceIsTerminating: false,
    },
    actions: [],
    reason: "MachineUnreachable",
    says: /neither the ClusterRecord nor the keys.*abandon-machine: demo-10\.0\.0\.1/,
  },
  {
    name: "lets no machine of a cluster go that was bootstrapped when record, keys and TalosMachines are gone",
    world: {
      controlPlane: { ...controlPlane(1, {}, going), status: { state: "Deleting", conditions: bootstrapped } },
      looks: { "10.0.0.1": silent },
      hasObjects: false,
      namespaceIsTerminating: false,
    },
    actions: [],
    reason: "MachineUnreachable",
    says: /neither the ClusterRecord nor the keys.*abandon-machine: demo-10\.0\.0\.1/,
  },
  {
    name: "lets a cluster go that was bootstrapped when record and keys are gone and every machine waits in maintenance mode",
    world: {
      controlPlane: { ...controlPlane(1, {}, going), status: { state: "Deleting", conditions: bootstrapped } },
      looks: { "10.0.0.1": inMaintenance("10.0.0.1") },
      hasObjects: false,
      namespaceIsTerminating: false,
    },
    actions: ["RemoveFinalizer"],
    reason: "WaitingForChildren",
  },
  {
    name: "releases it when it waits in maintenance mode",
    world: {
      controlPlane: controlPlane(1, {}, going),
      looks: { "10.0.0.1": inMaintenance("10.0.0.1") },
      toldConfigured: ["10.0.0.1"],
      namespaceIsTerminating: false,
    },
    actions: ["DeleteMachine"],
    reason: "WaitingForChildren",
  },
  {
    name: "waits for a machine that does not answer and that a record that was made anew does not know",
    world: { controlPlane: controlPlane(1, {}, going), facts: madeAnew, looks: { "10.0.0.1": silent }, namespaceIsTerminating: false },
    actions: [],
    reason: "MachineUnreachable",
  },
  ...[
    { foundMs: 600_000, silentMs: 60_000, isReleased: true },
    { foundMs: 600_000, silentMs: 59_000, isReleased: false },
    { foundMs: 599_000, silentMs: 120_000, isReleased: false },
    { foundMs: -3_600_000, silentMs: 600_000, isReleased: true },
  ].map(({ foundMs, silentMs, isReleased }) => ({
    name: `${isReleased ? "releases it" : "waits for it"} after ${silentMs / 1000} s of silence where the keys were found ${foundMs / 1000} s ago, by whatever leader`,
    world: {
      controlPlane: controlPlane(1, {}, going),
      facts: { ...madeAnew, bundle: { ...madeAnew.bundle, foundAt: NOW - foundMs } },
      looks: { "10.0.0.1": { kind: "silent", at: NOW, since: NOW - silentMs, detail: "unreachable" } as const },
      namespaceIsTerminating: false,
    },
    actions: isReleased ? ["DeleteMachine"] : [],
    reason: isReleased ? "WaitingForChildren" : "MachineUnreachable",
  })),
  {
    name: "releases it when it has been silent for longer than it takes to install",
    world: {
      controlPlane: controlPlane(1, {}, going),
      facts: madeAnew,
      looks: { "10.0.0.1": { kind: "silent", at: NOW, since: NOW - 660_000, detail: "unreachable" } },
      namespaceIsTerminating: false,
    },
    actions: ["DeleteMachine"],
    reason: "WaitingForChildren",
  },
  {
    name: "wipes nothing while it is unknown whether the namespace goes away",
    world: { controlPlane: controlPlane(3, {}, going), facts: known, looks: healthy, namespaceIsTerminating: undefined },
    actions: [],
    reason: "ConfirmationRequired",
  },
  {
    name: "wipes nothing in a namespace that goes away",
    world: { controlPlane: controlPlane(3, {}, going), facts: known, looks: healthy, namespaceIsTerminating: true },
    actions: [],
    reason: "ConfirmationRequired",
    says: /demo-10\.0\.0\.1 is not wiped.*confirm-reset: demo, or set deletionPolicy to preserve on the TalosControlPlane demo\./,
  },
  {
    name: "names the pool whose deletionPolicy keeps a namespace from going",
    world: {
      controlPlane: controlPlane(3, {}, going),
      workers: [worker(1, going)],
      facts: withPool,
      looks: { ...healthy, "10.0.1.1": running() },
      namespaceIsTerminating: true,
    },
    actions: [],
    reason: "ConfirmationRequired",
    says: /deletionPolicy to preserve on the TalosWorker demo-workers\./,
  },
  {
    name: "waits for a pool whose machine is this cluster's",
    world: {
      controlPlane: controlPlane(3, {}, going),
      workers: [worker()],
      facts: withPool,
      looks: { ...healthy, "10.0.1.1": silent },
      namespaceIsTerminating: false,
    },
    actions: [],
    reason: "WaitingForWorkers",
    says: /still have machines: demo-workers\. Delete each TalosWorker/,
  },
  {
    name: "waits for a pool of which nobody knows what its machine is",
    world: {
      controlPlane: controlPlane(3, {}, going),
      workers: [worker()],
      facts: known,
      looks: { ...healthy, "10.0.1.1": silent },
      namespaceIsTerminating: false,
    },
    actions: [],
    reason: "WaitingForWorkers",
  },
  {
    name: "waits for no pool that was brought back after its machines were released",
    world: {
      controlPlane: controlPlane(3, {}, going),
      workers: [worker(1)],
      facts: facts({
        machines: [...machines, configured("10.0.1.1", "worker", "demo-workers", { releasedAt: NOW - 1_000 })],
        bootstrapDone: founded,
      }),
      looks: { ...healthy, "10.0.1.1": inMaintenance("10.0.1.1", { spki: "new" }) },
      namespaceIsTerminating: false,
    },
    actions: ["WriteRecord", "ResetMachine demo-10.0.0.1", "DeleteMachine"],
    reason: "Resetting",
    opens: ["demo-10.0.0.1"],
  },
  {
    name: "wipes in a namespace that goes away when a person names the object",
    world: {
      controlPlane: controlPlane(3, {}, { ...going, annotations: { "talos-operator.dev/confirm-reset": "demo" } }),
      facts: known,
      looks: healthy,
      namespaceIsTerminating: true,
    },
    actions: ["WriteRecord", "ResetMachine demo-10.0.0.1"],
    reason: "Resetting",
    opens: ["demo-10.0.0.1"],
  },
  {
    name: "sends no wipe before the effects of an earlier leader have run out",
    world: { controlPlane: controlPlane(3, {}, going), facts: known, looks: healthy, namespaceIsTerminating: false, mayDisturb: false },
    actions: [],
    reason: "Resetting",
    says: /demo-10\.0\.0\.1 is wiped later: this operator just took over/,
  },
  {
    name: "wipes no control plane from which a snapshot may be taken",
    world: {
      controlPlane: controlPlane(3, {}, going),
      facts: { ...known, snapshot: { machine: "demo-10.0.0.2", backup: "default/nightly", deadline: NOW + 60_000 } },
      looks: healthy,
      namespaceIsTerminating: false,
    },
    actions: [],
    reason: "Resetting",
    says: /demo-10\.0\.0\.1 is wiped later: a snapshot is being taken from demo-10\.0\.0\.2 \(default\/nightly\)\. It goes on when/,
  },
  {
    name: "leaves the workers of a pool that goes while a control plane is away",
    world: {
      workers: [worker(1, going)],
      facts: withPool,
      looks: { ...healthy, "10.0.0.3": silent, "10.0.1.1": running() },
      namespaceIsTerminating: false,
    },
    actions: [],
    reason: "Resetting",
    says: /demo-workers-10\.0\.1\.1 is wiped later: 2 of 3 control planes are healthy/,
  },
  {
    name: "leaves the machines alone with preserve, and lets their objects go",
    world: {
      controlPlane: controlPlane(3, { deletionPolicy: "preserve" }, going),
      facts: known,
      looks: healthy,
      namespaceIsTerminating: false,
    },
    actions: ["DeleteMachine", "DeleteMachine", "DeleteMachine"],
    reason: "WaitingForChildren",
  },
  {
    name: "takes the taint of an upgrade off before it lets machines go that run on",
    world: { controlPlane: controlPlane(3, { deletionPolicy: "preserve" }, going), facts: upgrading, looks: healthy, nodes: tainted },
    actions: ["UntaintNodes"],
    reason: "WaitingForChildren",
    says: /taint of upgrades/,
  },
  {
    name: "lists the Nodes first where nobody has since the upgrade began",
    world: {
      controlPlane: controlPlane(3, { deletionPolicy: "preserve" }, going),
      facts: upgrading,
      looks: healthy,
      nodes: { ...tainted, at: NOW - 1, nodes: undefined },
    },
    actions: ["LookAtNodes"],
    reason: "WaitingForChildren",
  },
  {
    name: "waits for the list",
    world: {
      controlPlane: controlPlane(3, { deletionPolicy: "preserve" }, going),
      facts: upgrading,
      looks: healthy,
      nodes: { ...tainted, nodes: undefined, isAsking: true },
    },
    actions: [],
    reason: "WaitingForChildren",
  },
  {
    name: "goes on where the taint could not be taken off a moment ago",
    world: {
      controlPlane: controlPlane(3, { deletionPolicy: "preserve" }, going),
      facts: upgrading,
      looks: healthy,
      nodes: tainted,
      sent: new Map([["UntaintNodes", { at: NOW - 1_000, outcome: "unknown", detail: "" }]]),
    },
    actions: ["DeleteMachine", "DeleteMachine", "DeleteMachine"],
    reason: "WaitingForChildren",
  },
  {
    name: "takes no taint off what is wiped",
    world: { controlPlane: controlPlane(3, {}, going), facts: upgrading, looks: healthy, nodes: tainted, namespaceIsTerminating: false },
    actions: ["WriteRecord", "ResetMachine demo-10.0.0.1"],
    reason: "Resetting",
  },
  {
    name: "keeps record and keys with preserve",
    world: {
      controlPlane: controlPlane(3, { deletionPolicy: "preserve" }, going),
      facts: known,
      looks: healthy,
      namespaceIsTerminating: false,
      hasObjects: false,
    },
    actions: ["RemoveFinalizer"],
    reason: "WaitingForChildren",
  },
  {
    name: "wipes nothing that runs while the keys are away",
    world: {
      controlPlane: controlPlane(3, {}, going),
      facts: known,
      looks: healthy,
      bundle: { kind: "absent" },
      namespaceIsTerminating: false,
    },
    actions: [],
    reason: "Blocked",
    says: /takes the cluster's keys, and Secret \S+ does not hold them\. Restore it from a backup, or annotate .*abandon-machine/,
  },
  {
    name: "writes down that every machine is wiped before the record goes",
    world: {
      controlPlane: controlPlane(3, {}, going),
      facts: facts({ machines: machines.map((one) => ({ ...one, releasedAt: NOW })) }),
      looks: {},
      hasObjects: false,
      namespaceIsTerminating: false,
    },
    actions: ["ConfirmWiped"],
    reason: "WaitingForChildren",
  },
  {
    name: "waits for no machine when record and keys are gone and the object says that all are wiped",
    world: {
      controlPlane: { ...controlPlane(1, {}, wiped(UID)), status: { conditions: bootstrapped } },
      looks: { "10.0.0.1": silentForLong },
      hasObjects: false,
      namespaceIsTerminating: false,
    },
    actions: ["RemoveFinalizer"],
    reason: "WaitingForChildren",
  },
  {
    name: "waits for a machine when what the object says is said of another",
    world: {
      controlPlane: { ...controlPlane(1, {}, wiped("of another object")), status: { conditions: bootstrapped } },
      looks: { "10.0.0.1": silentForLong },
      hasObjects: false,
      namespaceIsTerminating: false,
    },
    actions: [],
    reason: "MachineUnreachable",
  },
  {
    name: "lets keys, record and finalizer go, in this order, when every machine is proved wiped",
    world: {
      controlPlane: controlPlane(3, {}, wiped(UID)),
      facts: facts({ machines: machines.map((one) => ({ ...one, releasedAt: NOW })) }),
      looks: {},
      hasObjects: false,
      namespaceIsTerminating: false,
    },
    actions: ["DeleteBundle", "DeleteRecord", "RemoveFinalizer"],
    reason: "WaitingForChildren",
  },
  {
    name: "lets the TalosMachines of workers go that left the list before, and before the pool and the keys",
    world: { ...left, controlPlane: controlPlane(0, {}, wiped(UID)) },
    actions: ["DeleteMachine", "DeleteMachine"],
    reason: "WaitingForChildren",
  },
  {
    name: "lets those of control planes go that left the list before, and before the keys",
    world: {
      controlPlane: controlPlane(0, {}, wiped(UID)),
      facts: facts({ machines: machines.map((one) => ({ ...one, releasedAt: NOW })) }),
      machineObjects: observed().machineObjects,
      namespaceIsTerminating: false,
    },
    actions: ["DeleteMachine", "DeleteMachine", "DeleteMachine"],
    reason: "WaitingForChildren",
  },
  {
    name: "lets those of a pool go that is deleted alone, and of no other one",
    world: {
      ...left,
      facts: { ...withPool, machines: [...machines, ...(left.facts?.machines ?? [])] },
      looks: healthy,
      workers: [worker(0, going), worker(0, { name: "others" })],
    },
    actions: ["DeleteMachine", "DeleteMachine"],
    reason: "WaitingForChildren",
  },
  {
    name: "wipes nothing of a cluster whose record belongs to another object, and says what would release it",
    world: { controlPlane: controlPlane(3, {}, going), facts: ofAnother, looks: healthy, namespaceIsTerminating: false },
    actions: [],
    reason: "Blocked",
    says: /adopt: cluster-id if this is the same cluster.*TalosControlPlane demo\. Set deletionPolicy to preserve/,
  },
  {
    name: "closes no effect of such a cluster",
    world: {
      controlPlane: controlPlane(3, {}, going),
      facts: { ...ofAnother, intents: [{ ...reset("demo-10.0.0.1", "controlplane"), what: "ApplyConfig" }] },
      looks: healthy,
      namespaceIsTerminating: false,
    },
    actions: [],
    reason: "Blocked",
  },
  {
    name: "takes such a cluster over first when a person says that it is this one",
    world: {
      controlPlane: controlPlane(3, {}, { ...going, annotations: { "talos-operator.dev/adopt": "cluster-id" } }),
      facts: ofAnother,
      looks: healthy,
      namespaceIsTerminating: false,
    },
    actions: ["WriteRecord"],
    reason: undefined,
    opens: [],
  },
  {
    name: "lets an object go that is to leave everything as it is, and nothing of such a cluster",
    world: {
      controlPlane: controlPlane(3, { deletionPolicy: "preserve" }, going),
      facts: ofAnother,
      looks: healthy,
      namespaceIsTerminating: false,
      hasObjects: false,
    },
    actions: ["RemoveFinalizer"],
    reason: "WaitingForChildren",
  },
  {
    name: "removes only the objects of machines of such a cluster",
    world: {
      controlPlane: controlPlane(3, { deletionPolicy: "preserve" }, going),
      facts: ofAnother,
      looks: healthy,
      namespaceIsTerminating: false,
    },
    actions: ["DeleteMachine", "DeleteMachine", "DeleteMachine"],
    reason: "WaitingForChildren",
  },
  {
    name: "wipes no pool of such a cluster",
    world: {
      workers: [worker(1, going)],
      facts: { ...withPool, controlPlaneUid: "other" },
      looks: { ...healthy, "10.0.1.1": running() },
      namespaceIsTerminating: false,
    },
    actions: [],
    reason: undefined,
  },
  {
    name: "lets pools go before the control plane there, too",
    world: {
      controlPlane: controlPlane(3, { deletionPolicy: "preserve" }, going),
      workers: [worker(1, going)],
      facts: { ...withPool, controlPlaneUid: "other" },
      looks: { ...healthy, "10.0.1.1": running() },
      namespaceIsTerminating: false,
      hasObjects: false,
    },
    actions: [],
    reason: "WaitingForWorkers",
    says: /demo-workers\. A cluster with this name .* as its machines would be wiped: TalosWorker demo-workers\./,
  },
  {
    name: "takes no clone that waits at its address for the proof that a machine was wiped",
    world: {
      controlPlane: controlPlane(1, {}, going),
      facts: facts({
        machines: [configured("10.0.0.1"), configured("10.0.0.2", "controlplane", "demo", { uuid: "uuid-10.0.0.1" })],
      }),
      looks: { "10.0.0.1": inMaintenance("10.0.0.1", { spki: "new", macs: ["mac-of-a-third"] }) },
      namespaceIsTerminating: false,
    },
    actions: [],
    reason: "MachineUnreachable",
  },
  {
    name: "waits for a silent machine and names what would release it",
    world: {
      controlPlane: controlPlane(1, {}, going),
      facts: facts({ machines: [machines[0] ?? configured("x")], bootstrapDone: founded }),
      looks: { "10.0.0.1": silent },
      namespaceIsTerminating: false,
    },
    actions: [],
    reason: "MachineUnreachable",
  },
  {
    name: "lets a machine go that a person gives up",
    world: {
      controlPlane: controlPlane(1, {}, { ...going, annotations: { "talos-operator.dev/abandon-machine": "uuid-10.0.0.1" } }),
      facts: facts({ machines: [machines[0] ?? configured("x")], bootstrapDone: founded }),
      looks: { "10.0.0.1": silent },
      namespaceIsTerminating: false,
    },
    actions: ["WriteRecord"],
    reason: "WaitingForChildren",
  },
  ...["uuid-10.0.0.", "uuid-10.0.0.11"].map((word) => ({
    name: `lets no machine go whose word is another one: ${word}`,
    world: {
      controlPlane: controlPlane(1, {}, { ...going, annotations: { "talos-operator.dev/abandon-machine": word } }),
      facts: facts({ machines: [machines[0] ?? configured("x")], bootstrapDone: founded }),
      looks: { "10.0.0.1": silent },
      namespaceIsTerminating: false,
    },
    actions: [],
    reason: "MachineUnreachable",
  })),
  {
    name: "waits for workers that still refer to the control plane",
    world: {
      controlPlane: controlPlane(3, {}, going),
      workers: [worker(1)],
      facts: withPool,
      looks: healthy,
      namespaceIsTerminating: false,
    },
    actions: [],
    reason: "WaitingForWorkers",
  },
  {
    name: "waits for workers whose pool is there though no list tells of it",
    world: {
      controlPlane: controlPlane(3, {}, going),
      facts: withPool,
      looks: healthy,
      namespaceIsTerminating: false,
      unlisted: ["demo-workers-10.0.1.1"],
    },
    actions: [],
    reason: "WaitingForWorkers",
    says: /lists no pool of demo-workers-10\.0\.1\.1/,
  },
  {
    name: "wipes a pool that goes, and nothing else",
    world: { workers: [worker(1, going)], facts: withPool, looks: { ...healthy, "10.0.1.1": running() }, namespaceIsTerminating: false },
    actions: ["WriteRecord", "ResetMachine demo-workers-10.0.1.1"],
    reason: "Resetting",
    opens: ["demo-workers-10.0.1.1"],
  },
  {
    name: "asks a machine again when the answer to its reset was lost",
    world: {
      workers: [worker(1, going)],
      facts: { ...withPool, intents: [reset("demo-workers-10.0.1.1", "worker")] },
      looks: { ...healthy, "10.0.1.1": running() },
      namespaceIsTerminating: false,
      sent: new Map([["Reset/demo-workers-10.0.1.1", { at: NOW - 5_000, outcome: "unknown", detail: "" }]]),
    },
    actions: ["ResetMachine demo-workers-10.0.1.1"],
    reason: "Resetting",
  },
  {
    name: "goes on with the cluster while a wiped worker comes back",
    world: {
      workers: [worker(1, going)],
      facts: { ...withPool, intents: [reset("demo-workers-10.0.1.1", "worker")] },
      looks: { ...healthy, "10.0.1.1": silent },
      namespaceIsTerminating: false,
    },
    actions: [],
    reason: "Resetting",
    says: /demo-workers-10\.0\.1\.1 is being wiped/,
  },
  {
    name: "configures no machine of a pool that goes",
    world: {
      workers: [worker(1, { ...going, finalizers: [] })],
      facts: known,
      looks: { ...healthy, "10.0.1.1": inMaintenance("10.0.1.1") },
      namespaceIsTerminating: false,
      hasObjects: false,
      machineObjects: [],
    },
    actions: ["CreateMachine", "CreateMachine", "CreateMachine"],
    reason: undefined,
  },
];

for (const { name, world, actions, reason, opens, says } of cases) {
  test(`deletion: ${name}`, () => {
    const decision = decide(assess(observed(world)));
    assert.deepEqual(decision.actions.map(wordFor), actions);
    assert.equal(decision.conditions.find((condition) => condition.type === "Deleting")?.reason, reason);
    if (says !== undefined) assert.match(decision.conditions.find((condition) => condition.type === "Deleting")?.message ?? "", says);
    const write = decision.actions.find((action) => action.kind === "WriteRecord");
    if (opens !== undefined)
      assert.deepEqual(
        write?.facts.intents.map((one) => one.machine),
        opens,
      );
  });
}

function wordFor(action: Action): string {
  return action.kind === "ResetMachine" ? `${action.kind} ${action.machine}` : action.kind;
}
