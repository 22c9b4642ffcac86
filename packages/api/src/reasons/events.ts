import type { ConditionKind } from "./entry.ts";

/** One reason of an event. */
export interface EventEntry {
  readonly type: "Normal" | "Warning";
  /** Kinds of the objects that it is about. */
  readonly on: readonly ConditionKind[];
  /** When it is told, as one sentence. */
  readonly when: string;
  /** What one machine or several of them did, after their names: `joined the cluster`. Only where it is about machines. */
  readonly did?: string;
}

const machineAndParents = ["TalosMachine", "TalosControlPlane", "TalosWorker", "TalosCluster", "KubernetesCluster"] as const;
const turning = [...machineAndParents, "TalosEtcdBackupSchedule", "EtcdBackup"] as const;
const parents = ["TalosControlPlane", "TalosWorker", "TalosCluster", "KubernetesCluster"] as const;
const heads = ["TalosControlPlane", "TalosCluster", "KubernetesCluster"] as const;

/**
 * Every reason of an event, in the order of a cluster's life. Published reasons of the operators whose kinds these are keep their names.
 *
 * Each is told for a fact that was written down, or for a condition that turned, at the moment when that is stored: never twice, and never because something
 * was read again.
 */
export const eventCatalogue = {
  Created: { type: "Normal", on: ["TalosControlPlane"], when: "The cluster's keys, or the Secret with its kubeconfig, were made." },
  Imported: {
    type: "Normal",
    on: ["TalosControlPlane"],
    when: "The keys of a running cluster were copied into a Secret of this operator.",
  },
  MachineConfigured: {
    type: "Normal",
    on: parents,
    when: "A machine in maintenance mode took its configuration. Before etcd is bootstrapped only pools say so.",
    did: "took the configuration",
  },
  EtcdBootstrapped: {
    type: "Normal",
    on: heads,
    when: "The member list of a control plane proves that etcd was bootstrapped. Reported on the object that the control plane was made from, where there is one.",
  },
  MachineJoined: {
    type: "Normal",
    on: machineAndParents,
    when: "A machine runs with its configuration for the first time. Not reported while the control plane is not ready, as when a cluster is made.",
    did: "joined the cluster",
  },
  Ready: { type: "Normal", on: turning, when: "The condition Ready turned True; on a TalosMachine after it was not." },
  NotReady: { type: "Warning", on: turning, when: "The condition Ready is not True any more; the note is its message." },
  InvariantBroken: {
    type: "Warning",
    on: ["TalosControlPlane"],
    when: "A pass was held back because it would have broken a rule that always holds, which the note names: a fault of the operator.",
  },
  EtcdHealthy: { type: "Normal", on: ["TalosControlPlane"], when: "The condition EtcdHealthy is True again." },
  EtcdUnhealthy: {
    type: "Warning",
    on: ["TalosControlPlane"],
    when: "The condition EtcdHealthy turned False, or its reason became one that only a person releases; the note is its message.",
  },
  UpgradePending: {
    type: "Normal",
    on: parents,
    when: "The spec asks for another version than runs: the condition UpgradePending turned True, and the note is its message.",
  },
  SettingsChanged: {
    type: "Normal",
    on: machineAndParents,
    when: "New settings are in force on a machine, or in its META, without a reboot.",
    did: "runs with the new settings",
  },
  KubeletCertificateApproved: {
    type: "Normal",
    on: ["TalosControlPlane"],
    when: "The request of a kubelet for the certificate that it serves with was approved, because a person lets the operator do so.",
  },
  ConfigApplyFailed: { type: "Warning", on: machineAndParents, when: "A machine refused settings, or took them back; the note says why." },
  MachineDrained: {
    type: "Normal",
    on: machineAndParents,
    when: "The Node of a machine was drained, and the machine is disturbed now.",
    did: "was drained",
  },
  MachineRebooted: { type: "Normal", on: machineAndParents, when: "A machine is back from a reboot that was asked for.", did: "rebooted" },
  UpgradeStarted: {
    type: "Normal",
    on: heads,
    when: "The first machine of an upgrade of Talos is begun with. Reported on the object that the control plane was made from, where there is one.",
  },
  InstallerPulled: {
    type: "Normal",
    on: ["TalosMachine"],
    when: "The image of another Talos is on the machine, and is installed next.",
    did: "has the image of another Talos",
  },
  TalosInstalled: {
    type: "Normal",
    on: ["TalosMachine"],
    when: "Another Talos is on the machine, beside the one that runs, and waits for its boot.",
    did: "has another Talos installed",
  },
  LeadershipHandedOver: {
    type: "Normal",
    on: ["TalosMachine"],
    when: "A machine that led etcd had another member lead, before it boots another Talos or leaves.",
    did: "handed the leadership of etcd over",
  },
  TalosBooting: {
    type: "Normal",
    on: ["TalosMachine"],
    when: "The machine is asked to boot another Talos; it is drained by then.",
    did: "boots another Talos",
  },
  MachineUpgraded: {
    type: "Normal",
    on: machineAndParents,
    when: "A machine runs another Talos and is well with it.",
    did: "runs another Talos",
  },
  ControlPlaneOutage: {
    type: "Warning",
    on: heads,
    when: "etcd and the Kubernetes API of a cluster with one or two voters of etcd are about to be away while a control plane boots; the note says which, and whether there is a snapshot. Reported on the object that the control plane was made from, where there is one.",
  },
  MachineRolledBack: {
    type: "Warning",
    on: machineAndParents,
    when: "A machine runs the Talos of before again, after it was not well with another one or that was not asked for any more.",
    did: "runs the Talos of before again",
  },
  UpgradeEnded: {
    type: "Normal",
    on: heads,
    when: "Nothing of an upgrade of Talos is left to do, or its spec asks for something else. One that failed is reported by TalosVersionFailed instead.",
  },
  TalosVersionFailed: {
    type: "Warning",
    on: machineAndParents,
    when: "A machine failed with the Talos that was asked for, which goes to no other machine; the note says how.",
  },
  MachineReset: {
    type: "Normal",
    on: machineAndParents,
    when: "A machine was wiped: it answers in maintenance mode, or a container stopped.",
    did: "was reset",
  },
  MachineRemoved: {
    type: "Normal",
    on: machineAndParents,
    when: "A machine is no part of the cluster any more, wiped or not.",
    did: "left the cluster",
  },
  EtcdCareFailed: {
    type: "Warning",
    on: ["TalosControlPlane"],
    when: "A member would not defragment, or would not take an alarm back.",
  },
  MemberRemovalFailed: {
    type: "Warning",
    on: ["TalosControlPlane"],
    when: "A member could not leave etcd, or could not be taken out of it.",
  },
  DeleteFailed: { type: "Warning", on: ["TalosControlPlane"], when: "A machine refused its reset." },
  KubeconfigRejected: {
    type: "Warning",
    on: ["TalosControlPlane"],
    when: "What a control plane gives as kubeconfig does not lead into this cluster.",
  },
  Reconciling: {
    type: "Normal",
    on: ["TalosControlPlane"],
    when: "A step was done that has no reason of its own: a member left etcd, a Node was deleted, an annotation was answered.",
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

/** A reason that is about machines, of which several may be told in one event. */
export type MachineEventReason = {
  [R in EventReason]: (typeof eventCatalogue)[R] extends { readonly did: string } ? R : never;
}[EventReason];
