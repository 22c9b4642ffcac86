import type { Cni, FailureKind } from "@talos-operator/api";
import type { MachineName, MachineRole } from "./machine.ts";

/**
 * What is written down about a cluster, as the rules see it: the content of its ClusterRecord.
 *
 * Only facts that cannot be had again by looking, and intents that must survive a crash. No secrets. Times are milliseconds since the epoch.
 */
export interface ClusterFacts {
  /** UID of the TalosControlPlane that the record was made for; another one means the object was moved or made anew. */
  readonly controlPlaneUid: string;
  readonly clusterId: string;
  readonly bundle: BundleFact;
  /** URL of the Kubernetes API that clients and workers use. */
  readonly endpoint: string;
  /** The one that control planes are being given: it comes into force when all of them have it. Absent = none. */
  readonly nextEndpoint?: string;
  /** Those that were ever in force, the one that the cluster was made with first: certificates go on being for them. Absent = there is that one alone. */
  readonly formerEndpoints?: readonly string[];
  /** Networks in every configuration; chosen once. Empty in records of before these fields. */
  readonly podCIDR: readonly string[];
  readonly serviceCIDR: readonly string[];
  /** Network plugin in every configuration; chosen once. Empty = none was named; `undefined` in records of before this field. */
  readonly cni: Cni | undefined;
  /** What the control planes are made with, then what all of them were last seen to run; a later change of the spec is an upgrade, not configuration. */
  readonly talosVersion: string;
  readonly kubernetesVersion: string;
  readonly machines: readonly MachineFact[];
  readonly bootstrapIntent: BootstrapIntentFact | undefined;
  readonly bootstrapDone: BootstrapDoneFact | undefined;
  /** Effects that may have been sent and whose end was not seen: at most one on control planes, at most one for each worker. */
  readonly intents: readonly IntentFact[];
  /** A snapshot that is being taken, or was: {@link snapshotStands}. Written by the controller of backups alone. */
  readonly snapshot?: SnapshotFact;
  /** Procedures of several steps that are open; absent = none. */
  readonly operations?: readonly OperationFact[];
  /** Talos versions that failed on a machine, oldest first; absent = none. */
  readonly quarantine?: readonly QuarantineFact[];
  /** Hazards of configurations that a person accepted, oldest first; absent = none. */
  readonly acceptedHazards?: readonly AcceptedHazardFact[];
  /** Newest last, at most 50. */
  readonly decisions: readonly DecisionFact[];
  /** When the running cluster was taken over from others; absent for one that this operator made. */
  readonly importedAt?: number;
}

/** A procedure of several steps, from before its first effect until its end was seen. */
export interface OperationFact {
  readonly id: string;
  readonly kind: "UpgradeTalos";
  /** The hop that it is in: `control planes to v1.13.9`. */
  readonly phase: string;
  readonly startedAt: number;
  /** Since when it is in its phase. */
  readonly since: number;
  readonly inputs: Readonly<Record<string, string>>;
  readonly releasedBy?: string;
}

/** A Talos version, or an image of one, that goes to no machine of the cluster before a person says so. */
export interface QuarantineFact {
  /** With `v`. */
  readonly version: string;
  /** Schematic of the image that failed, where the version ran before and no other did; absent = the version failed, whatever it is built from. */
  readonly schematic?: string;
  readonly machine: MachineName;
  /** Absent where the machine tells none. */
  readonly manufacturer?: string;
  readonly product?: string;
  readonly at: number;
  /** A sentence. */
  readonly why: string;
}

/** A hazard that a person accepted, for the very settings that have it. */
export interface AcceptedHazardFact {
  readonly code: string;
  /** Of the settings: others are asked for anew. */
  readonly configHash: string;
  readonly at: number;
}

/** A claim on the cluster by a snapshot. */
export interface SnapshotFact {
  readonly machine: MachineName;
  /** Namespace and name of the TalosEtcdBackup, for people. */
  readonly backup: string;
  readonly deadline: number;
}

/** The secrets bundle in force. */
export interface BundleFact {
  readonly secretName: string;
  readonly fingerprint: string;
  /** True when the Secret was there before the record: machines may have been configured that the record does not know. */
  readonly wasFound: boolean;
  /** When it was found; absent where it was not, and until the record was stored. */
  readonly foundAt?: number;
}

/** One machine's identity, written down before the first byte of configuration is sent to it. */
export interface MachineFact {
  readonly name: MachineName;
  readonly role: MachineRole;
  /** Name of a worker's TalosWorker, which its own name does not always tell; absent for control planes and in records of before this field. */
  readonly pool?: string;
  readonly address: string;
  /** SMBIOS UUID; empty where the machine has none. */
  readonly uuid: string;
  readonly macs: readonly string[];
  /** Key of the maintenance certificate that was trusted on first use; `undefined` when the machine was first met configured. */
  readonly spki: string | undefined;
  /** `undefined` = not told. */
  readonly platform: string | undefined;
  /** `undefined` = none (containers). */
  readonly installDisk: string | undefined;
  /** Of the settings that its configuration was made from; `undefined` when it was met configured. */
  readonly configHash: string | undefined;
  /** Version contract of its configuration, for example `1.13`; absent in records of before this field. */
  readonly contract?: string;
  /** SHA-256 of the configuration text that was last applied, or first read; absent until then. Another one on the machine is drift. */
  readonly appliedHash?: string;
  /** Settings that are on the machine and in force only after its next boot. */
  readonly staged?: StagedFact;
  /** Settings that the machine refused or took back: not sent again until they change. */
  readonly failed?: FailedConfigFact;
  readonly pinnedAt: number;
  /** When a person's word for `spki` was taken; `undefined` = it was trusted on first use. */
  readonly vouchedAt: number | undefined;
  /** From here on a configuration may have been sent, and the machine may hold etcd data. */
  readonly configuredAt: number | undefined;
  /** When the machine was proved wiped, or given up by a person. */
  readonly releasedAt: number | undefined;
  /**
   * Hash of the static network settings that were last written to its META, or counted as written when it was met running; `none` = none were. Absent where
   * nobody looked (containers, records of before this field): what stands in the spec then counts as written.
   */
  readonly metaHash?: string;
  /** The etcd member that it last showed as its own: 16 hex digits. Absent: none was seen, or the record is older than this field. */
  readonly memberId?: string;
  /** When its member of etcd was last asked to defragment. Absent: never. */
  readonly defragmentedAt?: number;
  /** Installer that the last upgrade took, where its name shows no schematic: what the machine runs does not show it either. */
  readonly talosImage?: string;
  /** A Talos that is on the machine and not booted yet. */
  readonly installed?: InstalledFact;
  /** One that was to be installed in this boot, and nobody saw how that ended: where one is on the machine later, it is this one. */
  readonly installing?: InstalledFact;
}

/** A Talos that the next boot of a machine starts. */
export interface InstalledFact {
  readonly version: string;
  /** What it is built from: `none` = from none; absent where its image does not tell. */
  readonly schematic?: string;
  /** The installer that it came from, where the name of that shows no schematic. */
  readonly image?: string;
  /** What it ran when that was installed: the other boot slot keeps it. */
  readonly before: string;
  /** Of then; another one shows that it has booted. */
  readonly bootId: string;
}

/** A machine that a configuration may have been sent to, and that was not proved wiped or given up since. */
export type ConfiguredFact = MachineFact & { readonly configuredAt: number; readonly releasedAt: undefined };

/** A configuration that waits for a reboot. */
export interface StagedFact {
  /** Of the settings. */
  readonly configHash: string;
  /** Boot id of the machine when it was sent; another one shows that it is in force. */
  readonly bootId: string;
  /** SHA-256 of the text on the disk: a release that renders the settings otherwise knows them again by it. Absent where the machine does not tell its disk. */
  readonly textHash?: string;
}

/** A configuration that did not come into force: the machine refused it, took it back, or was not heard of. */
export interface FailedConfigFact {
  /** Of the settings. */
  readonly configHash: string;
  /** Absent in records of before this field: ask `failureKind`. */
  readonly kind?: FailureKind;
  /** For people; at most 512 characters, no secrets. */
  readonly why: string;
  /** How often they were sent and did not come into force, without a sign why; absent = once, and that is final. */
  readonly tries?: number;
}

/** Which machine bootstraps etcd. Written before the call is sent, never changed to another machine. */
export interface BootstrapIntentFact {
  readonly machine: MachineName;
  readonly address: string;
  readonly uuid: string;
  readonly at: number;
  /** Until when the call may still take effect. */
  readonly deadline: number;
}

/** Proof that etcd was bootstrapped. */
export interface BootstrapDoneFact {
  readonly machine: MachineName;
  readonly address: string;
  readonly uuid: string;
  readonly at: number;
  readonly evidence: string;
}

/**
 * What an intent is about: `Reset` wipes a machine, or stops a container after it has left etcd, `RemoveMember` takes a dead member out of etcd's list, `RemoveStray` one that belongs to
 * no machine through this one, `ReplaceMember` has a member with wrong data leave etcd and join anew, `ApplyConfig` changes the configuration of a
 * running machine, `Reboot` boots it anew, into another Talos where it names one, `InstallTalos` puts another Talos beside the one that runs, `UpgradeTalos` has a machine of Talos up to 1.12 install
 * and boot it in one call, `WriteMeta` changes the static network settings in its META, `Defragment` gives free pages of its member's file back, and
 * `DisarmAlarms` takes back the alarms of all members through it.
 */
export type IntentKind =
  | "Reset"
  | "RemoveMember"
  | "RemoveStray"
  | "ReplaceMember"
  | "ApplyConfig"
  | "Reboot"
  | "WriteMeta"
  | "Defragment"
  | "DisarmAlarms"
  | "InstallTalos"
  | "UpgradeTalos";

/** An effect that cannot be repeated blindly, written down before it is sent, until what the machine shows ends it. */
export interface IntentFact {
  readonly what: IntentKind;
  readonly machine: MachineName;
  readonly address: string;
  /** SMBIOS UUID; empty where the machine has none. */
  readonly uuid: string;
  readonly role: MachineRole;
  readonly at: number;
  /** Until when the effect may still take place. */
  readonly deadline: number;
  /** What the record says, where that is another clock's time and the two above are this process's. */
  readonly recorded?: { readonly at: number; readonly deadline: number };
  readonly why: string;
  /** Boot id of the machine before; another one later shows that it rebooted. */
  readonly bootIdBefore?: string;
  /** The etcd member concerned: 16 hex digits. */
  readonly memberId?: string;
  /** Size of the member's file when it was to be defragmented: a smaller one later shows that it was. */
  readonly dbSizeBytes?: number;
  /** Since when a container that was asked to stop did not answer. One that answers again was started by somebody. */
  readonly stoppedAt?: number;
  /** Hash of the configuration that is sent. */
  readonly configHash?: string;
  /** How it is sent: `try` reverts by itself at `deadline`. */
  readonly applyMode?: "try" | "no-reboot" | "staged";
  /** Talos that the machine is to run after it: it is a step of an upgrade. */
  readonly talosVersion?: string;
  /** Talos that it ran when the intent was written. */
  readonly talosBefore?: string;
  /** Schematic that it is to run after it, where the name of the image tells; `none` = built from none. */
  readonly talosSchematic?: string;
  /** The installer that it comes from, where the name of that shows no schematic. */
  readonly talosImage?: string;
  /** System extensions that it ran then, and is to run after it. */
  readonly talosExtensions?: readonly string[];
  /** Names of kernel arguments that it is to run after it: those that ran then, and those that it is about. */
  readonly talosArguments?: readonly string[];
  /** Since when the machine shows everything that an upgrade is to bring. */
  readonly provenAt?: number;
  /** Boot under which the new Talos was given up: only this one is rolled back. */
  readonly rollsBackFrom?: string;
}

/** One remembered decision, for people. */
export interface DecisionFact {
  readonly at: number;
  readonly action: string;
  /** One word. */
  readonly reason: string;
  readonly machine?: MachineName;
  readonly message: string;
  /** The rule that took it; stamped on by `decide`. */
  readonly rule?: string;
  /** What ends the state that it led to; by default what the catalogue says to the reason that is waited for. */
  readonly releasedBy?: string;
}

/** Where a machine is that may be configured, and what for. */
export type MachinePlace = Pick<MachineFact, "name" | "role" | "pool" | "address">;
