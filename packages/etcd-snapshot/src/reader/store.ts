import { SnapshotError } from "../errors.ts";
import { readKeyValue } from "../format/key-value.ts";
import { readRevision } from "../format/revision.ts";
import { hashKey, keyHash } from "../statistics/key-hash.ts";
import { LiveKeys } from "../statistics/live-keys.ts";
import type { Database } from "./database.ts";

/** One revision of a key, as the bucket `key` has it. Its bytes are good until the next one. */
export interface StoredRevision {
  readonly main: number;
  readonly sub: number;
  readonly isDeletion: boolean;
  readonly key: Uint8Array;
  /** 0 for a deletion. */
  readonly createRevision: number;
  readonly modRevision: number;
  readonly version: number;
  readonly value: Uint8Array;
}

/** All revisions that the store keeps, oldest first, or newest first. Throws `CORRUPT` for an entry that is none. */
export function* revisionsOf(database: Database, options: { readonly isBackwards?: boolean } = {}): Generator<StoredRevision, void> {
  for (const entry of database.entries("key", options)) {
    const revision = readRevision(entry.key);
    const keyValue = readKeyValue(entry.value);
    if (revision === undefined || keyValue === undefined) throw new SnapshotError("CORRUPT", "an entry that is no revision");
    yield { ...revision, ...keyValue };
  }
}

/** More keys than this take more than half a gigabyte to tell apart. */
const maxKeys = 32 * 1024 * 1024;
const firstCapacity = 4096;

/** The newest revision of each key that is live, newest first. Keys are told apart by hashes of 64 bits, eight bytes a key; `LIMIT_EXCEEDED` above 32 million. */
export function* liveKeysOf(database: Database, told?: (revision: StoredRevision) => void): Generator<StoredRevision, void> {
  let seen = new LiveKeys(firstCapacity);
  let capacity = firstCapacity;
  for (const revision of revisionsOf(database, { isBackwards: true })) {
    told?.(revision);
    if (seen.size >= capacity) {
      if (capacity >= maxKeys) throw new SnapshotError("LIMIT_EXCEEDED", `more than ${maxKeys} keys`);
      capacity *= 4;
      seen = seen.grown(capacity);
    }
    hashKey(revision.key, 0, revision.key.length);
    if (seen.set(keyHash.low, keyHash.high, true) && !revision.isDeletion) yield revision;
  }
}
