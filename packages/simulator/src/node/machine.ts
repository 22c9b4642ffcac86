import { createHash } from "node:crypto";
import type { KeyPair } from "@talos-operator/ports";
import type { VolumeKeys } from "./disk-encryption.ts";
import type { Hardware } from "./hardware.ts";

/**
 * A simulated machine as a value: plain JSON, replaced as a whole by every step.
 *
 * ```
 * off ──power──► booting ──no config──► maintenance ──apply──► installing ──► rebooting ──┐
 *                   │  ▲                     └──(container, or installed)──► booting      │
 *                   │  └──────────────────────────────────────────────────────────────────┘
 *                   └──config──► booting ──services up──► running ──► rebooting | resetting | shutting down
 * ```
 */
export interface Machine {
  readonly hardware: Hardware;
  /** Random per machine at creation; boot ids and node identities derive from it. */
  readonly nonce: string;
  readonly power: "on" | "off";
  /** `false`: cut off from the network, otherwise alive. */
  readonly isConnected: boolean;
  /** The cable is out, whatever the firewall says. */
  readonly isUnplugged?: boolean;
  /** Its etcd cannot keep up with the leader: a learner is not promoted. */
  readonly isEtcdBehind?: boolean;
  /** How long its etcd defragments, where somebody said so. */
  readonly etcdDefragmentTime?: DefragmentTime | undefined;
  /** Milliseconds since the epoch when power or network went; `undefined` while reachable. */
  readonly goneSince: number | undefined;
  readonly bootCount: number;
  /** UUID form, new at each boot. */
  readonly bootId: string;
  readonly bootedAt: number;
  readonly stage: Stage;
  readonly api: ApiState;
  /** Talos is on the disk: the machine keeps its configuration over a reboot. Always true on platform `container`. */
  readonly isInstalled: boolean;
  /** Counts wipes; the node identity changes with it. */
  readonly wipes: number;
  readonly config: ConfigState;
  readonly services: Readonly<Record<string, Service>>;
  readonly etcd: EtcdState;
  readonly kubernetes: KubernetesState;
  /** Schematic of the Talos that runs; absent = it was built from none. */
  readonly schematic?: string | undefined;
  /** Kernel arguments that its installer was given, where GRUB starts it with those; absent = it runs those of its image. */
  readonly kernelArguments?: readonly string[] | undefined;
  /** What is on the system disk; `undefined` before the installation, and in snapshots of earlier versions. */
  readonly system?: InstalledSystem | undefined;
  /** How its system volumes are encrypted; absent = they are not made yet, or it has none. */
  readonly volumes?: VolumeKeys | undefined;
  /** The installer that runs, or is about to. */
  readonly installer?: Installer | undefined;
  /** What the image that META names for the next boot will do. */
  readonly staged?: Installer | undefined;
  /** Container images that were pulled, in the order of pulling. Wiped with EPHEMERAL. */
  readonly images?: readonly StoredImage[];
  /** META keys, decimal key to text. */
  readonly meta: Readonly<Record<string, string>>;
  /** Boot id under which it was running and ready for the first time; absent = it never was. */
  readonly isGoodSince?: string;
  /** What will happen, in any order; see `stages.ts`. */
  readonly timers: readonly PendingTimer[];
  /** Newest last, bounded; lost at a reboot. */
  readonly events: readonly RuntimeEvent[];
  /** Counts events of this boot. */
  readonly eventCount: number;
  /** Counts changes of `MachineStatus`; absent = there were none. */
  readonly statusChanges?: number;
}

/** Alarms of etcd: the quota of its database is used up, or members hold different data. */
export type EtcdAlarm = "NOSPACE" | "CORRUPT";

/** Milliseconds. `never`: it goes on until the process ends. */
export type DefragmentTime = number | "never";

/** Two boot slots. */
export interface InstalledSystem {
  /** Talos of boot media, which starts again when the disk is wiped. */
  readonly media: string;
  /** Starts at the next boot. */
  readonly next: string;
  /** In the other slot: what `Rollback` goes back to; `undefined` while it is empty, or half written. */
  readonly other: string | undefined;
  /** Schematics of the two; absent = built from none. */
  readonly schematics?: { readonly next: string | undefined; readonly other: string | undefined };
  /** Kernel arguments that GRUB was given for the two; absent = those of the image. */
  readonly kernelArguments?: { readonly next: readonly string[] | undefined; readonly other: readonly string[] | undefined };
}

/** An installer that runs on the machine, whoever started it. */
export interface Installer {
  readonly version: string;
  /** Absent = it was built from none. */
  readonly schematic?: string;
  /** How it will end. */
  readonly exitCode: number;
  /** What waits for it: a caller of LifecycleService, or a sequence that reboots afterwards. */
  readonly of: "caller" | "sequence";
  /** Talos is not on the disk yet. */
  readonly first?: true;
}

export interface StoredImage {
  readonly store: "system" | "cri" | "containerd";
  /** As it was asked for; a digest and no tag where it was asked for by both. */
  readonly name: string;
  /** Talos version that it installs, where it does. */
  readonly talosVersion?: string;
  /** Schematic that it was built from. */
  readonly schematic?: string;
  /** Milliseconds since the epoch. */
  readonly pulledAt: number;
}

/** As `MachineStatus` shows it. */
export type Stage = "booting" | "installing" | "maintenance" | "running" | "rebooting" | "shutting down" | "resetting" | "upgrading";

/**
 * What listens at port 50000: nothing, a self-signed certificate without client certificates, or mutual TLS.
 * `epoch` grows whenever open connections break.
 */
type ApiState =
  | { readonly kind: "down"; readonly epoch: number }
  | { readonly kind: "maintenance"; readonly epoch: number; readonly identity: KeyPair }
  | { readonly kind: "configured"; readonly epoch: number; readonly identity: KeyPair; readonly names: readonly string[] };

export interface ConfigState {
  /** Text in force. */
  readonly active: string | undefined;
  /** Text on the STATE partition: in force after the next boot. */
  readonly persisted: string | undefined;
  /** Resource versions of this boot. */
  readonly activeVersion: number;
  readonly persistedVersion: number;
  readonly activeCreated: number;
  readonly activeUpdated: number;
  readonly persistedCreated: number;
  readonly persistedUpdated: number;
  /** During TRY: what comes back when the time is up. */
  readonly revertTo: string | undefined;
  /** An apply already ordered a reboot; further ones are refused. */
  readonly isRebootOrdered: boolean;
}

export interface Service {
  readonly state: "Initialized" | "Preparing" | "Waiting" | "Starting" | "Running" | "Stopping" | "Finished" | "Failed" | "Skipped";
  /** `undefined` = unknown. */
  readonly isHealthy: boolean | undefined;
  readonly healthMessage: string;
  /** Milliseconds since the epoch of the last health change; 0 = never. */
  readonly healthChanged: number;
  readonly events: readonly ServiceEvent[];
}

export interface ServiceEvent {
  readonly state: Service["state"];
  readonly message: string;
  readonly at: number;
}

export interface EtcdState {
  /** The data directory: which member of which etcd this machine is. */
  readonly data: { readonly cluster: string; readonly memberId: string } | undefined;
  /** `Bootstrap` was called in this boot. Lost at a reboot. */
  readonly isBootstrapRequested: boolean;
  /** First health check of this start is over. */
  readonly isChecked: boolean;
  /** What the process was started with, where the configuration says so. */
  readonly quotaBytes?: number;
  /** The process was started with `corrupt-check-time`. */
  readonly comparesWithLeader?: true;
  /** Defragmentations of this process: how many have ended, and how long the one that runs and those that wait for it take. */
  readonly defragments?: { readonly ended: number; readonly queue: readonly DefragmentTime[] };
}

interface KubernetesState {
  /** Static pods run: this control plane serves the Kubernetes API. */
  readonly hasStaticPods: boolean;
  readonly isNodeRegistered: boolean;
  readonly isNodeReady: boolean;
  /** Talos brings its cluster no network plugin: the control planes' configuration leaves that to somebody else. Found out when the Node registers. */
  readonly lacksNetwork?: boolean;
  /** Somebody's network plugin ran here, which Talos was told not to bring. Its configuration stays when its pod goes, and goes with EPHEMERAL. */
  readonly hasForeignNetwork?: boolean;
  /** An upgrade cordoned its Node; undone once the Node is ready again. */
  readonly isCordoned?: boolean;
}

/** A named moment of a sequence (`stages.ts`). */
interface PendingTimer {
  readonly name: TimerName;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export type TimerName =
  | "boot"
  | "switch"
  | "api-down"
  | "certificate"
  | "install"
  | "installer"
  | "stop-services"
  | "leave"
  | "wipe"
  | "down"
  | "off"
  | "cri"
  | "kubelet"
  | "kubelet-restart"
  | "etcd-preparing"
  | "etcd-pull"
  | "etcd-stop"
  | "etcd-join"
  | "etcd-start"
  | "etcd-healthy"
  | "etcd-promote"
  | "etcd-defragment"
  | "etcd-hung"
  | "etcd-again"
  | "etcd-ends"
  | "static-pods"
  | "node-register"
  | "node-ready"
  | "try-revert"
  | "firewall";

/** One entry of the Events stream. */
export interface RuntimeEvent {
  /** Grows by one per event of the machine's life. */
  readonly number: number;
  readonly at: number;
  readonly actorId: string;
  readonly payload: EventPayload;
}

export type EventPayload =
  | { readonly kind: "sequence"; readonly sequence: string; readonly action: "NOOP" | "START" | "STOP" }
  | { readonly kind: "phase"; readonly phase: string; readonly action: "START" | "STOP" }
  | {
      readonly kind: "service";
      readonly service: string;
      readonly message: string;
      readonly state: Service["state"];
      readonly isHealthy: boolean | undefined;
    }
  | { readonly kind: "machine-status"; readonly stage: Stage; readonly isReady: boolean; readonly unmet: readonly UnmetCondition[] }
  | { readonly kind: "restart"; readonly cmd: number };

export interface UnmetCondition {
  readonly name: string;
  readonly reason: string;
}

/** A machine out of its box, powered off, with empty disks. */
export function newMachine(hardware: Hardware, nonce: string): Machine {
  return {
    hardware,
    nonce,
    power: "off",
    isConnected: true,
    goneSince: undefined,
    bootCount: 0,
    bootId: bootIdOf(nonce, 0),
    bootedAt: 0,
    stage: "booting",
    api: { kind: "down", epoch: 0 },
    isInstalled: hardware.platform === "container",
    wipes: 0,
    config: emptyConfig,
    services: {},
    etcd: { data: undefined, isBootstrapRequested: false, isChecked: false },
    kubernetes: { hasStaticPods: false, isNodeRegistered: false, isNodeReady: false },
    meta: {},
    timers: [],
    events: [],
    eventCount: 0,
  };
}

/** No configuration at all. */
export const emptyConfig: ConfigState = {
  active: undefined,
  persisted: undefined,
  activeVersion: 0,
  persistedVersion: 0,
  activeCreated: 0,
  activeUpdated: 0,
  persistedCreated: 0,
  persistedUpdated: 0,
  revertTo: undefined,
  isRebootOrdered: false,
};

/** Boot id of the n-th boot: random to everyone who does not know the nonce. */
export function bootIdOf(nonce: string, bootCount: number): string {
  return uuidFrom(`${nonce}/boot/${bootCount}`);
}

/** A UUID (version 4 form) that depends only on `text`. */
export function uuidFrom(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`;
}
