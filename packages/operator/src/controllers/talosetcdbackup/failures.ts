import type { ReadyReason } from "@talos-operator/api";
import { slotPart } from "@talos-operator/backup";
import type { BackupFacts, TaskFailed } from "@talos-operator/backup";

/** Why a try failed, in the words of the condition Ready, and whether another one may go better without a person. */
export interface Failure {
  readonly reason: ReadyReason;
  /** A sentence, with its full stop. No secret. */
  readonly message: string;
  readonly mayRepeat: boolean;
}

const STORE_UNREACHABLE: ReadonlySet<TaskFailed["store"]> = new Set([
  "unreachable",
  "slow-down",
  "failing",
  "cut-off",
  "conflict",
  "damaged",
]);

/** What a worker's failure means for the backup. */
export function failureOf({ reason, message, mayRepeat, store }: TaskFailed): Failure {
  return { reason: reasonOf(reason, store), message, mayRepeat };
}

function reasonOf(reason: TaskFailed["reason"], store: TaskFailed["store"]): ReadyReason {
  switch (reason) {
    case "source-unreachable":
    case "source-refused":
    case "source-changed":
      return "SourceUnreachable";
    case "snapshot-damaged":
      return "SnapshotDamaged";
    case "too-large":
      return "SnapshotTooLarge";
    case "store-failed":
      if (store === "full") return "StoreFull";
      return STORE_UNREACHABLE.has(store) ? "StoreUnreachable" : "StoreRefused";
    case "manifest-refused":
    case "proof-failed":
    case "backup-missing":
      return "StoreRefused";
    case "bad-recipient":
    case "bad-identity":
      return "SpecRefused";
    case "bad-task":
    case "timed-out":
      return "WorkerFailed";
  }
}

const HEX_64 = /^[0-9a-f]{64}$/;

/**
 * What is wrong with facts that a worker told; `undefined` = they agree with each other and with what was asked for. Whoever calls a backup ready on anything
 * less gives people a hope in place of a backup.
 */
export function inconsistency(facts: BackupFacts, slot: string, attempt: string, isFound: boolean): string | undefined {
  const counts = [facts.size, facts.storedSize, facts.revision, facts.totalKey, facts.liveKeys];
  if (facts.slot !== slot) return "it is about another slot";
  if (facts.attempt !== attempt && !isFound) return "it is about another try";
  if (!facts.object.includes(`/${slotPart(slot)}.`)) return "its object is not in the slot";
  if (!counts.every((count) => Number.isSafeInteger(count) && count >= 0)) return "a count is no number";
  // etcd's trailer of 32 bytes follows whole pages.
  if (facts.size < 544 || facts.size % 512 !== 32) return "its size is not that of a snapshot";
  if (facts.storedSize === 0 || facts.revision === 0) return "it is empty";
  if (facts.liveKeys > facts.totalKey) return "more keys live than there are";
  if (!HEX_64.test(facts.sha256) || !HEX_64.test(facts.storedSha256)) return "a checksum is missing";
  if (!/^[0-9a-f]{16}$/.test(facts.source.memberId)) return "its source is no member of etcd";
  const [begin, end] = [Date.parse(facts.startedAt), Date.parse(facts.endedAt)];
  return begin <= end ? undefined : "its times are wrong";
}
