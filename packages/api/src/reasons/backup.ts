import type { ConditionEntry } from "./entry.ts";

/** Kinds that are about backups. */
export const backupKinds = ["TalosEtcdBackup", "TalosEtcdBackupSchedule", "EtcdBackup"] as const;

/** What stands between a backup and its end: reasons of `Ready` on the kinds of backups. */
export const backupReasons = {
  BackupInProgress: { status: "False", release: "itself", when: "A backup is being taken, or its next try is waited for.", next: "-" },
  BackupFailed: {
    status: "False",
    release: "person",
    when: "The backup was tried as often as it may be, or what stopped it cannot go away; the message says what. On a schedule: its last backup.",
    next: "Correct what the message names and make another TalosEtcdBackup. A schedule goes on by itself.",
  },
  WaitingForDisruption: {
    status: "False",
    release: "itself",
    when: "A control plane of the cluster is being disturbed: a snapshot waits for that for ten minutes at most.",
    next: "-",
  },
  WaitingForTurn: {
    status: "False",
    release: "itself",
    when: "As many backups run as may at once, or another run of this backup or of this cluster is not ended.",
    next: "-",
  },
  KeysNotReadable: {
    status: "False",
    release: "person",
    when: "A Secret that the backup names is not there, lacks a key, holds no text or is of another use (a token, a certificate, keys of a cluster): the keys of the store, or the identity of the drill.",
    next: "Make the Secret, of type Opaque, in the namespace of the backup.",
  },
  BackupStoreSecretUnlabelled: {
    status: "False",
    release: "person",
    when: "A Secret with the keys of the store has no label talos-operator.dev/backup-store=true, and the operator runs with --require-backup-store-label.",
    next: "Label the Secret, if backups may use it: kubectl label secret NAME talos-operator.dev/backup-store=true.",
  },
  SpecRefused: {
    status: "False",
    release: "person",
    when: "The spec holds something that the schema takes and that cannot be carried out; the message names each field.",
    next: "Correct what the message names.",
  },
  FieldNotSupported: {
    status: "False",
    release: "person",
    when: "The spec asks for a kind of store that this release does not serve.",
    next: "Use s3: most stores have an endpoint that speaks it. Or a directory.",
  },
  InsecureObjectStorage: {
    status: "False",
    release: "person",
    when: "The endpoint is http, or its certificate is not to be checked, and the operator does not run with --allow-insecure-object-storage.",
    next: "Use https, and caBundle for authorities of your own. Or run the operator with the flag: anyone on the network path can then read every backup.",
  },
  StoreUnreachable: {
    status: "False",
    release: "itself",
    when: "The store does not answer, breaks off, asks to be asked less often or has a fault of its own. It is tried again.",
    next: "Check the endpoint and the network between operator and store.",
  },
  StoreRefused: {
    status: "False",
    release: "person",
    when: "The store answers and refuses: wrong or ended keys, a missing right, no such bucket, another clock or region, a certificate that is not trusted, http where it speaks https, or the bucket named twice.",
    next: "Correct what the message names: docs/howto/backups.md lists the rights that are needed.",
  },
  StoreFull: {
    status: "False",
    release: "person",
    when: "The store has no room, or a quota is used up.",
    next: "Make room, or lower what retention keeps.",
  },
  SourceUnreachable: {
    status: "False",
    release: "itself",
    when: "No healthy voter of etcd answers, or the one that was asked broke off or is another by now.",
    next: "Bring back the control planes the message names.",
  },
  SnapshotDamaged: {
    status: "False",
    release: "itself",
    when: "What the member sent is cut off or has another hash than it says. Nothing of it is kept; another try is made.",
    next: "If it comes back, check the disk of the machine the message names.",
  },
  SnapshotTooLarge: {
    status: "False",
    release: "person",
    when: "The snapshot is larger than spec.maxSize, or than the room of the backup Job.",
    next: "Raise spec.maxSize, or the chart's backup.scratch.size; or defragment etcd.",
  },
  WorkerFailed: {
    status: "False",
    release: "itself",
    when: "The Job or child process of the backup could not be started, or ended without a result. It is tried again.",
    next: "Look at the Job the message names: an image, a quota or its memory limit may be in the way.",
  },
  NamespaceTerminating: {
    status: "False",
    release: "none",
    when: "The namespace is going away: no backup is begun.",
    next: "-",
  },
  InvalidSchedule: {
    status: "False",
    release: "person",
    when: "spec.schedule is no cron expression of five fields, or spec.timeZone is none that is known.",
    next: "Correct what the message names.",
  },
  NeverFires: {
    status: "False",
    release: "person",
    when: "No time in the next years matches spec.schedule, for example the 30th of February.",
    next: "Correct spec.schedule.",
  },
  TooFrequent: {
    status: "False",
    release: "person",
    when: "Backups are due faster than one is taken, as the last ones show. One that is taken in time ends it; one a day is taken to see.",
    next: "Make spec.schedule rarer than the time that the message names.",
  },
  BackupCreationFailed: {
    status: "False",
    release: "itself",
    when: "The API server refused the TalosEtcdBackup that was due, or did not answer. It is tried again.",
    next: "See the message: a quota, an admission rule or a right may be in the way.",
  },
  SchedulePaused: { status: "False", release: "person", when: "spec.paused is true.", next: "Set it to false." },
} as const satisfies ConditionEntry["reasons"];

/** Reasons of `Ready` that say that a backup, or a schedule, is as asked for. */
export const backupReadyReasons = {
  BackupSucceeded: { status: "True", release: "none", when: "The backup is stored, was read back and has its manifest.", next: "-" },
  ScheduleActive: { status: "True", release: "none", when: "The next backup is due at status.nextScheduleTime.", next: "-" },
} as const satisfies ConditionEntry["reasons"];

/** Reasons of the published `Progressing` on backups. */
export const backupProgress = {
  BackupInProgress: { status: "True", release: "itself", when: "A backup is being taken, or waits for its turn.", next: "See Ready." },
  BackupSucceeded: { status: "False", release: "none", when: "The backup ended well.", next: "-" },
  BackupFailed: { status: "False", release: "none", when: "The backup ended without success.", next: "See Ready." },
} as const satisfies ConditionEntry["reasons"];

/** The published word for a backup or a schedule that does not get on. */
export const failed = {
  meaning: "The last thing that was tried failed: the backup, or the next backup of a schedule. It turns False again when that goes well.",
  kinds: backupKinds,
  reasons: {
    BackupFailed: {
      status: "True",
      release: "person",
      when: "The backup ended without success; on a schedule its last backup did.",
      next: "See Ready.",
    },
    InvalidSchedule: {
      status: "True",
      release: "person",
      when: "spec.schedule or spec.timeZone cannot be understood.",
      next: "See Ready.",
    },
    NeverFires: { status: "True", release: "person", when: "No time matches spec.schedule.", next: "See Ready." },
    TooFrequent: { status: "True", release: "person", when: "Backups are due faster than one is taken.", next: "See Ready." },
    BackupCreationFailed: { status: "True", release: "itself", when: "The backup that was due could not be made.", next: "See Ready." },
    BackupInProgress: { status: "False", release: "none", when: "A backup is on its way, and none has failed since.", next: "-" },
    NotStarted: { status: "False", release: "none", when: "Nothing is tried before a person corrects something.", next: "See Ready." },
    BackupSucceeded: { status: "False", release: "none", when: "The last backup ended well.", next: "-" },
    ScheduleActive: { status: "False", release: "none", when: "Nothing is in the way of the next backup.", next: "-" },
  },
} as const satisfies ConditionEntry;

/** Whether somebody restored it. */
export const proved = {
  meaning:
    "The backup was shown to hold what was recorded of it; the message says how, on which bytes and when. On a schedule: its newest backup.",
  kinds: backupKinds,
  reasons: {
    Restored: {
      status: "True",
      release: "none",
      when: "Genuine etcd was started on it in a throw-away place, with the recorded revision and key count: on the plain bytes while they were stored (AtWriting), or on what the store gave back (FromStore).",
      next: "-",
    },
    ReadOnly: {
      status: "True",
      release: "none",
      when: "Every page of the database was read and counted without etcd, for no etcd binary or no room is there.",
      next: "Use the image of a release, which has etcd, or give the Job room.",
    },
    EtcdTooOld: {
      status: "True",
      release: "none",
      when: "Every page was read, but not restored: the etcd of this operator is older than the snapshot's storage version.",
      next: "Use a release of the operator with a newer etcd.",
    },
    BytesCompared: {
      status: "True",
      release: "none",
      when: "What is stored has the recorded checksum. It is encrypted, and the operator has no identity to restore it.",
      next: "Give drill.identitySecretRef an identity if later proofs are to restore it.",
    },
    ProofFailed: {
      status: "False",
      release: "person",
      when: "What is stored differs from what was recorded, is gone, or cannot be restored.",
      next: "Take another backup at once and keep it; then see the runbook backup-proof-failed.",
    },
    NotProvedYet: { status: "Unknown", release: "none", when: "The backup is not there yet, or no proof was tried.", next: "-" },
    ProofNotRun: {
      status: "Unknown",
      release: "itself",
      when: "A proof was due and could not be tried: the store does not answer, or a Secret is not there. It says nothing about the backup.",
      next: "See the message; it is tried again.",
    },
  },
} as const satisfies ConditionEntry;

/** A backup that cannot bring back a cluster by itself. */
export const keysNotBackedUp = {
  meaning:
    "The cluster's keys are not in the backup. Without them a snapshot gives data, not the cluster; machines would have to be made anew.",
  kinds: backupKinds,
  reasons: {
    NoRecipients: {
      status: "True",
      release: "none",
      when: "spec.encryption.recipients is empty: keys leave the cluster only encrypted to somebody.",
      next: "Make a key pair with age-keygen, keep its identity outside the cluster, and name its recipient. docs/howto/backups.md shows it.",
    },
  },
} as const satisfies ConditionEntry;

/** Keys of a store that nobody marked as such. */
export const backupStoreSecretUnlabelled = {
  meaning:
    "A Secret with the keys of the store has no label talos-operator.dev/backup-store=true. A user who may write backups, and not read Secrets, can send it to any endpoint. The condition is about the last time that the Secret was read.",
  kinds: backupKinds,
  reasons: {
    LabelMissing: {
      status: "True",
      release: "none",
      when: "The Secret is used all the same; with --require-backup-store-label it is refused.",
      next: "Label the Secret, if backups may use it, and run the operator with the flag.",
    },
  },
} as const satisfies ConditionEntry;

/** A way to the store that others can read or change. */
export const insecureObjectStorage = {
  meaning: "The way to the store is not protected. Said for as long as it is so, whether or not the operator allows it.",
  kinds: backupKinds,
  reasons: {
    CertificateNotChecked: {
      status: "True",
      release: "none",
      when: "insecureSkipTLSVerify is true.",
      next: "Give the store's authority as caBundle, and take the field away.",
    },
    PlainText: { status: "True", release: "none", when: "The endpoint is http.", next: "Give the store a certificate, and write https." },
  },
} as const satisfies ConditionEntry;
