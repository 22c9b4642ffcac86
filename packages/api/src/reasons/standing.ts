import { addonKinds } from "./addon.ts";
import { backupKinds } from "./backup.ts";
import type { ConditionEntry } from "./entry.ts";

/** Fields that are set and do nothing. */
export const fieldNotSupported = {
  meaning: "A field or an annotation is set that this release does not act on; the message names it.",
  kinds: ["KubernetesCluster", "TalosCluster", "TalosControlPlane", "TalosWorker", ...backupKinds, ...addonKinds],
  reasons: {
    FieldNotSupported: {
      status: "True",
      release: "none",
      when: "Such a field is set. A backup to a store of such a kind is not taken.",
      next: "Remove it, or accept that it has no effect. An annotation with another prefix than the one that is read: write it as the message says.",
    },
    ChangedAfterBackup: {
      status: "True",
      release: "none",
      when: "The spec of a TalosEtcdBackup was changed after the backup was taken, in a field that cannot act on it any more.",
      next: "Make another TalosEtcdBackup, or set the field back.",
    },
  },
} as const satisfies ConditionEntry;

/** An edit of a cluster that runs, of which nothing is carried out. */
export const editRefused = {
  meaning:
    "The newest spec of a cluster that runs is refused and nothing of it is carried out; the message names the field and what to do. Ready speaks of what runs.",
  kinds: ["KubernetesCluster", "TalosCluster", "TalosControlPlane", "TalosWorker"],
  reasons: {
    FixedProperty: {
      status: "True",
      release: "person",
      when: "The edit changes a property that a cluster keeps for its life, as its networks.",
      next: "Set the value back to the one that the message names.",
    },
    SpecInvalid: {
      status: "True",
      release: "person",
      when: "The spec asks for something that no cluster can be made of, as an even number of control planes.",
      next: "Correct the field that the message names.",
    },
  },
} as const satisfies ConditionEntry;

/** A release that a person asks for, and of which this release of the operator does not know that it exists. */
export const releaseUnknown = {
  meaning:
    "The spec asks for a release of Talos or Kubernetes that is newer than those that this operator knows; it is used as it is asked for.",
  kinds: ["KubernetesCluster", "TalosCluster", "TalosControlPlane"],
  reasons: {
    NewerThanKnown: {
      status: "True",
      release: "none",
      when: "Nothing of the cluster runs that release yet. An upgrade pulls it before anything of the first machine changes, and stops there if it does not exist.",
      next: "Check that the release exists, or correct the number.",
    },
  },
} as const satisfies ConditionEntry;

/** Where the Kubernetes API is reached, when nobody said where. */
export const endpointChosen = {
  meaning: "spec.endpoint is not set, and the operator took an address for it; the message names it and what depends on it.",
  kinds: ["TalosCluster", "TalosControlPlane"],
  reasons: {
    FirstMachine: {
      status: "True",
      release: "none",
      when: "The address of the first control plane was taken. It is kept until spec.endpoint names another one.",
      next: "Nothing, if the API may be out of reach while that machine is away. Otherwise set spec.endpoint to a virtual address or a load balancer.",
    },
    NoMachine: {
      status: "True",
      release: "none",
      when: "The address that is kept is no listed control plane's any more, or was met so when the cluster was imported.",
      next: "Keep the address with a machine, a virtual address or a load balancer that leads to the API.",
    },
  },
} as const satisfies ConditionEntry;

/** A version or an installer image in the spec that differs from the running one. */
export const upgradePending = {
  meaning:
    "The spec asks for another version or installer image than runs; the message says how far its way there is, or what is in the way.",
  kinds: ["KubernetesCluster", "TalosCluster", "TalosControlPlane", "TalosWorker"],
  reasons: {
    Upgrading: {
      status: "True",
      release: "itself",
      when: "Machines are being brought to the Talos that the spec asks for, one after the other; the message says which one is under way.",
      next: "-",
    },
    UpgradeWaits: {
      status: "True",
      release: "itself",
      when: "Another Talos is asked for, and something comes first or is in the way that passes; the message says what.",
      next: "See the message: it names what comes first.",
    },
    UpgradeBlocked: {
      status: "True",
      release: "person",
      when: "Another Talos is asked for, and the machine that is next is left alone until a person does something: its installer image is not that of the version or is not signed for its firmware, somebody installed a Talos on it that was not booted, or it is paused.",
      next: "Correct the image, boot the machine or take back what was installed on it, or remove its annotation reconcile-mode; the message says which.",
    },
    ApprovalRequired: {
      status: "True",
      release: "person",
      when: "The next control plane is one of two voters of etcd: while it boots, the Kubernetes API is away. Nothing is sent before a person approves that.",
      next: "Annotate the TalosControlPlane with talos-operator.dev/approve-outage and the version that the spec asks for, or add a third control plane first.",
    },
    VersionFailed: {
      status: "True",
      release: "person",
      when: "A machine failed with the Talos that is asked for: it goes to no further machine of the cluster.",
      next: "Ask for another version, or annotate the TalosControlPlane with talos-operator.dev/lift-quarantine and the version to try it again.",
    },
    VersionDiffers: {
      status: "True",
      release: "person",
      when: "Spec and running version differ and nothing is begun, or a patch names another version of a component than runs; the message names both, and the hops between, through the newest release of each minor, or why none leads there.",
      next: "Set the spec back. Kubernetes can be upgraded by other means: what all control planes run is noticed within a minute, and machines that join get it.",
    },
    DowngradeAsked: {
      status: "True",
      release: "person",
      when: "The spec asks for an older version than runs; the message names both, and the annotation that a downgrade needs. Kubernetes goes no minor back.",
      next: "Set the spec back to what runs. With the annotation the message shows the hops.",
    },
    ControlPlaneDecides: {
      status: "True",
      release: "person",
      when: "A worker pool asks for another Kubernetes version than its control plane, whose version decides for every pool.",
      next: "Set spec.kubeVersion of the pool to that of the TalosControlPlane.",
    },
    ImageDiffers: {
      status: "True",
      release: "person",
      when: "Machines run a Talos that is built from another schematic than the image that the spec asks for, and nothing is begun; or they were installed from another image, whose name shows no schematic, as their configuration says. The message names both. Machines that join get the new one.",
      next: "See the message. An image whose name shows no schematic comes with the next version that is asked for.",
    },
  },
} as const satisfies ConditionEntry;

/** A record that belongs to an earlier object of the same name. */
export const adoptionRequired = {
  meaning: "A cluster of this name exists already; everything is read-only until a person says that it is this one.",
  kinds: ["TalosControlPlane"],
  reasons: {
    ControlPlaneReplaced: {
      status: "True",
      release: "person",
      when: "The record names another UID: the object was moved, restored or created again.",
      next: "Annotate talos-operator.dev/adopt with the cluster.id, or use another name.",
    },
  },
} as const satisfies ConditionEntry;

/** Keys that are gone or changed. */
export const secretsLost = {
  meaning: "The secrets bundle cannot be used; everything is read-only.",
  kinds: ["TalosControlPlane"],
  reasons: {
    BundleMissing: {
      status: "True",
      release: "person",
      when: "The Secret the record names does not exist.",
      next: "Restore the Secret from a backup.",
    },
    BundleChanged: {
      status: "True",
      release: "person",
      when: "The Secret's content has another fingerprint than the record.",
      next: "Restore the original content.",
    },
    BundleUnreadable: {
      status: "True",
      release: "person",
      when: "The Secret's content is no secrets bundle.",
      next: "Restore the original content.",
    },
    BundleOfAnother: {
      status: "True",
      release: "person",
      when: "The Secret that was there before the cluster holds the keys of another cluster.",
      next: "Delete the Secret, and the cluster gets keys of its own.",
    },
    BundleUnproven: {
      status: "True",
      release: "itself",
      when: "The ClusterRecord of a cluster that exists is gone, and no control plane shows yet that it runs etcd with the keys in the Secret.",
      next: "Nothing when these are the keys: one control plane that runs etcd proves it, and has to be on the list. Else restore the original Secret.",
    },
    MachinesConfigured: {
      status: "True",
      release: "person",
      when: "ClusterRecord and bundle Secret are gone, and machines hold a configuration with those keys, or may hold one.",
      next: "Restore both from a backup. The runbook secrets-lost says what is left without one.",
    },
  },
} as const satisfies ConditionEntry;

/** What somebody deleted and the operator holds on to. */
export const deletionHeld = {
  meaning: "Somebody deleted what the operator knows about a cluster that is there; its finalizers hold it, for it cannot be made again.",
  kinds: ["TalosControlPlane", "ClusterRecord"],
  reasons: {
    KeysOfPreserved: {
      status: "True",
      release: "person",
      when: "On a ClusterRecord: it is being deleted, often with its namespace, and its cluster was deleted with deletionPolicy preserve and may still run.",
      next: "Save the Secret and the ClusterRecord, then annotate the ClusterRecord with talos-operator.dev/release-keys and the cluster.id; the runbook preserved-keys says how.",
    },
    RecordDeleted: {
      status: "True",
      release: "none",
      when: "The ClusterRecord is being deleted, alone or with the Secret of the keys, and the cluster is not.",
      next: "Nothing: it is used as before, and goes with its cluster. Never take its finalizer off while the cluster is there. The runbook record-deleted says how to take the deletion back.",
    },
    BundleDeleted: {
      status: "True",
      release: "none",
      when: "The Secret with the cluster's keys is being deleted, and the cluster is not.",
      next: "As with RecordDeleted.",
    },
  },
} as const satisfies ConditionEntry;

/** Access Secrets that are about to be of no use. */
export const accessNotRenewed = {
  meaning:
    "The kubeconfig or talosconfig in a Secret is about to end or has ended, or is not there, and something is in the way of a new one.",
  kinds: ["TalosControlPlane"],
  reasons: {
    SecretImmutable: {
      status: "True",
      release: "person",
      when: "Somebody made the Secret immutable, and its certificate is about to end.",
      next: "Delete the Secret: it is made anew.",
    },
    WriteRefused: {
      status: "True",
      release: "person",
      when: "The API server refuses the new Secret.",
      next: "Correct what the message names: a right, a quota or an admission rule.",
    },
    KubeconfigRejected: {
      status: "True",
      release: "person",
      when: "What control planes give as kubeconfig does not lead administrators into this cluster, or does more than that.",
      next: "Find out what runs on the machine that the message names.",
    },
    NotGiven: {
      status: "True",
      release: "itself",
      when: "Less than 15 days of the certificate are left, or a sixth of a shorter life, and nothing replaced it.",
      next: "Look at the control planes.",
    },
  },
} as const satisfies ConditionEntry;

/** Deletion on its way. */
export const deleting = {
  meaning: "The object is being deleted, or a pool of the control plane is; the message says what is waited for.",
  kinds: ["KubernetesCluster", "TalosCluster", "TalosControlPlane", "TalosWorker", "TalosMachine", ...backupKinds],
  reasons: {
    RemovingBackup: {
      status: "True",
      release: "itself",
      when: "deletionPolicy is delete, and what is stored is being removed. A store that does not answer, or keys that are gone, do not hold the object up.",
      next: "-",
    },
    WaitingForRun: { status: "True", release: "itself", when: "A run of the backup is still open; it is stopped.", next: "-" },
    WaitingForChildren: {
      status: "True",
      release: "itself",
      when: "Objects made for this one are still there.",
      next: "See the message: it names what is waited for, and who releases it.",
    },
    WaitingForWorkers: {
      status: "True",
      release: "itself",
      when: "Workers go before the control plane.",
      next: "See the message: it names what is waited for, and who releases it.",
    },
    Draining: {
      status: "True",
      release: "itself",
      when: "Pods are to leave a worker before it is wiped.",
      next: "See the condition Draining.",
    },
    Resetting: { status: "True", release: "itself", when: "A machine is being wiped, or the proof of it is awaited.", next: "-" },
    MachineUnreachable: {
      status: "True",
      release: "person",
      when: "A machine that must be wiped does not answer.",
      next: "Bring it back, or give it up with abandon-machine and its UUID.",
    },
    ConfirmationRequired: {
      status: "True",
      release: "person",
      when: "The namespace or the CRD is going away, so nothing is wiped without a person's approval.",
      next: "Annotate confirm-reset with the object's name, or set deletionPolicy to preserve.",
    },
    Blocked: { status: "True", release: "person", when: "Something forbids going on.", next: "See the message." },
  },
} as const satisfies ConditionEntry;

/** Machines on their way out of a cluster that stays. */
export const removing = {
  meaning:
    "Machines that the spec no longer lists are taken out of the cluster, one control plane at a time; the message says what is waited for.",
  kinds: ["TalosControlPlane", "TalosWorker"],
  reasons: {
    WaitingForReplacement: {
      status: "True",
      release: "itself",
      when: "A control plane that is listed has not joined etcd yet; it joins before another one leaves.",
      next: "Boot the machine the message names, or take it out of the list.",
    },
    WaitingForQuorum: {
      status: "True",
      release: "itself",
      when: "Without this member etcd would lose its quorum, or its members do not agree.",
      next: "Look at the control planes the message names.",
    },
    WaitingForTurn: {
      status: "True",
      release: "itself",
      when: "Another machine is being disturbed, or too many of the pool are down.",
      next: "-",
    },
    WaitingForSnapshot: {
      status: "True",
      release: "itself",
      when: "A snapshot of etcd is taken before a control plane that runs leaves, or cannot be taken and is required.",
      next: "See the condition SnapshotBeforeRisk.",
    },
    Draining: {
      status: "True",
      release: "itself",
      when: "Pods are being evicted from the machine's node.",
      next: "See the message for the pod that holds it up.",
    },
    Resetting: { status: "True", release: "itself", when: "The machine is being wiped, or the proof of it is awaited.", next: "-" },
    RemovingMember: {
      status: "True",
      release: "itself",
      when: "A control plane that left the spec does not answer: its member is being removed from etcd, or is about to be.",
      next: "-",
    },
    MachineUnreachable: {
      status: "True",
      release: "person",
      when: "A machine that must be wiped does not answer. The rest of the cluster goes on without it.",
      next: "Bring it back, or give it up with abandon-machine and its UUID.",
    },
    ConfirmationRequired: {
      status: "True",
      release: "person",
      when: "Nothing is wiped without a person's approval: the namespace or a CRD is going away, the pool is gone, unsound or lists no machine any more, or deletionPolicy is preserve.",
      next: "See the message.",
    },
  },
} as const satisfies ConditionEntry;

/** An object that is left alone. */
export const paused = {
  meaning: "The annotation reconcile-mode keeps the operator from acting on the object.",
  kinds: ["KubernetesCluster", "TalosCluster", "TalosControlPlane", "TalosWorker", ...backupKinds, ...addonKinds],
  reasons: {
    ReconcileModeDisable: { status: "True", release: "person", when: "The annotation says disable.", next: "Remove the annotation." },
    ReconcileModeDryRun: { status: "True", release: "person", when: "The annotation says dryrun.", next: "Remove the annotation." },
    ReconcileModeImport: {
      status: "True",
      release: "none",
      when: "The annotation says import, and the cluster was not taken over yet.",
      next: "See the condition Imported of the TalosControlPlane.",
    },
  },
} as const satisfies ConditionEntry;

/** What would be done with an object that is only tried. */
export const dryRun = {
  meaning:
    "The annotation reconcile-mode says dryrun; the message holds the plan: every action in order, with machines and effect class, or what an addon would change in its cluster.",
  kinds: ["TalosCluster", "TalosControlPlane", "TalosWorker", "TalosClusterAddonRelease"],
  reasons: {
    ActionsPlanned: {
      status: "True",
      release: "none",
      when: "Something would be done; nothing of it is.",
      next: "Remove the annotation to have it done, or correct the spec.",
    },
    NothingToDo: {
      status: "False",
      release: "none",
      when: "Nothing would be done.",
      next: "Remove the annotation, or change what the message says is waited for.",
    },
    NotLookedYet: {
      status: "Unknown",
      release: "none",
      when: "The machines were not read yet, or Helm was not asked yet.",
      next: "Nothing; the plan follows in a moment.",
    },
    PlanUnknown: {
      status: "Unknown",
      release: "none",
      when: "What an addon would change is not known; the message says why.",
      next: "See the message. The plan is tried again every five minutes, and at once after an edit.",
    },
  },
} as const satisfies ConditionEntry;

/** Whether a cluster that others made was taken over. */
export const imported = {
  meaning: "A cluster that ran before this operator knew it was taken over; its keys and machines were left as they were.",
  kinds: ["TalosControlPlane"],
  reasons: {
    TakenOver: { status: "True", release: "none", when: "It was verified and is looked after since.", next: "-" },
    Verifying: {
      status: "Unknown",
      release: "itself",
      when: "Machines, keys or members of etcd are not known yet.",
      next: "Bring back the machines the message names.",
    },
    BundleNotFound: {
      status: "False",
      release: "person",
      when: "The keys of the running cluster are nowhere to be found.",
      next: "Put them into a Secret and name it with talos-operator.dev/import-bundle.",
    },
    BundlesDiffer: {
      status: "False",
      release: "person",
      when: "Two places hold different keys.",
      next: "Find out which keys the machines hold, and remove the others.",
    },
    Refused: {
      status: "False",
      release: "person",
      when: "Something does not fit, and no approval helps.",
      next: "Correct what the message names.",
    },
    ApprovalRequired: {
      status: "False",
      release: "person",
      when: "The cluster is verified, and differs from the spec.",
      next: "Annotate talos-operator.dev/import-approve with the hash in the message, or remove the differences.",
    },
  },
} as const satisfies ConditionEntry;

/** Another operator that is at work on the same cluster. */
export const anotherOperatorActive = {
  meaning: "Another operator is at work on this cluster; nothing is done until it is stopped.",
  kinds: ["KubernetesCluster", "TalosControlPlane"],
  reasons: {
    Seen: {
      status: "True",
      release: "person",
      when: "It wrote status or finalizers within ten minutes, or, for a cluster that is to be or was taken over, its lease or Deployment is alive.",
      next: "Scale its Deployment to 0; ten minutes after its last write this operator goes on by itself.",
    },
  },
} as const satisfies ConditionEntry;

/** A snapshot of etcd before control planes that run leave or are upgraded. */
export const snapshotBeforeRisk = {
  meaning:
    "There is a snapshot of etcd from before what can cost its quorum or its data: control planes that run and are about to leave or to get another Talos. The annotation snapshot-before-risk says whether it is required, preferred or off.",
  kinds: ["TalosControlPlane"],
  reasons: {
    SnapshotTaken: { status: "True", release: "none", when: "It is stored; the message names the TalosEtcdBackup.", next: "-" },
    SnapshotAwaited: {
      status: "False",
      release: "itself",
      when: "It is being taken, or is taken as soon as nothing else is in the way of the first of them.",
      next: "-",
    },
    WentOnWithout: {
      status: "False",
      release: "none",
      when: "It was preferred and could not be taken, with one retry: it goes on without it. The message names the TalosEtcdBackup and why.",
      next: "See to the store. With snapshot-before-risk: required a removal or an upgrade waits for it.",
    },
    NoStore: {
      status: "False",
      release: "none",
      when: "The cluster has no TalosEtcdBackupSchedule, or only paused ones, whose store could be used: nothing is taken.",
      next: "Make a TalosEtcdBackupSchedule of the cluster.",
    },
    StoreMissing: {
      status: "False",
      release: "person",
      when: "It is required, and the cluster has no TalosEtcdBackupSchedule, or only paused ones.",
      next: "Make a TalosEtcdBackupSchedule of the cluster, or set snapshot-before-risk to preferred or off.",
    },
    StoreFails: {
      status: "False",
      release: "itself",
      when: "It is required and could not be taken; it is tried again five minutes later.",
      next: "See to the store that the message names, or set snapshot-before-risk to preferred or off.",
    },
    SwitchedOff: { status: "False", release: "none", when: "The annotation says off: none is taken.", next: "-" },
    WordUnknown: {
      status: "False",
      release: "person",
      when: "The annotation says no known value. It counts as required until it is corrected.",
      next: "Set it to required, preferred or off.",
    },
  },
} as const satisfies ConditionEntry;
