import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { assess } from "./assess/assess.ts";
import {
  configured,
  controlPlane,
  facts,
  founded,
  inMaintenance,
  intent,
  member,
  NOW,
  observed,
  preparing,
  running,
  silent,
  worker,
} from "./testing/builders.ts";
import type { TalosMachine } from "@talos-operator/api";
import type { World } from "./testing/builders.ts";
import { decide } from "./decide.ts";
import type { Action } from "./model/effect.ts";
import type { Look } from "./model/look.ts";
import type { SeenMachine } from "./model/observation.ts";
import type { IntentFact } from "./model/record.ts";

const cps = ["10.0.0.1", "10.0.0.2", "10.0.0.3"] as const;
const allConfigured = cps.map((address) => configured(address));
const allDiscovering = Object.fromEntries(cps.map((address) => [address, running(preparing, { discovers: true })]));
const allPreparing = Object.fromEntries(cps.map((address) => [address, running(preparing)]));
const allInMaintenance = Object.fromEntries(cps.map((address) => [address, inMaintenance(address)]));
const healthy = Object.fromEntries(cps.map((address, index) => [address, running(member(index, 3))]));

/** A control plane that was configured and that no list names any more. */
function unlisted(look: Look): SeenMachine {
  return {
    declared: {
      name: "demo-10.0.0.9",
      role: "controlplane",
      address: "10.0.0.9",
      owner: { kind: "TalosControlPlane", name: "demo" },
      field: "x",
      version: "v1.13.9",
      machineSpec: {},
    },
    look,
  };
}

const diskWithData = {
  path: "/dev/sda",
  sizeBytes: 64e9,
  transport: "virtio",
  isReadOnly: false,
  isCdrom: false,
  foreignContent: ["ext4"],
};

/** A TalosMachine that this control plane made, with the reason of its condition ConfigApplied. */
function composed(address: string, reason?: string): TalosMachine {
  const { metadata } = controlPlane();
  const owner = {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosControlPlane",
    name: metadata.name,
    uid: metadata.uid ?? "",
    controller: true,
  };
  const condition = { type: "ConfigApplied", status: "Unknown" as const, message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosMachine",
    metadata: { namespace: "default", name: `demo-${address}`, ownerReferences: [owner] },
    spec: { endpoint: address, version: "v1.13.9" },
    ...(reason === undefined ? {} : { status: { conditions: [{ ...condition, reason }] } }),
  };
}

/** An effect that takes a control plane down and up again, and is open. */
function restart(address: string, what: IntentFact["what"]): IntentFact {
  const machine = `demo-${address}`;
  const times = { at: NOW - 10_000, deadline: NOW + 60_000 };
  return { what, machine, role: "controlplane", address, uuid: `uuid-${address}`, ...times, why: "", bootIdBefore: "b" };
}

/** What a case expects: kinds of actions in order, the reason of Ready, the state, and conditions by type. */
interface Expectation {
  readonly rule: string;
  readonly actions?: readonly string[];
  readonly ready: string;
  readonly state?: string;
  readonly conditions?: Readonly<Record<string, string>>;
  /** Of the message of Ready. */
  readonly says?: RegExp;
  /** What the whole cluster waits for, its workers too. */
  readonly waits?: { readonly reason: string; readonly says?: RegExp };
}

const cases: readonly { readonly name: string; readonly world: World; readonly want: Expectation }[] = [
  {
    name: "guards a new control plane with its finalizer before anything else",
    world: { controlPlane: controlPlane(3, {}, { finalizers: [] }) },
    want: { rule: "keepFinalizers", actions: ["AddFinalizer"], ready: "Composing", state: "Pending" },
  },
  {
    name: "makes keys for a cluster that never was",
    world: {},
    want: { rule: "keepKeys", actions: ["CreateBundle"], ready: "Composing" },
  },
  {
    name: "makes no keys while it is unknown whether there are some",
    world: { bundle: { kind: "unknown", detail: "FORBIDDEN" } },
    want: { rule: "keepKeys", ready: "Unobserved" },
  },
  {
    name: "makes no keys while the record cannot be read",
    world: { record: { kind: "unknown", detail: "FORBIDDEN" }, bundle: { kind: "absent" } },
    want: { rule: "keepKeys", ready: "Unobserved" },
  },
  ...(["Ready", "Bootstrapped"] as const).map((state) => ({
    name: `goes on telling that a cluster exists whose record cannot be read and that was ${state}`,
    world: { controlPlane: { ...controlPlane(), status: { state } }, record: { kind: "unknown", detail: "FORBIDDEN" } as const },
    want: { rule: "keepKeys", ready: "Unobserved", state: "Bootstrapped" },
  })),
  {
    name: "does nothing beside a record of a newer release",
    world: { record: { kind: "unknown", detail: "it holds what only a newer release knows", isNewer: true } },
    want: { rule: "keepKeys", ready: "RecordNewer" },
  },
  {
    name: "makes no keys for a cluster whose status says that it was bootstrapped",
    world: { controlPlane: { ...controlPlane(), status: { state: "Ready" } } },
    want: { rule: "keepKeys", ready: "SecretsLost", conditions: { SecretsLost: "BundleMissing" } },
  },
  {
    name: "makes no keys when record and bundle are gone and a TalosMachine says that a configuration was sent",
    world: { machineObjects: [composed("10.0.0.1", "OutcomeUnknown")], looks: allInMaintenance, watchedSince: 0 },
    want: { rule: "keepKeys", ready: "SecretsLost", conditions: { SecretsLost: "MachinesConfigured" } },
  },
  {
    name: "makes no keys when record and bundle are gone and this process sent a configuration",
    world: {
      machineObjects: [composed("10.0.0.1")],
      looks: allInMaintenance,
      watchedSince: 0,
      sent: new Map([["Configure/demo-10.0.0.2", { at: NOW, outcome: "unknown", detail: "" }]]),
    },
    want: { rule: "keepKeys", ready: "SecretsLost", conditions: { SecretsLost: "MachinesConfigured" } },
  },
  {
    name: "makes no keys when record and bundle are gone and a machine demands a certificate",
    world: {
      machineObjects: [composed("10.0.0.1")],
      looks: { ...allInMaintenance, "10.0.0.2": { kind: "foreign", at: NOW, detail: "x" } },
      watchedSince: 0,
    },
    want: { rule: "keepKeys", ready: "SecretsLost", conditions: { SecretsLost: "MachinesConfigured" } },
  },
  {
    name: "makes no keys when record and bundle are gone and a machine is silent",
    world: { machineObjects: [composed("10.0.0.1")], looks: { ...allInMaintenance, "10.0.0.2": silent }, watchedSince: 0 },
    want: { rule: "keepKeys", ready: "SecretsLost", conditions: { SecretsLost: "MachinesConfigured" } },
  },
  {
    name: "makes no keys when record and bundle are gone before a late configuration would have shown",
    world: { machineObjects: [composed("10.0.0.1")], looks: allInMaintenance, watchedSince: NOW - 600_000 },
    want: { rule: "keepKeys", ready: "SecretsLost", conditions: { SecretsLost: "MachinesConfigured" } },
  },
  {
    name: "makes keys again when record and bundle are gone and nothing was ever sent",
    world: { machineObjects: [composed("10.0.0.1", "WaitingForMachine")], looks: allInMaintenance, watchedSince: NOW - 700_000 },
    want: { rule: "keepKeys", actions: ["CreateBundle"], ready: "Composing" },
  },
  {
    name: "makes keys although a person wrote a TalosMachine before",
    world: { hasObjects: true, looks: allInMaintenance },
    want: { rule: "keepKeys", actions: ["CreateBundle"], ready: "Composing" },
  },
  {
    name: "leaves a Secret of somebody else alone",
    world: { bundle: { kind: "present", value: { fingerprint: "x", clusterId: "y", isOurs: false, isDeleting: false } } },
    want: { rule: "keepKeys", ready: "SecretsLost", conditions: { SecretsLost: "BundleUnreadable" } },
  },
  {
    name: "takes keys that were made before a crash into the record",
    world: { bundle: { kind: "present", value: { fingerprint: "fingerprint", clusterId: "cluster-id", isOurs: true, isDeleting: false } } },
    want: { rule: "keepKeys", actions: ["WriteRecord"], ready: "Composing" },
  },
  {
    name: "stops when the bundle that the record names is gone",
    world: { facts: facts(), bundle: { kind: "absent" } },
    want: { rule: "keepKeys", ready: "SecretsLost", conditions: { SecretsLost: "BundleMissing" } },
  },
  {
    name: "stops when the bundle holds other keys than the record names",
    world: {
      facts: facts(),
      bundle: { kind: "present", value: { fingerprint: "other", clusterId: "cluster-id", isOurs: true, isDeleting: false } },
    },
    want: { rule: "keepKeys", ready: "SecretsLost", conditions: { SecretsLost: "BundleChanged" } },
  },
  {
    name: "touches nothing of a cluster whose record belongs to another object",
    world: { facts: facts({ controlPlaneUid: "other" }), looks: { "10.0.0.1": inMaintenance("10.0.0.1") } },
    want: { rule: "keepKeys", ready: "AdoptionRequired", conditions: { AdoptionRequired: "ControlPlaneReplaced" } },
  },
  {
    name: "takes such a cluster over when a person names its id",
    world: {
      facts: facts({ controlPlaneUid: "other" }),
      controlPlane: controlPlane(3, {}, { annotations: { "talos-operator.dev/adopt": "cluster-id" } }),
    },
    want: { rule: "keepKeys", actions: ["WriteRecord"], ready: "Configuring" },
  },
  {
    name: "answers that word once the record is this object's",
    world: { facts: facts(), controlPlane: controlPlane(3, {}, { annotations: { "talos-operator.dev/adopt": "cluster-id" } }) },
    want: { rule: "answerAnnotations", actions: ["AnswerAnnotation"], ready: "Configuring" },
  },
  {
    name: "makes one TalosMachine for each machine",
    world: { facts: facts(), hasObjects: false },
    want: { rule: "composeMachines", actions: ["CreateMachine", "CreateMachine", "CreateMachine"], ready: "Composing" },
  },
  {
    name: "writes down every waiting machine before it sends to it",
    world: { facts: facts(), looks: { "10.0.0.1": inMaintenance("10.0.0.1"), "10.0.0.2": inMaintenance("10.0.0.2") } },
    want: {
      rule: "configureMachines",
      actions: ["WriteRecord", "ConfigureMachine demo-10.0.0.1", "ConfigureMachine demo-10.0.0.2"],
      ready: "Configuring",
    },
  },
  {
    name: "goes on with the others, and with it, when a waiting machine tells a version that is none",
    world: {
      facts: facts(),
      looks: { "10.0.0.1": { ...inMaintenance("10.0.0.1"), version: "nonsense" }, "10.0.0.2": inMaintenance("10.0.0.2") },
    },
    want: {
      rule: "configureMachines",
      actions: ["WriteRecord", "ConfigureMachine demo-10.0.0.1", "ConfigureMachine demo-10.0.0.2"],
      ready: "Configuring",
    },
  },
  {
    name: "sends again to the same key without writing again",
    world: { facts: facts({ machines: [configured("10.0.0.1")] }), looks: { "10.0.0.1": inMaintenance("10.0.0.1") } },
    want: { rule: "configureMachines", actions: ["ConfigureMachine demo-10.0.0.1"], ready: "Configuring" },
  },
  {
    name: "gives a machine that took its configuration time to act on it",
    world: {
      facts: facts({ machines: [configured("10.0.0.1")] }),
      looks: { "10.0.0.1": inMaintenance("10.0.0.1") },
      sent: new Map([["Configure/demo-10.0.0.1", { at: NOW - 1000, outcome: "answered", detail: "" }]]),
    },
    want: { rule: "waitOrSettle", ready: "Configuring" },
  },
  {
    name: "sends a configuration again when the clock was set back since, instead of waiting for it",
    world: {
      facts: facts({ machines: [configured("10.0.0.1")] }),
      looks: { "10.0.0.1": inMaintenance("10.0.0.1") },
      sent: new Map([["Configure/demo-10.0.0.1", { at: NOW + 3_600_000, outcome: "unknown", detail: "" }]]),
    },
    want: { rule: "configureMachines", actions: ["ConfigureMachine demo-10.0.0.1"], ready: "Configuring" },
  },
  {
    name: "sends nothing to a configured machine that waits in maintenance mode with another key",
    world: {
      facts: facts({ machines: allConfigured }),
      looks: { ...allPreparing, "10.0.0.2": inMaintenance("10.0.0.2", { spki: "new" }) },
    },
    want: { rule: "waitOrSettle", ready: "MaintenanceUnexpected", conditions: { Bootstrapped: "WaitingForControlPlanes" } },
  },
  {
    name: "configures such a machine again when a person names it",
    world: {
      facts: facts({ machines: allConfigured }),
      looks: { ...allPreparing, "10.0.0.2": inMaintenance("10.0.0.2", { spki: "new" }) },
      controlPlane: controlPlane(3, {}, { annotations: { "talos-operator.dev/approve-reprovision": "uuid-10.0.0.2" } }),
    },
    want: { rule: "configureMachines", actions: ["WriteRecord", "ConfigureMachine demo-10.0.0.2"], ready: "Configuring" },
  },
  {
    name: "sends nothing to such a machine while etcd is being bootstrapped on it, though an older word names it",
    world: {
      facts: facts({ machines: allConfigured, bootstrapIntent: intent }),
      looks: { ...allPreparing, "10.0.0.1": inMaintenance("10.0.0.1", { spki: "new" }) },
      controlPlane: controlPlane(3, {}, { annotations: { "talos-operator.dev/approve-reprovision": "uuid-10.0.0.1" } }),
    },
    want: { rule: "waitOrSettle", ready: "MaintenanceUnexpected" },
  },
  {
    name: "takes a word that names a UUID for none of the cloned machines that share it",
    world: {
      facts: facts({ machines: allConfigured.map((one) => ({ ...one, uuid: "cloned" })) }),
      looks: Object.fromEntries(cps.map((address) => [address, inMaintenance(address, { spki: `new-${address}`, uuid: "cloned" })])),
      controlPlane: controlPlane(3, {}, { annotations: { "talos-operator.dev/approve-reprovision": "cloned" } }),
    },
    want: { rule: "waitOrSettle", ready: "MaintenanceUnexpected" },
  },
  {
    name: "sends nothing to a machine of another cluster",
    world: { facts: facts(), looks: { "10.0.0.1": { kind: "foreign", at: NOW, detail: "x" } } },
    want: { rule: "waitOrSettle", ready: "ForeignCluster" },
  },
  {
    name: "sends nothing to a configured machine that shows a foreign certificate",
    world: {
      facts: facts({ machines: allConfigured, bootstrapDone: founded }),
      looks: { ...healthy, "10.0.0.3": { kind: "foreign", at: NOW, detail: "x" } },
    },
    want: { rule: "waitOrSettle", ready: "IdentityMismatch", state: "Bootstrapped" },
  },
  {
    name: "says that an address does not answer as Talos",
    world: { facts: facts(), looks: { "10.0.0.1": { kind: "not-talos", at: NOW, detail: "x" } } },
    want: { rule: "waitOrSettle", ready: "NotTalos" },
  },
  {
    name: "configures neither of two entries that are one machine",
    world: {
      facts: facts(),
      looks: { "10.0.0.1": inMaintenance("10.0.0.1", { spki: "same" }), "10.0.0.2": inMaintenance("10.0.0.2", { spki: "same" }) },
    },
    want: { rule: "waitOrSettle", ready: "MachineInUse" },
  },
  {
    name: "configures no machine whose disk holds data, unless its settings say wipe",
    world: { facts: facts(), looks: { "10.0.0.1": inMaintenance("10.0.0.1", { disks: [diskWithData] }) } },
    want: { rule: "waitOrSettle", ready: "InstallDiskUnclear", says: /holds ext4: set machineSpec\.wipe/ },
  },
  {
    name: "configures a machine whose disk holds data where its settings say wipe",
    world: {
      facts: facts(),
      looks: { "10.0.0.1": inMaintenance("10.0.0.1", { disks: [diskWithData] }) },
      controlPlane: controlPlane(1, {
        metalSpec: { machines: [{ address: "10.0.0.1" }], machineSpec: { installDisk: "/dev/sda", wipe: true } },
      }),
    },
    want: { rule: "configureMachines", actions: ["WriteRecord", "ConfigureMachine demo-10.0.0.1"], ready: "Configuring" },
  },
  {
    name: "configures no machine whose disk is not clear",
    world: { facts: facts(), looks: { "10.0.0.1": inMaintenance("10.0.0.1", { disks: [] }) } },
    want: { rule: "waitOrSettle", ready: "InstallDiskUnclear" },
  },
  {
    name: "waits for its control planes first, and says nothing of a worker whose disk is not clear",
    world: {
      facts: facts(),
      workers: [worker(1)],
      looks: { "10.0.0.1": silent, "10.0.0.2": silent, "10.0.0.3": silent, "10.0.1.1": inMaintenance("10.0.1.1", { disks: [] }) },
    },
    want: {
      rule: "waitOrSettle",
      ready: "WaitingForMachines",
      says: /^(?!.*demo-workers)/,
      waits: { reason: "WaitingForMachines", says: /demo-10\.0\.0\.1 .*demo-workers-10\.0\.1\.1 \(InstallDiskUnclear\)/ },
    },
  },
  {
    name: "is ready while a worker's disk is not clear",
    world: {
      facts: facts({ machines: allConfigured, bootstrapDone: founded }),
      workers: [worker(1)],
      looks: { ...healthy, "10.0.1.1": inMaintenance("10.0.1.1", { disks: [] }) },
    },
    want: { rule: "waitOrSettle", ready: "AllReady", waits: { reason: "InstallDiskUnclear", says: /demo-workers-10\.0\.1\.1/ } },
  },
  {
    name: "asks no disk of a container",
    world: { facts: facts(), looks: { "10.0.0.1": inMaintenance("10.0.0.1", { disks: [], platform: "container" }) } },
    want: { rule: "configureMachines", actions: ["WriteRecord", "ConfigureMachine demo-10.0.0.1"], ready: "Configuring" },
  },
  {
    name: "sends nothing to a machine nobody vouched for when that is demanded",
    world: { facts: facts(), requireFingerprint: true, looks: { "10.0.0.1": inMaintenance("10.0.0.1") } },
    want: { rule: "waitOrSettle", ready: "IdentityMismatch" },
  },
  {
    name: "configures a machine whose key a person vouched for",
    world: {
      facts: facts(),
      requireFingerprint: true,
      controlPlane: controlPlane(3, {}, { annotations: { "talos-operator.dev/accept-identity": "spki-10.0.0.1" } }),
      looks: { "10.0.0.1": inMaintenance("10.0.0.1"), "10.0.0.2": inMaintenance("10.0.0.2") },
    },
    want: { rule: "configureMachines", actions: ["WriteRecord", "ConfigureMachine demo-10.0.0.1"], ready: "Configuring" },
  },
  {
    name: "takes a person's word for a key off once it has acted",
    world: {
      facts: facts({ machines: [configured("10.0.0.1", "controlplane", "demo", { vouchedAt: NOW })] }),
      controlPlane: controlPlane(3, {}, { annotations: { "talos-operator.dev/accept-identity": "spki-10.0.0.1" } }),
    },
    want: { rule: "answerAnnotations", actions: ["AnswerAnnotation"], ready: "Configuring" },
  },
  {
    name: "writes down the target and then bootstraps etcd when all control planes wait for it",
    world: { facts: facts({ machines: allConfigured }), looks: allPreparing },
    want: { rule: "bootstrapOnce", actions: ["WriteRecord", "BootstrapEtcd demo-10.0.0.1"], ready: "Bootstrapping", state: "Available" },
  },
  {
    name: "bootstraps etcd on the control plane that the endpoint names, where the others look for it without discovery",
    world: { facts: facts({ machines: allConfigured, endpoint: "https://10.0.0.2:6443" }), looks: allPreparing },
    want: { rule: "bootstrapOnce", actions: ["WriteRecord", "BootstrapEtcd demo-10.0.0.2"], ready: "Bootstrapping" },
  },
  ...[
    { what: "airGap", spec: { airGap: true } },
    { what: "a patch", spec: { configPatches: [{ cluster: { discovery: { enabled: false } } }] } },
  ].flatMap(({ what, spec }) => {
    const cluster = controlPlane(3, {
      endpoint: "https://10.0.0.2:6443",
      metalSpec: {
        machines: [1, 2, 3].map((number) => ({ address: `10.0.0.${number}` })),
        machineSpec: { installDisk: "/dev/sda", ...spec },
      },
    });
    const machines = [allConfigured[0], allConfigured[2]].filter((fact) => fact !== undefined);
    const looks = { ...allPreparing, "10.0.0.2": silent };
    return [
      {
        name: `bootstraps nobody while the machine at the endpoint is silent and discovery is off by ${what}`,
        world: { controlPlane: cluster, facts: facts({ machines, endpoint: "https://10.0.0.2:6443" }), looks },
        want: {
          rule: "waitOrSettle",
          ready: "WaitingForMachines",
          conditions: { Bootstrapped: "WaitingForControlPlanes" },
          says: /demo-10\.0\.0\.2 .*only it is bootstrapped\. Start demo-10\.0\.0\.2, or switch discovery on/,
        },
      },
      {
        name: `bootstraps the machine at the endpoint, discovery off by ${what}`,
        world: {
          controlPlane: cluster,
          facts: facts({ machines: allConfigured, endpoint: "https://10.0.0.2:6443" }),
          looks: allPreparing,
        },
        want: { rule: "bootstrapOnce", actions: ["WriteRecord", "BootstrapEtcd demo-10.0.0.2"], ready: "Bootstrapping" },
      },
      {
        name: `bootstraps anybody where the endpoint is no machine's address, discovery off by ${what}`,
        world: {
          controlPlane: { ...cluster, spec: { ...cluster.spec, endpoint: "https://10.0.0.100:6443" } } as typeof cluster,
          facts: facts({ machines }),
          looks,
        },
        want: { rule: "bootstrapOnce", actions: ["WriteRecord", "BootstrapEtcd demo-10.0.0.1"], ready: "Bootstrapping" },
      },
    ];
  }),
  {
    name: "bootstraps another machine with discovery while the one at the endpoint, never configured, is silent",
    world: {
      facts: facts({
        machines: [allConfigured[0], allConfigured[2]].filter((fact) => fact !== undefined),
        endpoint: "https://10.0.0.2:6443",
      }),
      looks: { ...allDiscovering, "10.0.0.2": silent },
    },
    want: { rule: "bootstrapOnce", actions: ["WriteRecord", "BootstrapEtcd demo-10.0.0.1"], ready: "Bootstrapping" },
  },
  {
    name: "bootstraps nobody else while a control plane still runs without the discovery that its settings have by now",
    world: {
      facts: facts({
        machines: [allConfigured[0], allConfigured[2]].filter((fact) => fact !== undefined),
        endpoint: "https://10.0.0.2:6443",
      }),
      looks: { ...allDiscovering, "10.0.0.2": silent, "10.0.0.3": running(preparing, { discovers: false }) },
    },
    want: {
      rule: "waitOrSettle",
      ready: "WaitingForMachines",
      says: /switch discovery on .* on the machines that run without it already: demo-10\.0\.0\.3/,
    },
  },
  ...(["Finished", "Failed"] as const).flatMap((service) => {
    const stopped = { ...preparing, service };
    const asked = facts({ machines: allConfigured, bootstrapIntent: intent });
    const nobody = { rule: "waitOrSettle", ready: "Bootstrapping" } as const;
    return [
      {
        name: `asks the recorded target again when its etcd is ${service} and its data directory empty`,
        world: { facts: asked, looks: { ...allPreparing, "10.0.0.1": running({ ...stopped, hasData: false }) } },
        want: { rule: "bootstrapOnce", actions: ["BootstrapEtcd demo-10.0.0.1"], ready: "Bootstrapping" },
      },
      {
        name: `asks nobody when the target's etcd is ${service} and nobody tells whether it has data`,
        world: { facts: asked, looks: { ...allPreparing, "10.0.0.1": running(stopped) } },
        want: { ...nobody, conditions: { Bootstrapped: "IntentOpen" } },
      },
      {
        name: `asks nobody when the target's etcd is ${service} and has data, and says that a boot starts it`,
        world: { facts: asked, looks: { ...allPreparing, "10.0.0.1": running({ ...stopped, hasData: true }) } },
        want: { ...nobody, conditions: { Bootstrapped: "EtcdDataFound" } },
      },
      {
        name: `asks nobody when the target's etcd is ${service} and it tells a member`,
        world: { facts: asked, looks: { ...allPreparing, "10.0.0.1": running({ ...stopped, localMember: "a", hasData: false }) } },
        want: nobody,
      },
      {
        name: `asks nobody while the etcd of another control plane is ${service}, empty or not`,
        world: { facts: asked, looks: { ...allPreparing, "10.0.0.2": running({ ...stopped, hasData: false }) } },
        want: nobody,
      },
      {
        name: `writes down no target while the etcd of a control plane is ${service}`,
        world: {
          facts: facts({ machines: allConfigured }),
          looks: { ...allPreparing, "10.0.0.2": running({ ...stopped, hasData: false }) },
        },
        want: nobody,
      },
    ];
  }),
  {
    name: "asks nobody when a control plane that prepares has data",
    world: { facts: facts({ machines: allConfigured }), looks: { ...allPreparing, "10.0.0.2": running({ ...preparing, hasData: true }) } },
    want: { rule: "waitOrSettle", ready: "Bootstrapping" },
  },
  {
    name: "bootstraps etcd while a control plane that was never configured is silent",
    world: { facts: facts({ machines: allConfigured.slice(0, 2) }), looks: { ...allPreparing, "10.0.0.3": silent } },
    want: { rule: "bootstrapOnce", actions: ["WriteRecord", "BootstrapEtcd demo-10.0.0.1"], ready: "Bootstrapping" },
  },
  {
    name: "founds nothing while a control plane that was configured is silent",
    world: { facts: facts({ machines: allConfigured }), looks: { ...allPreparing, "10.0.0.3": silent } },
    want: { rule: "waitOrSettle", ready: "Configuring", conditions: { Bootstrapped: "ControlPlaneUnreachable" } },
  },
  {
    name: "founds nothing before every control plane was asked once",
    world: {
      facts: facts({ machines: allConfigured.slice(0, 2) }),
      looks: { "10.0.0.1": running(preparing), "10.0.0.2": running(preparing) },
    },
    want: { rule: "waitOrSettle", ready: "Configuring" },
  },
  {
    name: "founds nothing while a silent control plane may have been configured before the record",
    world: {
      facts: facts({
        bundle: { secretName: "demo-bundle-1", fingerprint: "fingerprint", wasFound: true },
        machines: allConfigured.slice(0, 2),
      }),
      looks: { ...allPreparing, "10.0.0.3": silent },
    },
    want: { rule: "waitOrSettle", ready: "WaitingForMachines", conditions: { Bootstrapped: "ControlPlaneUnreachable" } },
  },
  {
    name: "founds nothing while a former control plane is silent",
    world: {
      facts: facts({ machines: [...allConfigured, configured("10.0.0.9")] }),
      looks: allPreparing,
      former: [unlisted(silent)],
    },
    want: { rule: "waitOrSettle", ready: "Bootstrapping", conditions: { Bootstrapped: "ControlPlaneUnreachable" } },
  },
  {
    name: "bootstraps etcd on no control plane that left the list, though it alone waits for that",
    world: {
      facts: facts({ machines: [configured("10.0.0.9")] }),
      looks: Object.fromEntries(cps.map((address) => [address, silent])),
      former: [unlisted(running(preparing))],
    },
    want: { rule: "waitOrSettle", ready: "WaitingForMachines" },
  },
  {
    name: "founds nothing while etcd runs somewhere and does not tell its members",
    world: {
      facts: facts({ machines: allConfigured }),
      looks: { ...allPreparing, "10.0.0.2": running({ ...preparing, service: "Running" }) },
    },
    want: { rule: "waitOrSettle", ready: "Bootstrapping", conditions: { Bootstrapped: "EtcdDataFound" } },
  },
  {
    name: "takes no member list for the fact in which the machine that tells it is not",
    world: {
      facts: facts({ machines: allConfigured, bootstrapIntent: intent }),
      looks: { ...allPreparing, "10.0.0.1": running({ ...member(1, 2), localMember: "00000000000000ff" }) },
    },
    want: { rule: "waitOrSettle", ready: "Bootstrapping" },
  },
  {
    name: "founds nothing while something else than Talos answers for a control plane that was configured",
    world: {
      facts: facts({ machines: allConfigured }),
      looks: { ...allPreparing, "10.0.0.3": { kind: "not-talos", at: NOW, detail: "it does not speak TLS and gRPC" } },
    },
    want: { rule: "waitOrSettle", ready: "NotTalos" },
  },
  {
    name: "founds nothing while a machine does not say whether it has a member",
    world: {
      facts: facts({ machines: allConfigured }),
      looks: { ...allPreparing, "10.0.0.2": running({ ...preparing, localMember: undefined }) },
    },
    want: { rule: "waitOrSettle", ready: "Bootstrapping" },
  },
  {
    name: "asks the recorded target again after a restart, although another one stands first",
    world: {
      facts: facts({
        machines: allConfigured,
        bootstrapIntent: { ...intent, machine: "demo-10.0.0.2", address: "10.0.0.2", uuid: "uuid-10.0.0.2" },
      }),
      looks: allPreparing,
    },
    want: {
      rule: "bootstrapOnce",
      actions: ["BootstrapEtcd demo-10.0.0.2"],
      ready: "Bootstrapping",
      conditions: { Bootstrapped: "IntentOpen" },
    },
  },
  {
    name: "asks nobody else when the recorded target is silent",
    world: { facts: facts({ machines: allConfigured, bootstrapIntent: intent }), looks: { ...allPreparing, "10.0.0.1": silent } },
    want: { rule: "waitOrSettle", ready: "Configuring", conditions: { Bootstrapped: "ControlPlaneUnreachable" } },
  },
  {
    name: "waits a moment after a call whose answer was lost",
    world: {
      facts: facts({ machines: allConfigured, bootstrapIntent: intent }),
      looks: allPreparing,
      sent: new Map([["Bootstrap", { at: NOW - 100, outcome: "unknown", detail: "" }]]),
    },
    want: { rule: "bootstrapOnce", ready: "Bootstrapping" },
  },
  {
    name: "does not wait for a clock that was set back since the call",
    world: {
      facts: facts({ machines: allConfigured, bootstrapIntent: intent }),
      looks: allPreparing,
      sent: new Map([["Bootstrap", { at: NOW + 3_600_000, outcome: "unknown", detail: "" }]]),
    },
    want: { rule: "bootstrapOnce", actions: ["BootstrapEtcd demo-10.0.0.1"], ready: "Bootstrapping" },
  },
  {
    name: "asks a target that could not be asked, or was not far enough, only after a pause",
    world: {
      facts: facts({ machines: allConfigured, bootstrapIntent: intent }),
      looks: allPreparing,
      sent: new Map([["Bootstrap", { at: NOW - 100, outcome: "refused", detail: "it could not be asked" }]]),
    },
    want: { rule: "bootstrapOnce", ready: "Bootstrapping" },
  },
  {
    name: "repeats an answered call only if the machine rebooted",
    world: {
      facts: facts({ machines: allConfigured, bootstrapIntent: intent }),
      looks: allPreparing,
      sent: new Map([["Bootstrap", { at: NOW - 60_000, outcome: "answered", detail: "" }]]),
    },
    want: { rule: "bootstrapOnce", actions: ["BootstrapEtcd demo-10.0.0.1 only after reboot"], ready: "Bootstrapping" },
  },
  {
    name: "takes the member list of the target for the fact",
    world: {
      facts: facts({ machines: allConfigured, bootstrapIntent: intent }),
      looks: { ...allPreparing, "10.0.0.1": running(member(0, 1)) },
    },
    want: { rule: "bootstrapOnce", actions: ["WriteRecord"], ready: "Bootstrapping" },
  },
  {
    name: "sends nothing to a cluster that somebody else founded",
    world: { facts: facts({ machines: allConfigured }), looks: { ...allPreparing, "10.0.0.3": running(member(2, 3)) } },
    want: { rule: "bootstrapOnce", actions: ["WriteRecord"], ready: "Bootstrapping" },
  },
  {
    name: "never bootstraps etcd a second time, whatever the machines show",
    world: { facts: facts({ machines: allConfigured, bootstrapIntent: intent, bootstrapDone: founded }), looks: allPreparing },
    want: { rule: "waitOrSettle", ready: "EtcdUnhealthy", state: "Bootstrapped", conditions: { EtcdHealthy: "NoAnswer" } },
  },
  {
    name: "writes the access Secrets once etcd is there",
    world: {
      facts: facts({ machines: allConfigured, bootstrapDone: founded }),
      looks: healthy,
      kubeconfig: { kind: "absent" },
      talosconfig: { kind: "absent" },
    },
    want: { rule: "keepAccess", actions: ["WriteKubeconfig", "WriteTalosconfig"], ready: "Unobserved", state: "Bootstrapped" },
  },
  {
    name: "renews an access Secret close to its end",
    world: {
      facts: facts({ machines: allConfigured, bootstrapDone: founded }),
      looks: healthy,
      kubeconfig: { kind: "present", value: { expiresAt: NOW + 86_400_000, isOurs: true } },
    },
    want: { rule: "keepAccess", actions: ["WriteKubeconfig"], ready: "AllReady", state: "Ready" },
  },
  {
    name: "leaves a kubeconfig alone that was asked to live for a day, while a third of that is left",
    world: {
      facts: facts({ machines: allConfigured, bootstrapDone: founded }),
      looks: healthy,
      kubeconfig: { kind: "present", value: { validFrom: NOW - 10 * 3_600_000, expiresAt: NOW + 14 * 3_600_000, isOurs: true } },
    },
    want: { rule: "waitOrSettle", ready: "AllReady", state: "Ready" },
  },
  {
    name: "renews a kubeconfig that lives for a day when less than a third of that is left",
    world: {
      facts: facts({ machines: allConfigured, bootstrapDone: founded }),
      looks: healthy,
      kubeconfig: { kind: "present", value: { validFrom: NOW - 17 * 3_600_000, expiresAt: NOW + 7 * 3_600_000, isOurs: true } },
    },
    want: { rule: "keepAccess", actions: ["WriteKubeconfig"], ready: "AllReady", state: "Ready" },
  },
  {
    name: "does not ask for another kubeconfig at once when the one that it was given cannot be read",
    world: {
      facts: facts({ machines: allConfigured, bootstrapDone: founded }),
      looks: healthy,
      kubeconfig: { kind: "present", value: { expiresAt: undefined, isOurs: true } },
      sent: new Map([["WriteKubeconfig", { at: NOW - 10_000, outcome: "answered", detail: "" }]]),
    },
    want: { rule: "waitOrSettle", ready: "AllReady", state: "Ready" },
  },
  {
    name: "makes a kubeconfig again at once that somebody deleted",
    world: {
      facts: facts({ machines: allConfigured, bootstrapDone: founded }),
      looks: healthy,
      kubeconfig: { kind: "absent" },
      sent: new Map([["WriteKubeconfig", { at: NOW - 100, outcome: "answered", detail: "" }]]),
    },
    want: { rule: "keepAccess", actions: ["WriteKubeconfig"], ready: "Unobserved", state: "Bootstrapped" },
  },
  {
    name: "leaves an access Secret of somebody else alone",
    world: {
      facts: facts({ machines: allConfigured, bootstrapDone: founded }),
      looks: healthy,
      kubeconfig: { kind: "present", value: { expiresAt: undefined, isOurs: false } },
    },
    want: {
      rule: "waitOrSettle",
      ready: "NameConflict",
      says: /^Secret [a-z0-9]+-kubeconfig is not this cluster's/,
      state: "Bootstrapped",
    },
  },
  {
    name: "is ready when every member votes and every node is ready",
    world: { facts: facts({ machines: allConfigured, bootstrapDone: founded }), looks: healthy },
    want: {
      rule: "waitOrSettle",
      ready: "AllReady",
      state: "Ready",
      conditions: { EtcdHealthy: "AllMembersHealthy", NodesReady: "AllNodesReady", Progressing: "Settled" },
    },
  },
  {
    name: "says that etcd raises an alarm, which nothing else shows",
    world: {
      facts: facts({ machines: allConfigured, bootstrapDone: founded }),
      looks: { ...healthy, "10.0.0.2": running({ ...member(1, 3), alarms: ["memberID:2 alarm:NOSPACE"] }) },
    },
    want: { rule: "waitOrSettle", ready: "EtcdUnhealthy", conditions: { EtcdHealthy: "MemberUnhealthy" } },
  },
  {
    name: "names what keeps each node from being ready",
    world: {
      facts: facts({ machines: allConfigured, bootstrapDone: founded }),
      looks: {
        ...healthy,
        "10.0.0.2": running(member(1, 3), { ready: false, unmet: [{ name: "nodeReady", reason: "node is not ready" }] }),
      },
    },
    want: {
      rule: "waitOrSettle",
      ready: "NodesNotReady",
      state: "Bootstrapped",
      conditions: { EtcdHealthy: "AllMembersHealthy", NodesReady: "NodesNotReady" },
    },
  },
  {
    name: "names the Node that control planes share, and calls none of them ready by it",
    world: {
      facts: facts({ machines: allConfigured, bootstrapDone: founded }),
      looks: {
        ...healthy,
        "10.0.0.2": running(member(1, 3), { nodeName: "cp-x", sharesNode: ["demo-10.0.0.3"] }),
        "10.0.0.3": running(member(2, 3), { nodeName: "cp-x", sharesNode: ["demo-10.0.0.2"] }),
      },
    },
    want: {
      rule: "waitOrSettle",
      ready: "NodeShared",
      says: /demo-10\.0\.0\.2.*Node cp-x is also reported by demo-10\.0\.0\.3/,
      conditions: { NodesUnique: "NodeShared", NodesReady: "NodesNotReady" },
    },
  },
  {
    name: "is ready while a worker is not",
    world: {
      workers: [worker(1)],
      facts: facts({ machines: [...allConfigured, configured("10.0.1.1", "worker", "demo-workers")], bootstrapDone: founded }),
      looks: { ...healthy, "10.0.1.1": running(undefined, { stage: "booting", ready: false }) },
    },
    want: { rule: "waitOrSettle", ready: "AllReady", waits: { reason: "Configuring" }, conditions: { NodesReady: "AllNodesReady" } },
  },
  {
    name: "tells a worker that answers nothing from one whose node is not ready",
    world: {
      workers: [worker(1)],
      facts: facts({
        machines: [...allConfigured, { ...configured("10.0.1.1", "worker", "demo-workers"), appliedHash: "read" }],
        bootstrapDone: founded,
      }),
      looks: { ...healthy, "10.0.1.1": silent },
    },
    want: {
      rule: "waitOrSettle",
      ready: "AllReady",
      waits: { reason: "MachineUnreachable" },
      conditions: { NodesReady: "AllNodesReady", Progressing: "Settled" },
    },
  },
  {
    name: "calls a worker that was just configured no lost one while it reboots",
    world: {
      workers: [worker(1)],
      facts: facts({ machines: [...allConfigured, configured("10.0.1.1", "worker", "demo-workers")], bootstrapDone: founded }),
      looks: { ...healthy, "10.0.1.1": silent },
    },
    want: {
      rule: "waitOrSettle",
      ready: "AllReady",
      waits: { reason: "Configuring" },
      conditions: { NodesReady: "AllNodesReady", Progressing: "Settled" },
    },
  },
  {
    name: "asks for the boot of a listed worker that was never heard of, and does not look for what its node lacks",
    world: {
      workers: [worker(1)],
      facts: facts({ machines: allConfigured, bootstrapDone: founded }),
      looks: { ...healthy, "10.0.1.1": silent },
    },
    want: {
      rule: "waitOrSettle",
      ready: "AllReady",
      waits: { reason: "WaitingForMachines" },
      conditions: { NodesReady: "AllNodesReady", Progressing: "Settled" },
    },
  },
  {
    name: "asks for the boot of a listed control plane that was never heard of, and does not call etcd ill",
    world: {
      facts: facts({ machines: allConfigured.slice(0, 2), bootstrapDone: founded }),
      looks: { "10.0.0.1": running(member(0, 2)), "10.0.0.2": running(member(1, 2)), "10.0.0.3": silent },
    },
    want: {
      rule: "waitOrSettle",
      ready: "WaitingForMachines",
      conditions: { EtcdHealthy: "MemberMissing", Progressing: "WaitingForMachines" },
    },
  },
  {
    name: "waits for a control plane that is dead, and does not say that it joins",
    world: {
      facts: facts({ machines: allConfigured, bootstrapDone: founded }),
      looks: { ...healthy, "10.0.0.3": silent },
    },
    want: {
      rule: "waitOrSettle",
      ready: "EtcdUnhealthy",
      conditions: { EtcdHealthy: "MemberMissing", Progressing: "WaitingForEtcd" },
    },
  },
  ...(["Reboot", "UpgradeTalos"] as const).map((what) => ({
    name: `calls the restart of a control plane by the operator no fault: ${what}`,
    world: {
      facts: facts({ machines: allConfigured, bootstrapDone: founded, intents: [restart("10.0.0.3", what)] }),
      looks: { ...healthy, "10.0.0.3": silent },
    },
    want: { rule: "waitOrSettle", ready: "Restarting", conditions: { EtcdHealthy: "MemberRestarting" } },
  })),
  {
    name: "calls a control plane that is dead beside one that the operator restarts a fault",
    world: {
      facts: facts({ machines: allConfigured, bootstrapDone: founded, intents: [restart("10.0.0.3", "Reboot")] }),
      looks: { ...healthy, "10.0.0.2": silent, "10.0.0.3": silent },
    },
    want: { rule: "waitOrSettle", ready: "EtcdUnhealthy", conditions: { EtcdHealthy: "MemberMissing" } },
  },
  {
    name: "calls a restart that did not end in its time a fault",
    world: {
      facts: facts({ machines: allConfigured, bootstrapDone: founded, intents: [{ ...restart("10.0.0.3", "Reboot"), deadline: NOW }] }),
      looks: { ...healthy, "10.0.0.3": silent },
    },
    want: { rule: "waitOrSettle", ready: "EtcdUnhealthy", conditions: { EtcdHealthy: "MemberMissing" } },
  },
  {
    name: "says of control planes that are all gone which they are, and sends nobody to list another one",
    world: {
      facts: facts({ machines: allConfigured, bootstrapDone: founded }),
      looks: Object.fromEntries(cps.map((address) => [address, silent])),
    },
    want: {
      rule: "waitOrSettle",
      ready: "EtcdUnhealthy",
      conditions: { EtcdHealthy: "NoAnswer", Progressing: "WaitingForEtcd" },
      says: /^No control plane answers: demo-10\.0\.0\.1 \(.*\), demo-10\.0\.0\.2 .*, demo-10\.0\.0\.3 .*\. Bring back the control planes, 2 at least; (?!.*listing another)/,
    },
  },
  {
    name: "says of a lost quorum whom to bring back, and sends nobody to list another one",
    world: {
      facts: facts({ machines: allConfigured, bootstrapDone: founded }),
      looks: {
        "10.0.0.1": running({ service: "Running", isHealthy: false, localMember: undefined, members: undefined, leader: undefined }),
        "10.0.0.2": silent,
        "10.0.0.3": silent,
      },
    },
    want: {
      rule: "waitOrSettle",
      ready: "EtcdUnhealthy",
      conditions: { EtcdHealthy: "QuorumLost", Progressing: "WaitingForEtcd" },
      says: /only demo-10\.0\.0\.1 runs, and 2 are needed\..* Bring back the control plane demo-10\.0\.0\.2 \(.*\) or demo-10\.0\.0\.3 (?!.*listing another)/,
    },
  },
  {
    name: "says that a control plane joins while it catches up with the others",
    world: {
      facts: facts({ machines: allConfigured, bootstrapDone: founded }),
      looks: { "10.0.0.1": running(member(0, 2)), "10.0.0.2": running(member(1, 2)), "10.0.0.3": running(preparing) },
    },
    want: {
      rule: "waitOrSettle",
      ready: "Joining",
      conditions: { EtcdHealthy: "MemberMissing", Progressing: "Joining" },
    },
  },
  {
    name: "does not call etcd healthy while a member is a learner",
    world: {
      facts: facts({ machines: allConfigured, bootstrapDone: founded }),
      looks: Object.fromEntries(
        cps.map((address, index) => [
          address,
          running({ ...member(index, 3), members: member(index, 3).members?.map((one, n) => ({ ...one, isLearner: n === 2 })) ?? [] }),
        ]),
      ),
    },
    want: { rule: "waitOrSettle", ready: "Joining", conditions: { EtcdHealthy: "MemberMissing" } },
  },
  {
    name: "does not call etcd healthy while members list different members",
    world: { facts: facts({ machines: allConfigured, bootstrapDone: founded }), looks: { ...healthy, "10.0.0.3": running(member(2, 2)) } },
    want: { rule: "waitOrSettle", ready: "EtcdUnhealthy", conditions: { EtcdHealthy: "MemberUnhealthy" } },
  },
  {
    name: "does not call etcd healthy with a member that belongs to nobody",
    world: {
      controlPlane: controlPlane(1),
      facts: facts({ machines: [configured("10.0.0.1")], bootstrapDone: founded }),
      looks: { "10.0.0.1": running(member(0, 2)) },
    },
    want: { rule: "waitOrSettle", ready: "EtcdUnhealthy", conditions: { EtcdHealthy: "MemberUnexpected" } },
  },
  {
    name: "reports a version change of a running cluster and sends nothing",
    world: {
      controlPlane: controlPlane(3, { kubeVersion: "v1.36.4" }),
      facts: facts({ machines: allConfigured, bootstrapDone: founded }),
      looks: healthy,
    },
    want: { rule: "waitOrSettle", ready: "AllReady", conditions: { UpgradePending: "VersionDiffers" } },
  },
  {
    name: "says what is wrong with a spec and sends nothing",
    world: {
      facts: facts(),
      looks: { "10.0.0.1": inMaintenance("10.0.0.1") },
      problems: [{ field: "spec.mode", message: "m", remedy: "r", reason: "ModeNotSupported" }],
    },
    want: { rule: "refuseUnsafeSpec", ready: "ModeNotSupported" },
  },
];

for (const {
  name,
  world,
  want: { says, waits, ...want },
} of cases) {
  test(`brain: ${name}`, () => {
    const assessed = assess(observed(world));
    const decision = decide(assessed);
    const condition = (type: string): string | undefined => decision.conditions.find((one) => one.type === type)?.reason;
    const wanted = Object.keys(want.conditions ?? {});
    assert.deepEqual(
      {
        rule: decision.rule,
        actions: decision.actions.map(wordFor),
        ready: condition("Ready"),
        ...(want.state === undefined ? {} : { state: decision.state }),
        ...(wanted.length === 0 ? {} : { conditions: Object.fromEntries(wanted.map((type) => [type, condition(type)])) }),
      },
      { actions: [], ...want },
    );
    if (says !== undefined) assert.match(decision.conditions.find(({ type }) => type === "Ready")?.message ?? "", says);
    if (waits !== undefined) assert.equal(assessed.waiting?.reason, waits.reason);
    if (waits?.says !== undefined) assert.match(assessed.waiting?.message ?? "", waits.says);
  });
}

test("brain: a paused cluster hears one word and sees no action", () => {
  for (const mode of ["disable", "import"] as const) {
    const decision = decide(assess(observed({ mode, facts: facts({ machines: allConfigured }), looks: allPreparing })));
    assert.deepEqual(decision.actions, []);
    assert.deepEqual(
      decision.conditions.map((condition) => [condition.type, condition.status]),
      [["Paused", "True"]],
    );
  }
});

test("brain: the order in which control planes are declared changes neither whether nor that only one target is written down", () => {
  fc.assert(
    fc.property(fc.shuffledSubarray([...cps], { minLength: 3 }), (order) => {
      const machines = order.map((address) => ({ address }));
      const decision = decide(
        assess(
          observed({
            controlPlane: controlPlane(3, { metalSpec: { machines } }),
            facts: facts({ machines: allConfigured, bootstrapIntent: intent }),
            looks: allPreparing,
          }),
        ),
      );
      assert.deepEqual(decision.actions.map(wordFor), ["BootstrapEtcd demo-10.0.0.1"]);
    }),
  );
});

test("brain: whatever control planes show, a bootstrap goes only where nobody may hold data", () => {
  const look = fc.constantFrom(
    silent,
    running(preparing),
    running(member(0, 1)),
    running({ ...preparing, service: "Running" }),
    running({ ...preparing, localMember: undefined }),
    inMaintenance("x"),
    { kind: "foreign", at: NOW, detail: "" } as const,
    { kind: "not-asked" } as const,
  );
  fc.assert(
    fc.property(fc.tuple(look, look, look), fc.subarray(allConfigured), fc.boolean(), (looks, known, hasIntent) => {
      const seen = observed({
        facts: facts({ machines: known, ...(hasIntent ? { bootstrapIntent: intent } : {}) }),
        looks: Object.fromEntries(cps.map((address, index) => [address, looks[index] ?? silent])),
      });
      const sends = decide(assess(seen)).actions.filter((action) => action.kind === "BootstrapEtcd");
      assert.ok(sends.length <= 1);
      for (const send of sends) {
        assert.equal(hasIntent ? send.machine : "demo-10.0.0.1", hasIntent ? "demo-10.0.0.1" : "demo-10.0.0.1");
        for (const machine of seen.machines) {
          const isConfigured = known.some((fact) => fact.name === machine.declared.name);
          if (machine.look.kind === "running") assert.deepEqual(machine.look.etcd, preparing);
          else if (machine.look.kind === "silent") assert.equal(isConfigured, false);
          else if (machine.look.kind === "maintenance") assert.equal(isConfigured, false);
          else assert.fail(`${machine.look.kind} forbids a bootstrap`);
        }
      }
    }),
    { numRuns: 500 },
  );
});

function wordFor(action: Action): string {
  switch (action.kind) {
    case "ConfigureMachine":
      return `${action.kind} ${action.machine.name}`;
    case "BootstrapEtcd":
      return `${action.kind} ${action.machine}${action.onlyAfterReboot ? " only after reboot" : ""}`;
    case "ResetMachine":
      return `${action.kind} ${action.machine}`;
    case "DeleteMachine":
      return `${action.kind} ${action.name}`;
    default:
      return action.kind;
  }
}

test("machines of a pool that goes are not configured again when they wait, wiped, in maintenance mode (INC29)", () => {
  const wiped = { ...configured("10.0.1.1", "worker", "demo-workers"), releasedAt: NOW - 1_000 };
  const decision = decide(
    assess(
      observed({
        workers: [worker(1, { deletionTimestamp: "2026-01-01T11:59:00Z", finalizers: ["x"] })],
        facts: facts({ machines: [...allConfigured, wiped], bootstrapDone: founded }),
        looks: { ...healthy, "10.0.1.1": inMaintenance("10.0.1.1") },
        machineObjects: cps.map((address) => composed(address)),
        namespaceIsTerminating: false,
      }),
    ),
  );
  assert.ok(
    decision.actions.every(({ kind }) => kind !== "ConfigureMachine"),
    JSON.stringify(decision.actions.map(({ kind }) => kind)),
  );
});
