import type { StorePlace, StoreKeys } from "./place.ts";

/**
 * What a backup worker is asked to do. A worker is a process of its own (a Job, a child process), for a snapshot and the S3 client do not fit into the
 * manager's memory. It knows nothing of Kubernetes and holds no right there: it gets this text and {@link TaskSecrets}, and answers with a `TaskResult`.
 *
 * Every task may be given again after a worker died anywhere: what is done is found in the store.
 */
export type BackupTask = TakeTask | ProveTask | RemoveTask;

/** Which cluster's backups: the folder in the store follows from it (`layout/keys.ts`). */
export interface BackupOwner {
  readonly namespace: string;
  readonly controlPlane: string;
  /** Talos `cluster.id`. */
  readonly clusterId: string;
}

interface TaskBase {
  readonly owner: BackupOwner;
  readonly place: StorePlace;
  /** When the worker gives up. Milliseconds from its start. */
  readonly timeoutMs: number;
}

/** Takes a snapshot of one member, stores it, reads it back, and writes its manifest. */
export interface TakeTask extends TaskBase {
  readonly kind: "take";
  /** One backup: its manifest is written at most once, whoever tries (`20261123T020000Z-nightly`). */
  readonly slot: string;
  /** This try. Data objects carry it; the manifest names the one that won. */
  readonly attempt: string;
  readonly source: SnapshotSource;
  /** `age1…` recipients; empty = stored in clear, and without keys. */
  readonly recipients: readonly string[];
  /** Versions that run, for people who restore: tags with `v`. */
  readonly talosVersion?: string;
  readonly kubernetesVersion?: string;
  /** Bytes a snapshot may have. Reached: `too-large` before anything is uploaded further. */
  readonly maxBytes: number;
  /** `restore`: in genuine etcd where a binary is there and new enough, else `read`. */
  readonly drill: "restore" | "read";
  /**
   * All runs of this cluster that were going on when the task was made, this one included. An open upload of any other run, begun before this one, has no owner and
   * is aborted. Absent: only uploads of this slot and those older than 24 hours are.
   */
  readonly running?: readonly { readonly slot: string; readonly attempt: string }[];
}

/** The member that is asked, as it was last seen. */
export interface SnapshotSource {
  readonly address: string;
  readonly port?: number;
  /** 16 lower-case hex digits. Another member behind the address is refused. */
  readonly memberId: string;
  /** Name of the TalosMachine. */
  readonly machine: string;
}

/** Compares what is stored with its manifest and, with an identity, restores it in a throw-away place. */
export interface ProveTask extends TaskBase {
  readonly kind: "prove";
  readonly slot: string;
  readonly drill: "restore" | "read";
  readonly known?: KnownBackup;
}

/**
 * What whoever gives the task knows of the backup from when it was taken. Where the keys of the cluster are gone, and with them the key of its manifests, a
 * manifest is believed that says the same: it can then lead to no other bytes than those.
 */
export interface KnownBackup {
  readonly object: string;
  /** Bytes. */
  readonly size: number;
  /** Lower-case hex, as in the manifest. */
  readonly sha256: string;
  /** Bytes. */
  readonly storedSize: number;
  readonly storedSha256: string;
}

/** Removes backups: objects of ours alone, the manifest first, so that no manifest ever names data that are gone. Given again it removes what is left. */
export interface RemoveTask extends TaskBase {
  readonly kind: "remove";
  readonly slots: readonly string[];
  /** With one slot alone. */
  readonly known?: KnownBackup;
}

/** What must not stand in a task. Given as a file that only the worker reads. */
export interface TaskSecrets {
  /** Machine API with the role `os:etcd:backup`; for `take`. PEM texts. */
  readonly talos?: { readonly ca: string; readonly certificate: string; readonly key: string };
  readonly store?: StoreKeys;
  /** Authenticates manifests: 32 bytes derived from the secrets bundle, base64. Absent: the cluster and its keys are gone, and the task has `known`. */
  readonly manifestKey?: string;
  /**
   * Secrets bundle and ClusterRecord, stored beside the snapshot for its recipients alone. For `take` with recipients; there is no record while the import of
   * the cluster is pending.
   */
  readonly clusterKeys?: { readonly bundle: string; readonly record?: string };
  /** `AGE-SECRET-KEY-1…`, for a `prove` that decrypts. */
  readonly identity?: string;
}
