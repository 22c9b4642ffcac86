import { SnapshotError } from "./errors.ts";
import { u64BigEndian } from "./format/bytes.ts";
import { readRevision } from "./format/revision.ts";
import { type Member, readMember } from "./membership.ts";

/** What a database says about its store beside the keys. */
export interface StoreFacts {
  /** `3.6.0`; `undefined` from etcd before 3.6. */
  readonly storageVersion: string | undefined;
  /** `3.6.0`; `undefined` before the first one was agreed on. */
  readonly clusterVersion: string | undefined;
  /** Sorted by identifier; at most 64. */
  readonly members: readonly Member[];
  /** Hex identifiers, sorted; at most 1,000. */
  readonly removedMembers: readonly string[];
  /** The last entry of raft's log that is in the database; 0 when unknown. */
  readonly consistentIndex: number;
  /** Raft's; 0 when unknown. */
  readonly term: number;
  /** Revisions up to here are compacted; `undefined` when none are. */
  readonly compactRevision: number | undefined;
}

const metaKeys = new Set(["consistent_index", "term", "storageVersion", "finishedCompactRev"]);
const maxMembers = 64;
const maxRemoved = 1000;
const maxVersion = 64;

/** Entries of the buckets `meta`, `cluster`, `members` and `members_removed`, in any order, to facts. */
export class StoreFactsBuilder {
  readonly #members: Member[] = [];
  readonly #removed: string[] = [];
  readonly #meta = new Map<string, Uint8Array>();
  #clusterVersion: string | undefined;

  /** Ignores entries that facts do not come from. Keeps the bytes. */
  add(bucket: string, key: Uint8Array, value: Uint8Array): void {
    const name = Buffer.from(key).toString("latin1");
    if (bucket === "meta" && metaKeys.has(name)) this.#meta.set(name, value);
    else if (bucket === "cluster" && name === "clusterVersion") this.#clusterVersion = version(value);
    else if (bucket === "members" && this.#members.length < maxMembers) {
      const member = readMember(name, value);
      if (member === undefined) throw new SnapshotError("CORRUPT", "an entry of the bucket members is no member");
      this.#members.push(member);
    } else if (bucket === "members_removed" && this.#removed.length < maxRemoved) this.#removed.push(name.slice(0, 16));
  }

  build(): StoreFacts {
    const compacted = this.#meta.get("finishedCompactRev");
    return {
      storageVersion: version(this.#meta.get("storageVersion")),
      clusterVersion: this.#clusterVersion,
      members: this.#members.toSorted((left, right) => (left.id < right.id ? -1 : 1)),
      removedMembers: this.#removed.toSorted(),
      consistentIndex: this.#number("consistent_index"),
      term: this.#number("term"),
      compactRevision: compacted === undefined ? undefined : readRevision(compacted)?.main,
    };
  }

  #number(name: string): number {
    const bytes = this.#meta.get(name);
    return bytes?.length === 8 ? u64BigEndian(bytes, 0) : 0;
  }
}

function version(value: Uint8Array | undefined): string | undefined {
  if (value === undefined || value.length === 0 || value.length > maxVersion) return undefined;
  const text = Buffer.from(value).toString("latin1");
  return /^[\w.+-]+$/.test(text) ? text : undefined;
}
