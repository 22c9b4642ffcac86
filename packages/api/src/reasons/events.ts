import type { ConditionKind } from "./entry.ts";

/** One reason of an event. */
export interface EventEntry {
  readonly type: "Normal" | "Warning";
  /** Kinds of the objects that it is about. */
  readonly on: readonly ConditionKind[];
  /** When it is told, as one sentence. */
  readonly when: string;
}

/** A step of one machine. */
const machine = ["TalosMachine"] as const;
/** Whichever a person wrote: the cluster, or the pool where it belongs to none. */
const pools = ["TalosControlPlane", "TalosWorker", "TalosCluster", "KubernetesCluster"] as const;
const clusters = ["TalosControlPlane", "TalosCluster", "KubernetesCluster"] as const;
const turning = ["TalosMachine", ...pools, "TalosEtcdBackupSchedule", "EtcdBackup"] as const;

/**
 * Every reason of an event, in the order of a cluster's life. Published reasons of the operators whose kinds these are keep their names.
 *
 * Each is told for a fact that was written down, or for a condition that turned, at the moment when that is stored: never twice, and never because something
 * was read again. A step is told on its machine; start, end and failure of an operation on what a person wrote.
 */
export const eventCatalogue = {
  Created: { type: "Normal", on: clusters, when: "The cluster's keys, or the Secret with its kubeconfig, were made." },
  Imported: { type: "Normal", on: clusters, when: "The keys of a running cluster were copied into a Secret of this operator." },
  MachineConfigured: {
    type: "Normal",
    on: machine,
    when: "A machine in maintenance mode took its configuration. Not reported while the control plane is not ready, as when a cluster is made.",
  },
  EtcdBootstrapped: { type: "Normal", on: clusters, when: "The member list of a control plane proves that etcd was bootstrapped." },
  MachineJoined: {
    type: "Normal",
    on: machine,
    when: "A machine runs with its configuration for the first time. Not reported while the control plane is not ready, as when a cluster is made.",
  },
  Ready: { type: "Normal", on: turning, when: "The condition Ready turned True; on a TalosMachine after it was not." },
  NotReady: {
    type: "Warning",
    on: turning,
    when: "The condition Ready is not True any more, and no restart by the operator is the cause; the note is its message.",
  },
  InvariantBroken: {
    type: "Warning",
    on: clusters,
    when: "A pass was held back because it would have broken a rule that always holds, which the note names: a fault of the operator.",
  },
  EtcdHealthy: { type: "Normal", on: clusters, when: "The condition EtcdHealthy is True again." },
  EtcdUnhealthy: {
    type: "Warning",
    on: clusters,
    when: "The condition EtcdHealthy turned False, or its reason became one that only a person releases; the note is its message.",
  },
  SettingsChanged: { type: "Normal", on: machine, when: "New settings are in force on a machine, or in its META, without a reboot." },
  KubeletCertificateApproved: {
    type: "Normal",
    on: machine,
    when: "The request of a kubelet for the certificate that it serves with was approved, because a person lets the operator do so.",
  },
  ConfigApplyFailed: { type: "Warning", on: pools, when: "A machine refused settings, or took them back; the note says which and why." },
  MachineDrained: { type: "Normal", on: machine, when: "The Node of a machine was drained, and the machine is disturbed now." },
  MachineRebooted: { type: "Normal", on: machine, when: "A machine is back from a reboot that was asked for." },
  UpgradeStarted: {
    type: "Normal",
    on: clusters,
    when: "The first machine of an upgrade of Talos is begun with; the note says how many there are.",
  },
  InstallerPulled: { type: "Normal", on: machine, when: "The image of another Talos is on the machine, and is installed next." },
  TalosInstalled: {
    type: "Normal",
    on: machine,
    when: "Another Talos is on the machine, beside the one that runs, and waits for its boot.",
  },
  LeadershipHandedOver: {
    type: "Normal",
    on: machine,
    when: "A machine that led etcd had another member lead, before it boots another Talos or leaves.",
  },
  TalosBooting: { type: "Normal", on: machine, when: "The machine is asked to boot another Talos; it is drained by then." },
  MachineUpgraded: {
    type: "Normal",
    on: machine,
    when: "A machine runs another Talos and is well with it; the note says how many machines are done.",
  },
  ControlPlaneOutage: {
    type: "Normal",
    on: clusters,
    when: "etcd and the Kubernetes API of a cluster with one or two voters of etcd are about to be away while a control plane boots, as a person allowed; the note says which, and whether there is a snapshot.",
  },
  MachineRolledBack: {
    type: "Warning",
    on: machine,
    when: "A machine runs the Talos of before again, after it was not well with another one or that was not asked for any more; the note says why.",
  },
  UpgradeEnded: {
    type: "Normal",
    on: clusters,
    when: "Nothing of an upgrade of Talos is left to do, or its spec asks for something else; the note says how many machines are done and how long it took. One that failed is reported by TalosVersionFailed instead.",
  },
  TalosVersionFailed: {
    type: "Warning",
    on: pools,
    when: "An upgrade stopped: a machine failed with the Talos that was asked for, which goes to no other machine; the note says how, and whether the machine is rolled back.",
  },
  ResetStarted: { type: "Normal", on: machine, when: "A machine began its reset, as it was asked to." },
  MemberLeft: { type: "Normal", on: machine, when: "A machine left etcd because the operator asked it to; the note says what is next." },
  MachineReset: { type: "Normal", on: machine, when: "A machine was wiped: it answers in maintenance mode, or a container stopped." },
  MachineRemoved: { type: "Normal", on: pools, when: "Machines are no part of the cluster any more, wiped or not." },
  EtcdCareFailed: { type: "Warning", on: clusters, when: "A member would not defragment, or would not take an alarm back." },
  MemberRemovalFailed: { type: "Warning", on: clusters, when: "A member could not leave etcd, or could not be taken out of it." },
  DeleteFailed: { type: "Warning", on: clusters, when: "A machine refused its reset." },
  KubeconfigRejected: {
    type: "Warning",
    on: clusters,
    when: "What a control plane gives as kubeconfig does not lead into this cluster.",
  },
  Reconciling: {
    type: "Normal",
    on: pools,
    when: "A step was done that has no reason of its own: a member was removed from etcd, a Node was deleted, an annotation was answered.",
  },
  DryRun: {
    type: "Normal",
    on: ["TalosCluster", "TalosControlPlane", "TalosWorker", "TalosClusterAddonRelease"],
    when: "The plan of an object with reconcile-mode dryrun became another.",
  },
  DeletionHeld: { type: "Warning", on: ["ClusterRecord"], when: "Somebody deleted the ClusterRecord of a cluster that is there." },
  ValidationError: { type: "Warning", on: ["KubernetesCluster"], when: "Something is wrong with the spec: only another spec helps." },
  MachineCreationError: {
    type: "Warning",
    on: ["KubernetesCluster"],
    when: "A Machine, or a pool of them, could not be made or changed; it is tried again.",
  },
  FileSystemError: {
    type: "Warning",
    on: ["KubernetesCluster"],
    when: "A file below RESULTS_PATH could not be written; the cluster goes on without.",
  },
  OwnerReferenceError: { type: "Warning", on: ["KubernetesCluster"], when: "A Machine came back without its owner; it is tried again." },
  ApiError: { type: "Warning", on: ["KubernetesCluster"], when: "The API server refused a write, or did not answer; it is tried again." },
  BackupStarted: { type: "Normal", on: ["TalosEtcdBackup"], when: "A try to take the backup was begun; the note names machine and run." },
  BackupSucceeded: { type: "Normal", on: ["TalosEtcdBackup"], when: "The backup is stored, was read back and has its manifest." },
  BackupFailed: {
    type: "Warning",
    on: ["TalosEtcdBackup", "EtcdBackup"],
    when: "A backup ended without success; the note is the message of its condition.",
  },
  BackupProved: { type: "Normal", on: ["TalosEtcdBackup"], when: "A proof held that was due or asked for; the note says how." },
  ProofFailed: {
    type: "Warning",
    on: ["TalosEtcdBackup", "EtcdBackup"],
    when: "What is stored differs from what was recorded, is gone, or cannot be restored.",
  },
  BackupStoreSecretUnlabelled: {
    type: "Warning",
    on: ["TalosEtcdBackup"],
    when: "A Secret with the keys of the store was read that has no label talos-operator.dev/backup-store=true, or was refused for that.",
  },
  BackupRemoved: {
    type: "Normal",
    on: ["TalosEtcdBackup", "TalosEtcdBackupSchedule"],
    when: "Retention deleted a backup, or what is stored was removed with its object.",
  },
  BackupRetained: {
    type: "Warning",
    on: ["TalosEtcdBackup"],
    when: "The object went and what is stored was to go with it, but stays: the store does not answer or keeps it, or its keys are gone. When the namespace is deleted, the event is about the Namespace, in the namespace default.",
  },
  MissedRun: {
    type: "Warning",
    on: ["TalosEtcdBackupSchedule"],
    when: "A backup was due and could not begin in time; one is made up for all that were missed.",
  },
  RunSkipped: {
    type: "Normal",
    on: ["TalosEtcdBackupSchedule"],
    when: "A backup was due while the one before it was still running.",
  },
  BackupCreationFailed: {
    type: "Warning",
    on: ["TalosEtcdBackupSchedule", "EtcdBackup"],
    when: "A backup that was due could not be made.",
  },
  AddonInstalled: {
    type: "Normal",
    on: ["TalosClusterAddonRelease"],
    when: "A revision is deployed, or other objects are applied; the note names chart, version and revision, or how many.",
  },
  AddonFailed: {
    type: "Warning",
    on: ["TalosClusterAddonRelease"],
    when: "Helm or the cluster failed, or cannot be asked; the note says why.",
  },
  AddonRolledBack: {
    type: "Warning",
    on: ["TalosClusterAddonRelease"],
    when: "After a failed upgrade the newest good revision was deployed again, or one that a person asked for.",
  },
  AddonDrifted: {
    type: "Warning",
    on: ["TalosClusterAddonRelease"],
    when: "What runs is not as Helm deployed it; the note names objects and paths. Reported once for the same ones.",
  },
  AddonDriftReverted: { type: "Normal", on: ["TalosClusterAddonRelease"], when: "What others changed was taken back by a new revision." },
  AddonUninstalled: {
    type: "Normal",
    on: ["TalosClusterAddonRelease"],
    when: "The release was removed from the cluster; the note names what was kept.",
  },
  AddonLeft: {
    type: "Warning",
    on: ["TalosClusterAddonRelease"],
    when: "The object went and the release stays in the cluster: the cluster is gone, going, or does not answer.",
  },
} as const satisfies Readonly<Record<string, EventEntry>>;

/** A reason of {@link eventCatalogue}. */
export type EventReason = keyof typeof eventCatalogue;
