import type {
  Finding,
  ObjectMeta,
  ReconcileMode,
  TalosControlPlane,
  TalosEtcdBackup,
  TalosEtcdBackupSchedule,
  TalosMachine,
  TalosWorker,
} from "@talos-operator/api";
import type { ReleaseCatalogue } from "@talos-operator/talos";
import type { DeclaredMachine, MachineName } from "./machine.ts";
import type { SeenEndpoint, SeenNextEndpoint } from "./endpoint.ts";
import type { Look } from "./look.ts";
import type { ClusterFacts, IntentKind, MachinePlace } from "./record.ts";
import type { SeenCertificates, SeenDrain, SeenAhead, SeenNodes } from "./workload.ts";
import type { SeenConfig } from "./config.ts";
import type { SeenAdoption } from "./adoption.ts";

/** What the rules may know of them: where they are, and why they cannot be used. No part of the content. */
export interface SeenGiven {
  /** For people: `Secret demo-given`. */
  readonly source: string;
  readonly problem?: string;
}

/** A declared machine, or one that was declared once, with what was seen of it. */
export interface SeenMachine {
  readonly declared: DeclaredMachine;
  readonly look: Look;
}

/** A value that may be absent, or of which nobody knows whether it is. */
export type Seen<T> =
  | { readonly kind: "absent" }
  /** `isNewer`: it was read, and a newer release wrote it. */
  | { readonly kind: "unknown"; readonly detail: string; readonly isNewer?: true }
  | { readonly kind: "present"; readonly value: T };

/** The ClusterRecord as last read. */
export interface SeenRecord {
  readonly resourceVersion: string;
  readonly facts: ClusterFacts;
  readonly metadata: ObjectMeta;
}

/** The bundle Secret without its content. */
export interface SeenBundle {
  readonly fingerprint: string;
  readonly clusterId: string;
  /** False when the Secret lacks our mark: someone else made it. */
  readonly isOurs: boolean;
  readonly isDeleting: boolean;
  /** UID of the TalosControlPlane that they were made for as new keys; absent = they came from elsewhere, or nobody can say. */
  readonly madeFor?: string;
}

/** An access Secret without its content. */
export interface SeenAccess {
  /** End of the client certificate in it; `undefined` when it holds none that can be read. */
  readonly expiresAt: number | undefined;
  /** Its begin; absent when it holds none that can be read. */
  readonly validFrom?: number;
  /** Control planes that a talosconfig leads to, or the URL that a kubeconfig does; absent when it names none that can be read. */
  readonly endpoints?: readonly string[];
  /** False when the certificate was not signed by this cluster's authority, or the Secret belongs to someone else. */
  readonly isOurs: boolean;
  /** A person made it immutable: nothing in it can be renewed. */
  readonly isImmutable?: true;
}

/** Everything one pass may look at: plain data, no clients, no clock of its own. */
export interface Observed {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Since when this process looks at the machines of this cluster. Milliseconds since the epoch. */
  readonly watchedSince: number;
  readonly controlPlane: TalosControlPlane;
  readonly mode: ReconcileMode;
  /** A word in the annotation `reconcile-mode` that is none: the mode is `reconcile`, and nothing is wiped. */
  readonly unknownMode?: string;
  readonly workers: readonly TalosWorker[];
  /** TalosMachine objects of this cluster by name. */
  readonly machineObjects: readonly TalosMachine[];
  /** Machines of a KubernetesCluster that this cluster was installed on, as their annotations say; absent = there are none. */
  readonly installed?: readonly MachinePlace[];
  /** In the order of declaration, control planes first. */
  readonly machines: readonly SeenMachine[];
  /** Machines that the record knows, that were not released, and that no spec declares any more. */
  readonly former: readonly SeenMachine[];
  /** Former workers whose pool is there though no list shows it (asked only while the control plane is deleted). */
  readonly unlisted?: readonly MachineName[];
  /** What is wrong with the specs, and fields that are not built, found by `spec/`. */
  readonly problems: readonly Finding[];
  /** Worker pools whose spec has something wrong in it: that a machine is not listed there is no wish to wipe it. */
  readonly unsoundPools?: readonly string[];
  /** Machines whose Nodes would share a name with those of others, with the reason in words; absent = none. */
  readonly sharedNodeNames?: ReadonlyMap<MachineName, string>;
  /** Fields that are set and have no effect; the cluster goes on. */
  readonly inertFields: readonly string[];
  readonly record: Seen<SeenRecord>;
  readonly bundle: Seen<SeenBundle>;
  /** Secrets that somebody gave for the keys that are not made yet; absent = none are given, or the keys are there. */
  readonly given?: Seen<SeenGiven>;
  /** Another cluster whose record has the keys that were found; asked only before there is a record, of keys that this process did not make. */
  readonly keysElsewhere?: Seen<string>;
  readonly kubeconfig: Seen<SeenAccess>;
  readonly talosconfig: Seen<SeenAccess>;
  /** True when namespace or CRD is going away; `undefined` = not asked (asked only during deletion). */
  readonly namespaceIsTerminating: boolean | undefined;
  /** What this process sent, by effect and machine, and has not seen the effect of. Lost at a restart, and nothing depends on it but haste. */
  readonly sent: ReadonlyMap<string, SentEffect>;
  /** What this process did about machines beside that. Lost likewise; absent = nothing. */
  readonly notes?: ReadonlyMap<MachineName, MachineNotes>;
  /** False for a new leader until the effects of the one before have run out: it does not do yet what disturbs. */
  readonly mayDisturb: boolean;
  /** True when the TalosCluster goes and the control plane with it: its workers are deleted before it is told. */
  readonly isParentGoing?: boolean;
  /** Drains of this process by machine; `undefined` = there is no client of the cluster's own Kubernetes API. Read them by `readyToDisturb`. */
  readonly drains?: ReadonlyMap<MachineName, SeenDrain>;
  /** Nodes of the cluster as last listed; looked at only when there is a reason to. `undefined` as with `drains`. */
  readonly nodes?: SeenNodes;
  /** What would hold up drains; asked for only while an upgrade is ahead. `undefined` as with `drains`. */
  readonly ahead?: SeenAhead;
  /** Certificates that kubelets wait for, where any machine's asks for one; absent = none does, or there is no client of the cluster's own API. */
  readonly certificates?: SeenCertificates;
  /** Configurations of running machines as last read back; absent = nobody reads them. */
  readonly configs?: ReadonlyMap<MachineName, SeenConfig>;
  /** More of them are being read: another pass follows when they are. */
  readonly isReadingConfigs?: boolean;
  /** What this process saw to be wrong with a machine when the time was over in which what it tried could still be kept, in words. */
  readonly troubles?: ReadonlyMap<MachineName, string>;
  /** Machines with an open effect that are to be looked at for longer before they are called well: by a timer, whatever the clock says. */
  readonly soaking?: ReadonlySet<MachineName>;
  /** Machines that show what an upgrade was to bring, and are to be looked at for longer: likewise by a timer. */
  readonly baking?: ReadonlySet<MachineName>;
  /** Machines whose boot, or step of an upgrade, has had its time: likewise. Absent = the clock says. */
  readonly overdue?: ReadonlySet<MachineName>;
  /** How long a machine may take to be well with another Talos after it was asked to boot it. Milliseconds; absent = as long as large machines take. */
  readonly upgradeWithinMs?: number;
  /** A cluster that runs and that no record knows: what it is verified by. Absent for every other. */
  readonly adoption?: SeenAdoption;
  /** Machines that are paused by themselves or with their pool: nothing is done with them. */
  readonly held?: ReadonlySet<MachineName>;
  /** Worker pools that are paused by themselves, by name of the TalosWorker. */
  readonly heldPools?: ReadonlySet<string>;
  /** Another operator that was seen at work on this cluster, in words. */
  readonly beside?: string;
  /** The annotation snapshot-before-risk of the control plane, else of the TalosCluster that made it; absent = there is none. */
  readonly riskWord?: string;
  /** Snapshots of etcd and who takes them; absent = no control plane leaves and no data differ, or this operator takes no backups. */
  readonly snapshots?: SeenSnapshots;
  /** Members of etcd that have belonged to no machine for long enough, by a timer and in every pass since; absent = none have. */
  readonly strays?: ReadonlySet<string>;
  /** What answers at the cluster's endpoint; absent = nobody asks, or etcd is not bootstrapped. Nothing is held back by it. */
  readonly endpoint?: SeenEndpoint;
  /** What answers at the endpoint that the spec asks for instead; absent = it asks for no other, or nobody asks. */
  readonly nextEndpoint?: SeenNextEndpoint;
  /** Releases that upgrades go through; absent = nothing is asked for that does not run, and nobody asked for them. */
  readonly releases?: SeenReleases;
  /** `--require-maintenance-fingerprint`: nothing is sent to a machine that nobody vouched for. */
  readonly requireFingerprint: boolean;
}

/** Releases that upgrades go through. */
export interface SeenReleases {
  readonly catalogue: ReleaseCatalogue;
  /** Why what a person adds to it does not count: a clause. */
  readonly problem?: string;
}

/** Snapshots of the cluster's etcd. */
export interface SeenSnapshots {
  /** Schedules that name the cluster, by name. */
  readonly schedules: readonly TalosEtcdBackupSchedule[];
  /** Backups of the cluster, newest first. */
  readonly backups: readonly TalosEtcdBackup[];
}

/** How a machine was right before something was sent to it: what was amiss already is not demanded afterwards. */
export type Before = "ready" | "not ready";

/** What a process knew when it sent something, and nobody can find out later. */
export interface KnownAtSend {
  readonly before?: Before;
  /** SHA-256 of the configuration text that ran before one was sent to be tried. */
  readonly ranBefore?: string;
  /** The installer image that was asked for, and its name in the machine's store, such as one with a digest, from which nobody could tell later which one it is. */
  readonly pulled?: { readonly asked: string; readonly stored: string };
}

/** An effect that this process sent. */
export interface SentEffect extends KnownAtSend {
  readonly at: number;
  /** Counted up by the session: which of two came later, whatever the clock said. Absent: their times tell. */
  readonly order?: number;
  readonly outcome: "answered" | "unknown" | "refused";
  /** For people. */
  readonly detail: string;
}

/** What this process did about one machine without sending it anything. */
export interface MachineNotes {
  /** The intent that it wrote down last. */
  readonly begun?: BegunNote;
  /** The maintenance key that it wrote down last. */
  readonly pinned?: string;
  /** The last call that it held back at the last moment. */
  readonly heldBack?: HeldBackNote;
}

/** Which intent was written down: records hold times in seconds. `order` as in {@link SentEffect}. */
export interface BegunNote {
  readonly what: IntentKind;
  /** Seconds since the epoch, as the record has it. */
  readonly second: number;
  readonly order?: number;
}

/** A call that was not made. `order` as in {@link SentEffect}. */
export interface HeldBackNote {
  readonly at: number;
  readonly order?: number;
  /** For people. */
  readonly why: string;
}
