import type {
  ConditionInput,
  ControlPlaneState,
  Finding,
  ObjectMeta,
  ReadyReason,
  ReconcileMode,
  TalosControlPlane,
  TalosMachine,
  TalosWorker,
} from "@talos-operator/api";
import type { MachineSettings } from "../../config/settings.ts";
import type { Look } from "../../looking/look.ts";
import type { AddressProblem } from "../../references/address-of-reference.ts";
import type { SeenDrain } from "../../workload/seen-drain.ts";
import type { SeenNodes } from "../../workload/cluster-workload.ts";
import type { SeenCertificates } from "../../workload/kubelet-certificates/cluster-certificates.ts";
import type { SeenGiven } from "../../secrets/given-secrets.ts";
import type { SeenAdoption } from "../../importing/adoption.ts";
import type { MachinePlace } from "./membership/told-machines.ts";
import type { ClusterFacts } from "./record/facts.ts";
import type { SeenConfig } from "./config-changes/seen-config.ts";
import type { Plan } from "./planning/plan.ts";

/** `metadata.name` of a TalosMachine; never changes with the address. */
export type MachineName = string;

/** What a machine is for. */
export type MachineRole = "controlplane" | "worker";

/** One machine as the specs declare it, with everything that its configuration depends on. */
export interface DeclaredMachine {
  readonly name: MachineName;
  readonly role: MachineRole;
  /** Where it is to be found; while `problem` is set, where it was when it was written down, and empty when it never was. */
  readonly address: string;
  /** The object that `machineRef` names, as `Kind/name`; `undefined` where the address is given. */
  readonly reference?: string;
  /** A person made its TalosMachine; no pool lists it. */
  readonly isHandMade?: true;
  /** Why its address is not known, or not to be used. Nothing is configured there. */
  readonly problem?: AddressProblem;
  /** The whole config that its object names is not there, or another cluster's: nobody knows what it is to run. */
  readonly isConfigUnknown?: true;
  /** Why nobody would reach it any more with the configuration that it would get as its first: it is not sent. */
  readonly lockout?: string;
  /** The TalosControlPlane or TalosWorker that lists it. */
  readonly owner: { readonly kind: "TalosControlPlane" | "TalosWorker"; readonly name: string };
  /** Field that declares it, for messages: `spec.metalSpec.machines[0]`. */
  readonly field: string;
  readonly version: string;
  /** Shared settings with those of the machine on top. */
  readonly machineSpec: MachineSettings;
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
}

/** An access Secret without its content. */
export interface SeenAccess {
  /** End of the client certificate in it; `undefined` when it holds none that can be read. */
  readonly expiresAt: number | undefined;
  /** Its begin; absent when it holds none that can be read. */
  readonly validFrom?: number;
  /** Control planes that a talosconfig leads to; absent when it names none that can be read. */
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
  /** Former workers whose pool is there though no list told of it (asked only while the control plane is deleted). */
  readonly untold?: readonly MachineName[];
  /** What is wrong with the specs, and fields that are not built, found by `spec/`. */
  readonly problems: readonly Finding[];
  /** Worker pools whose spec has something wrong in it: that a machine is not listed there is no wish to wipe it. */
  readonly unsoundPools?: readonly string[];
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
  /** What this process sent and has not seen the effect of, by `effectKey`. Lost at a restart, and nothing depends on it but haste. */
  readonly sent: ReadonlyMap<string, SentEffect>;
  /** False for a new leader until the effects of the one before have run out: it does not do yet what disturbs. */
  readonly mayDisturb: boolean;
  /** True when the TalosCluster goes and the control plane with it: its workers are deleted before it is told. */
  readonly isParentGoing?: boolean;
  /** Drains of this process by machine; `undefined` = there is no client of the cluster's own Kubernetes API. Read them by `readyToDisturb`. */
  readonly drains?: ReadonlyMap<MachineName, SeenDrain>;
  /** Nodes of the cluster as last listed; looked at only when there is a reason to. `undefined` as with `drains`. */
  readonly nodes?: SeenNodes;
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
  /** A cluster that runs and that no record knows: what it is verified by. Absent for every other. */
  readonly adoption?: SeenAdoption;
  /** Machines that are paused by themselves or with their pool: nothing is done with them. */
  readonly held?: ReadonlySet<MachineName>;
  /** Another operator that was seen at work on this cluster, in words. */
  readonly beside?: string;
  /** `--require-maintenance-fingerprint`: nothing is sent to a machine that nobody vouched for. */
  readonly requireFingerprint: boolean;
}

/** An effect that this process sent. */
export interface SentEffect {
  readonly at: number;
  /** Counted up by the session: which of two came later, whatever the clock said. Absent: their times tell. */
  readonly order?: number;
  readonly outcome: "answered" | "unknown" | "refused";
  readonly detail: string;
}

/** One effect, with the precondition that keeps it safe when the observation was stale. */
export type Action =
  | { readonly kind: "AddFinalizer"; readonly object: ObjectName }
  | { readonly kind: "RemoveFinalizer"; readonly object: ObjectName }
  | { readonly kind: "CreateMachine"; readonly machine: DeclaredMachine }
  | { readonly kind: "DeleteMachine"; readonly name: MachineName }
  /** The TalosMachine shows the address that its reference gives now. */
  | { readonly kind: "FollowEndpoint"; readonly name: MachineName; readonly to: string }
  /** Create-only, immutable, without owner. Never executed when the record names a bundle. */
  | { readonly kind: "CreateBundle"; readonly secret: string }
  /** Copies the keys of a cluster that runs already. Create-only; only keys with this fingerprint. */
  | { readonly kind: "TakeBundle"; readonly secret: string; readonly ifFingerprint: string }
  /** The whole next record; compare-and-swap on `ifResourceVersion`, `undefined` = create. */
  | { readonly kind: "WriteRecord"; readonly ifResourceVersion: string | undefined; readonly facts: ClusterFacts; readonly why: string }
  /** Only to the key that was written down, and only while the record says so. */
  | {
      readonly kind: "ConfigureMachine";
      readonly machine: DeclaredMachine;
      readonly ifSpki: string;
      readonly installDisk: string | undefined;
      /** The cluster goes, and a worker that must be wiped gets its certificate through no other machine. */
      readonly isForWipe?: true;
    }
  /** Only while every control plane shows no etcd, and the record holds this very intent. */
  | {
      readonly kind: "BootstrapEtcd";
      readonly machine: MachineName;
      readonly address: string;
      /** SMBIOS UUID of that machine, and of no other at its address; empty where it has none. */
      readonly ifUuid: string;
      readonly probe: readonly ProbeTarget[];
      /** The call was answered before: while etcd prepares it is repeated only if the machine lost it in a reboot. */
      readonly onlyAfterReboot: boolean;
      /** Milliseconds since the epoch since which the pull of etcd's image is waited for; `undefined` = it is not. */
      readonly imageAwaitedSince: number | undefined;
    }
  | { readonly kind: "WriteKubeconfig"; readonly secret: string; readonly via: string }
  | { readonly kind: "WriteTalosconfig"; readonly secret: string; readonly endpoints: readonly string[] }
  /** Wipes. Only a machine whose intent stands in the record. */
  | {
      readonly kind: "ResetMachine";
      readonly machine: MachineName;
      readonly address: string;
      readonly ifUuid: string;
      /** The machine drains its node and leaves etcd by itself first. Default: it wipes at once, for the cluster goes. */
      readonly isGraceful?: boolean;
      /** A voter of etcd leaves: the members are asked live whether they keep their quorum without it. */
      readonly leavesEtcd?: boolean;
      /**
       * The machine leaves a cluster that stays: the specs are read live, and none may list it. `no-voter`: etcd's members are asked, and it must be none
       * that votes; `no-member`: the others list no member of it at all; `no-etcd`: etcd is not bootstrapped, and the machine must hold none. Default: cluster or
       * pool are deleted.
       */
      readonly ifUnlisted?: "voter" | "no-voter" | "no-member" | "no-etcd" | "worker";
    }
  /** The machine removes its own member from etcd and empties its data: before a container is stopped, which leaves etcd as it is. Its reset stands in the record. */
  | { readonly kind: "LeaveEtcd"; readonly machine: MachineName; readonly address: string; readonly ifUuid: string }
  /** The machine hands the leadership of etcd to another member. Only one whose wipe stands in the record. */
  | { readonly kind: "ForfeitLeadership"; readonly machine: MachineName; readonly address: string; readonly ifUuid: string }
  /** Takes the member of a machine that is gone out of etcd's list. Asked of a healthy member; the intent stands in the record. */
  | {
      readonly kind: "RemoveMember";
      /** The machine that is gone. */
      readonly machine: MachineName;
      readonly memberId: string;
      readonly via: { readonly machine: MachineName; readonly address: string; readonly ifUuid: string };
    }
  /** Only to the configuration that the decision was made on, and only while the record holds this very intent. */
  | {
      readonly kind: "ApplyConfig";
      readonly machine: MachineName;
      readonly address: string;
      readonly ifUuid: string;
      readonly mode: "try" | "staged" | "no-reboot";
      /** Hash of the settings. */
      readonly settings: string;
      readonly ifActiveHash: string;
    }
  /** Only while the machine runs the tried configuration. May be repeated. */
  | {
      readonly kind: "KeepConfig";
      readonly machine: MachineName;
      readonly address: string;
      readonly ifUuid: string;
      readonly settings: string;
      readonly ifActiveHash: string;
    }
  /** Changes the static network settings in the machine's META. Only while META holds what the decision was made on, and the record this very intent. */
  | {
      readonly kind: "WriteMeta";
      readonly machine: MachineName;
      /** etcd must bear the loss of a control plane: the machine follows the settings at once. */
      readonly role: MachineRole;
      readonly address: string;
      readonly ifUuid: string;
      /** Hash of the settings that are wanted; `none` = the key is removed. */
      readonly settings: string;
      /** Hash of what META held. */
      readonly ifLive: string;
    }
  /** Only while the machine runs the boot that was written down. */
  | {
      readonly kind: "RebootMachine";
      readonly machine: MachineName;
      /** etcd must bear the loss of a control plane. */
      readonly role: MachineRole;
      readonly address: string;
      readonly ifUuid: string;
      readonly ifBootId: string;
    }
  /** Begins, or keeps going, the drain of the machine's Node. It runs beside the passes and wakes the cluster. */
  | { readonly kind: "CordonAndDrain"; readonly machine: MachineName; readonly address: string; readonly ifUuid: string }
  /** Lists the cluster's Nodes beside the passes. */
  | { readonly kind: "LookAtNodes" }
  /** Lists the certificate requests of kubelets beside the passes, and approves what a person lets us and the machines bear out. */
  | { readonly kind: "TendCertificates"; readonly approves: boolean }
  /** Takes our own cordon off; one of a person stays. */
  | { readonly kind: "Uncordon"; readonly machine: MachineName; readonly node: string; readonly address: string; readonly ifUuid: string }
  /** The Node object of a machine that is no part of the cluster any more. */
  | { readonly kind: "DeleteNode"; readonly machine: MachineName; readonly node: string }
  /** A person's word acts once: it is taken off and answered by an event. */
  | { readonly kind: "AnswerAnnotation"; readonly annotation: string; readonly value: string; readonly answer: string }
  /** Only the very record that was seen: one of its name may be a new cluster's by now. */
  | { readonly kind: "DeleteRecord"; readonly ifUid: string | undefined }
  /** Only the keys that were seen there. */
  | { readonly kind: "DeleteBundle"; readonly secret: string; readonly ifFingerprint: string };

/** A control plane that must show no etcd before a bootstrap is sent. */
export interface ProbeTarget {
  readonly machine: MachineName;
  readonly address: string;
  /** True: silence forbids the bootstrap, and so does any machine but the one that was written down. */
  readonly wasConfigured: boolean;
  /** Key that was written down; `undefined` = none was. */
  readonly spki: string | undefined;
  /** SMBIOS UUID that was written down; empty where none was. */
  readonly uuid: string;
}

/** An object of this cluster, by kind and name; the namespace is the control plane's. */
export interface ObjectName {
  readonly kind: "TalosControlPlane" | "TalosWorker" | "TalosMachine";
  readonly name: string;
}

/** Why a cluster is not ready yet: one reason, the facts, and what would release it. */
export interface Waiting {
  readonly reason: ReadyReason;
  readonly message: string;
  /** The message says itself what a person can do: what the catalogue says to the reason would be a second remedy. */
  readonly saysRemedy?: true;
}

/** What one rule says: what to do now, and what is waited for. */
export interface Verdict {
  readonly actions: readonly Action[];
  readonly waiting?: Waiting;
  /** Conditions of this rule, beside those that only describe what was seen. */
  readonly conditions?: readonly ConditionInput[];
  /** Default: by what is waited for; `undefined` in the decision = a watch or a look will wake us. */
  readonly requeueAfterMs?: number;
}

/** One rule of the brain, named for its purpose. `undefined` = nothing to say, ask the next. */
export interface Rule {
  readonly name: string;
  decide(seen: Observed): Verdict | undefined;
}

/** What one pass does and says. */
export interface Decision {
  /** The rule that decided. */
  readonly rule: string;
  /** In order; at most one of them disruptive. */
  readonly actions: readonly Action[];
  /** From what was seen now, never from an earlier pass. Types that are absent here are removed from the status. */
  readonly conditions: readonly ConditionInput[];
  readonly state: ControlPlaneState;
  readonly requeueAfterMs: number | undefined;
  /** An effect on a running machine is open: machines are looked at often although the cluster is ready. */
  readonly isBusy?: boolean;
  /** Of a dry run. */
  readonly plan?: Plan;
}
