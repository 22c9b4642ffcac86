import { conditionFor } from "@talos-operator/api";
import type { TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { machinesOf } from "../spec/declared.ts";
import type { ClusterFacts, MachineFact } from "../model/record.ts";
import type { DeclaredMachine } from "../model/machine.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { InMaintenance, Look, Running, SeenEtcd } from "../model/look.ts";

/** The moment of every observation in tables. */
export const NOW = Date.UTC(2026, 0, 1, 12);

/** UID of the control plane in tables. */
export const UID = "11111111-1111-1111-1111-111111111111";

/** A control plane named `demo` with `count` machines at 10.0.0.1 and following; finalizer in place. */
export function controlPlane(
  count = 3,
  over: Partial<NonNullable<TalosControlPlane["spec"]>> = {},
  metadata: Partial<TalosControlPlane["metadata"]> = {},
): TalosControlPlane {
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosControlPlane",
    metadata: {
      namespace: "default",
      name: "demo",
      uid: UID,
      generation: 1,
      finalizers: ["taloscontrolplane.talos.alperen.cloud/finalizer"],
      ...metadata,
    },
    spec: {
      version: "v1.13.9",
      kubeVersion: "v1.36.3",
      mode: "metal",
      endpoint: "https://10.0.0.100:6443",
      metalSpec: {
        machines: Array.from({ length: count }, (_, index) => ({ address: `10.0.0.${index + 1}` })),
        machineSpec: { installDisk: "/dev/sda" },
      },
      ...over,
    },
  };
}

/** A worker pool named `demo-workers` with `count` machines at 10.0.1.1 and following; finalizer in place. */
export function worker(count = 2, metadata: Partial<TalosWorker["metadata"]> = {}): TalosWorker {
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosWorker",
    metadata: {
      namespace: "default",
      name: "demo-workers",
      uid: "22222222-2222-2222-2222-222222222222",
      generation: 1,
      finalizers: ["talosworker.talos.alperen.cloud/finalizer"],
      ...metadata,
    },
    spec: {
      version: "v1.13.9",
      kubeVersion: "v1.36.3",
      mode: "metal",
      controlPlaneRef: { name: "demo" },
      metalSpec: {
        machines: Array.from({ length: count }, (_, index) => ({ address: `10.0.1.${index + 1}` })),
        machineSpec: { installDisk: "/dev/sda" },
      },
    },
  };
}

/** A machine that waits in maintenance mode; its key is made from its address. */
export function inMaintenance(address: string, over: Partial<InMaintenance> = {}): InMaintenance {
  return {
    kind: "maintenance",
    at: NOW,
    since: NOW,
    spki: `spki-${address}`,
    version: "v1.13.9",
    platform: "metal",
    uuid: `uuid-${address}`,
    macs: [`mac-${address}`],
    disks: [disk()],
    ...over,
  };
}

function disk(): NonNullable<InMaintenance["disks"]>[number] {
  return { path: "/dev/sda", sizeBytes: 64e9, transport: "virtio", isReadOnly: false, isCdrom: false, foreignContent: [] };
}

/** etcd that waits to be bootstrapped or joined. */
export const preparing: SeenEtcd = { service: "Preparing", isHealthy: false, localMember: "none", members: undefined, leader: undefined };

/** A machine that runs our configuration; workers leave `etcd` out. */
export function running(etcd?: SeenEtcd, over: Partial<Running> = {}): Running {
  return { kind: "running", at: NOW, version: "v1.13.9", platform: "metal", stage: "running", ready: true, unmet: [], etcd, ...over };
}

/** A member of etcd by its number in the cluster, knowing `count` voters and the first as leader. */
export function member(index: number, count: number): SeenEtcd {
  const id = (n: number): string => String(n).padStart(16, "0");
  const members = Array.from({ length: count }, (_, n) => ({
    id: id(n + 1),
    name: `cp-${n + 1}`,
    isLearner: false,
    peerUrls: [`https://10.0.0.${n + 1}:2380`],
  }));
  return { service: "Running", isHealthy: true, localMember: id(index + 1), members, leader: id(1) };
}

/** A machine that does not answer. */
export const silent: Look = { kind: "silent", at: NOW, since: NOW, detail: "unreachable" };

/** The fact of a machine to which a configuration may have been sent. */
export function configured(
  address: string,
  role: MachineFact["role"] = "controlplane",
  owner = "demo",
  over: Partial<MachineFact> = {},
): MachineFact {
  return {
    name: `${owner}-${address}`,
    role,
    address,
    uuid: `uuid-${address}`,
    macs: [`mac-${address}`],
    spki: `spki-${address}`,
    platform: "metal",
    installDisk: "/dev/sda",
    configHash: undefined,
    pinnedAt: NOW,
    vouchedAt: undefined,
    configuredAt: NOW,
    releasedAt: undefined,
    // As `member` numbers them.
    ...(role === "controlplane" ? { memberId: address.split(".").at(-1)?.padStart(16, "0") ?? "" } : {}),
    ...over,
  };
}

/** Facts of a cluster whose keys exist. */
export function facts(over: Partial<ClusterFacts> = {}): ClusterFacts {
  return {
    controlPlaneUid: UID,
    clusterId: "cluster-id",
    bundle: { secretName: "demo-bundle-1", fingerprint: "fingerprint", wasFound: false },
    endpoint: "https://10.0.0.100:6443",
    podCIDR: ["10.244.0.0/16"],
    serviceCIDR: ["10.96.0.0/12"],
    cni: {},
    talosVersion: "v1.13.9",
    kubernetesVersion: "v1.36.3",
    machines: [],
    bootstrapIntent: undefined,
    bootstrapDone: undefined,
    intents: [],
    decisions: [],
    ...over,
  };
}

/** The intent to bootstrap etcd on the first control plane. */
export const intent: NonNullable<ClusterFacts["bootstrapIntent"]> = {
  machine: "demo-10.0.0.1",
  address: "10.0.0.1",
  uuid: "uuid-10.0.0.1",
  at: NOW,
  deadline: NOW + 600_000,
};

/** Proof that etcd was bootstrapped there. */
export const founded: NonNullable<ClusterFacts["bootstrapDone"]> = {
  machine: "demo-10.0.0.1",
  address: "10.0.0.1",
  uuid: "uuid-10.0.0.1",
  at: NOW,
  evidence: "etcd is running on demo-10.0.0.1.",
};

/** What {@link observed} takes beside looks. */
export interface World extends Partial<Omit<Observed, "record" | "machines">> {
  /** Only to say that nobody knows; otherwise it follows from `facts`. */
  readonly record?: Extract<Observed["record"], { readonly kind: "unknown" }>;
  readonly facts?: ClusterFacts;
  /** By address; machines without one were not asked. */
  readonly looks?: Readonly<Record<string, Look>>;
  /** Default: every declared machine has its object. */
  readonly hasObjects?: boolean;
  /** Addresses of machines whose objects say that they were configured. */
  readonly toldConfigured?: readonly string[];
}

/** An observation in which only what matters is said. Keys and access Secrets fit the facts unless given. */
export function observed(world: World = {}): Observed {
  const { facts: known, looks = {}, hasObjects = true, toldConfigured = [], ...over } = world;
  const pool = over.controlPlane ?? controlPlane();
  const workers = over.workers ?? [];
  const declared = [...machinesOf(pool), ...workers.flatMap((one) => machinesOf(one))];
  const machines: readonly SeenMachine[] = declared.map((machine) => ({
    declared: machine,
    look: looks[machine.address] ?? { kind: "not-asked" },
  }));
  return {
    now: NOW,
    watchedSince: NOW,
    controlPlane: pool,
    mode: "reconcile",
    workers,
    machineObjects: hasObjects ? declared.map((machine) => machineObject(machine, toldConfigured.includes(machine.address))) : [],
    machines,
    former: [],
    problems: [],
    inertFields: [],
    record:
      known === undefined
        ? { kind: "absent" }
        : { kind: "present", value: { resourceVersion: "7", facts: known, metadata: { name: pool.metadata.name } } },
    bundle:
      known === undefined
        ? { kind: "absent" }
        : {
            kind: "present",
            value: { fingerprint: known.bundle.fingerprint, clusterId: known.clusterId, isOurs: true, isDeleting: false },
          },
    kubeconfig: { kind: "present", value: { expiresAt: NOW + 300 * 86_400_000, isOurs: true } },
    talosconfig: { kind: "present", value: { expiresAt: NOW + 300 * 86_400_000, isOurs: true } },
    namespaceIsTerminating: undefined,
    sent: new Map(),
    mayDisturb: true,
    requireFingerprint: false,
    ...over,
  };
}

function machineObject({ name, address, role }: DeclaredMachine, isConfigured: boolean): TalosMachine {
  const told = [
    conditionFor("ConfigApplied", "OutcomeUnknown", "x", 1),
    conditionFor("MaintenanceIdentityPinned", "TrustedOnFirstUse", "x", 1),
  ].map((condition) => ({ ...condition, lastTransitionTime: new Date(NOW).toISOString() }));
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosMachine",
    metadata: { namespace: "default", name },
    spec: { endpoint: address, version: "v1.13.9", ...(role === "worker" ? { workerRef: { name: "demo-workers" } } : {}) },
    ...(isConfigured ? { status: { conditions: told, identity: { maintenanceKey: `spki-${address}` } } } : {}),
  };
}
