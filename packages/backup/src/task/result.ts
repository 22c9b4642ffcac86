import type { ObjectStoreFailureKind } from "@talos-operator/ports";
import type { BackupFacts } from "../manifest/facts.ts";

/** What a worker tells in the end, as JSON of at most 4,096 bytes: it must fit into a termination message. Holds no secret. */
export type TaskResult = TakeResult | ProveResult | RemoveResult | TaskFailed;

export interface TakeResult {
  readonly kind: "taken";
  readonly facts: BackupFacts;
  readonly proof: Proof;
  /** The manifest was there already: an earlier try had won. */
  readonly found: boolean;
}

export interface ProveResult {
  readonly kind: "proved";
  readonly proof: Proof;
  readonly facts: BackupFacts;
}

export interface RemoveResult {
  readonly kind: "removed";
  readonly slots: readonly string[];
  /** Slots whose bytes a bucket with versions or object lock keeps. */
  readonly kept: readonly string[];
}

/** What was shown of a backup, and how. */
export interface Proof {
  /** `restored`: genuine etcd opened it with the recorded revision and key count; `read`: every page was read by ourselves; `stored`: the stored bytes have the recorded checksum. */
  readonly how: "restored" | "read" | "stored";
  /** `writing`: on the plain bytes while they were stored; `store`: on what the store gave back. */
  readonly on: "writing" | "store";
  /** Milliseconds it took to restore. */
  readonly restoreMs?: number;
  /** Why it is no stronger one. */
  readonly weakerBecause?: "no-etcd" | "etcd-too-old" | "no-identity" | "no-room";
}

export interface TaskFailed {
  readonly kind: "failed";
  readonly reason: TaskFailureReason;
  /** A sentence for people: what is wrong, then what would release it. */
  readonly message: string;
  /** Whether another try may go better without a person. */
  readonly mayRepeat: boolean;
  /** Set when the store was the cause. */
  readonly store?: ObjectStoreFailureKind;
}

/**
 * - `source-unreachable`, `source-refused`: the member could not be asked; `source-changed`: another member, no voter, or an alarm there
 * - `snapshot-damaged`: cut off or with a wrong hash; `too-large`: above `maxBytes` or the room on disk
 * - `store-failed`: see `store`
 * - `proof-failed`: what is stored differs from its manifest, or cannot be restored
 * - `manifest-refused`: a manifest that was not written under this cluster's keys stands in the slot
 * - `backup-missing`: no manifest in the slot, or its data are gone
 * - `bad-recipient`, `bad-identity`, `bad-task`: input that can never succeed
 * - `timed-out`: the task's time was over
 */
export type TaskFailureReason =
  | "source-unreachable"
  | "source-refused"
  | "source-changed"
  | "snapshot-damaged"
  | "too-large"
  | "store-failed"
  | "proof-failed"
  | "manifest-refused"
  | "backup-missing"
  | "bad-recipient"
  | "bad-identity"
  | "bad-task"
  | "timed-out";
