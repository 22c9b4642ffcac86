import { createHash } from "node:crypto";

import { SnapshotError } from "../errors.ts";
import { bytesField, varintField } from "../format/protobuf.ts";
import { writeRevision } from "../format/revision.ts";
import { type DatabaseBucket, type DatabaseEntry, writeDatabase } from "./database.ts";

/** One revision of a key that the database keeps. */
export interface SnapshotKey {
  readonly key: string | Uint8Array;
  /** Of a deletion it is left out of the database. Default empty. */
  readonly value?: string | Uint8Array;
  /** Of the write that created the key; of a deletion not written. Default `modRevision`. */
  readonly createRevision?: number;
  /** At least 2, as in etcd, whose first write makes revision 2. Several entries with one `modRevision` are one transaction, in their order. */
  readonly modRevision: number;
  /** How often the key was written since it was created, from 1. Default 1. */
  readonly version?: number;
  /** Default none. */
  readonly lease?: bigint;
  /** The key was deleted at `modRevision`. Default false. */
  readonly tombstone?: boolean;
}

export interface SnapshotMember {
  /** From 1, 64 bits. */
  readonly id: bigint;
  /** Empty for a member that has not started yet. */
  readonly name: string;
  readonly peerURLs: readonly string[];
  readonly clientURLs: readonly string[];
  /** Default false. */
  readonly isLearner?: boolean;
}

/** What etcd keeps about voters, as raft has it. */
export interface SnapshotConfState {
  readonly voters: readonly bigint[];
  readonly learners?: readonly bigint[];
}

export interface SnapshotLease {
  readonly id: bigint;
  /** Seconds, as granted. */
  readonly ttlSeconds: number;
}

export interface EtcdSnapshotContents {
  /** In any order. */
  readonly keys: readonly SnapshotKey[];
  /**
   * The store's revision. Default: the highest `modRevision`, and 1 for an empty store. A higher one stands for changes whose keys are gone by now; etcd
   * knows its revision from the newest change alone, so a deletion of a key `revision`, which never was, is written there.
   */
  readonly revision?: number;
  /** Revisions up to here are compacted. Default none. */
  readonly compactRevision?: number;
  readonly members: readonly SnapshotMember[];
  /** Members that must not come back. */
  readonly removedMembers?: readonly bigint[];
  /** `3.6.0`; written by etcd 3.6 and newer alone. Default none. */
  readonly storageVersion?: string;
  /** `3.6.0` */
  readonly clusterVersion: string;
  /** Default: `members`, by `isLearner`. */
  readonly confState?: SnapshotConfState;
  /** Raft's, from 1. */
  readonly term: number;
  /** The last entry of raft's log that is in the database, from 1. */
  readonly consistentIndex: number;
  readonly leases?: readonly SnapshotLease[];
  /** Bytes. Default 4,096. */
  readonly pageSize?: number;
}

/**
 * A snapshot as etcd 3.5 or 3.6 streams it: the database and its SHA-256. Equal input gives equal bytes.
 *
 * The identifier of the cluster is not part of it: etcd keeps that in its log, and a restore makes a new one. Throws `INVALID_INPUT`.
 */
export function writeEtcdSnapshot(contents: EtcdSnapshotContents): Uint8Array {
  const database = writeDatabase({
    buckets: bucketsOf(contents),
    ...(contents.pageSize === undefined ? {} : { pageSize: contents.pageSize }),
  });
  return Buffer.concat([database, sha256Of(database)]);
}

/** A piece at a time: what Node hashes at once is less than 2 GiB. */
function sha256Of(bytes: Uint8Array): Uint8Array {
  const hash = createHash("sha256");
  for (let at = 0; at < bytes.length; at += 2 ** 30) hash.update(bytes.subarray(at, at + 2 ** 30));
  return hash.digest();
}

function bucketsOf(contents: EtcdSnapshotContents): readonly DatabaseBucket[] {
  const { members, leases = [], removedMembers = [] } = contents;
  return [
    { name: "alarm", entries: [] },
    { name: "auth", entries: [entry("authRevision", bigEndian(1))] },
    { name: "authRoles", entries: [] },
    { name: "authUsers", entries: [] },
    {
      name: "cluster",
      entries: [
        entry("clusterVersion", Buffer.from(contents.clusterVersion)),
        entry("downgrade", Buffer.from('{"target-version":"","enabled":false}')),
      ],
    },
    { name: "key", entries: revisions(contents) },
    {
      name: "lease",
      entries: leases.map(({ id, ttlSeconds }) => ({
        key: bigEndian(id),
        value: Buffer.concat([varintField(1, id), varintField(2, ttlSeconds)]),
      })),
    },
    { name: "members", entries: members.map((member) => entry(member.id.toString(16), Buffer.from(memberJson(member)))) },
    { name: "members_removed", entries: removedMembers.map((id) => entry(id.toString(16), Buffer.from("removed"))) },
    { name: "meta", entries: metaEntries(contents) },
  ];
}

function revisions({ keys, revision }: EtcdSnapshotContents): readonly DatabaseEntry[] {
  let highest = 0;
  const subs = new Map<number, number>();
  const entries = keys.map((one): DatabaseEntry => {
    if (!Number.isSafeInteger(one.modRevision) || one.modRevision < 2)
      throw new SnapshotError("INVALID_INPUT", `a key at revision ${one.modRevision}`);
    highest = Math.max(highest, one.modRevision);
    const sub = subs.get(one.modRevision) ?? 0;
    subs.set(one.modRevision, sub + 1);
    const isDeletion = one.tombstone === true;
    return { key: writeRevision(one.modRevision, sub, isDeletion), value: keyValue(one) };
  });
  if (revision === undefined || revision === highest || (highest === 0 && revision === 1)) return entries;
  if (!Number.isSafeInteger(revision) || revision < highest)
    throw new SnapshotError("INVALID_INPUT", `the store at revision ${revision}, a key at ${highest}`);
  return [...entries, { key: writeRevision(revision, 0, true), value: Buffer.concat(bytesField(1, Buffer.from("revision"))) }];
}

function keyValue({ key, value, createRevision, modRevision, version, lease, tombstone }: SnapshotKey): Uint8Array {
  const keyField = bytesField(1, Buffer.from(key));
  if (tombstone === true) return Buffer.concat(keyField);
  return Buffer.concat([
    ...keyField,
    varintField(2, createRevision ?? modRevision),
    varintField(3, modRevision),
    varintField(4, version ?? 1),
    ...bytesField(5, Buffer.from(value ?? "")),
    varintField(6, lease ?? 0n),
  ]);
}

function metaEntries(contents: EtcdSnapshotContents): readonly DatabaseEntry[] {
  const { members, compactRevision, storageVersion } = contents;
  const confState = contents.confState ?? {
    voters: members.filter(({ isLearner }) => isLearner !== true).map(({ id }) => id),
    learners: members.filter(({ isLearner }) => isLearner === true).map(({ id }) => id),
  };
  const entries = [
    entry("confState", Buffer.from(confStateJson(confState))),
    entry("consistent_index", bigEndian(contents.consistentIndex)),
    entry("term", bigEndian(contents.term)),
  ];
  if (compactRevision !== undefined) {
    const compacted = writeRevision(compactRevision, 0, false);
    entries.push(entry("finishedCompactRev", compacted), entry("scheduledCompactRev", compacted));
  }
  if (storageVersion !== undefined) entries.push(entry("storageVersion", Buffer.from(storageVersion)));
  return entries;
}

// Identifiers have 64 bits: JSON.stringify would round them.
function memberJson({ id, name, peerURLs, clientURLs, isLearner }: SnapshotMember): string {
  const rest = { peerURLs, ...(isLearner === true ? { isLearner } : {}), ...(name === "" ? {} : { name, clientURLs }) };
  return `{"id":${id},${JSON.stringify(rest).slice(1)}`;
}

function confStateJson({ voters, learners = [] }: SnapshotConfState): string {
  const parts = [`"voters":[${voters.join(",")}]`];
  if (learners.length > 0) parts.push(`"learners":[${learners.join(",")}]`);
  return `{${parts.join(",")},"auto_leave":false}`;
}

function entry(key: string, value: Uint8Array): DatabaseEntry {
  return { key: Buffer.from(key), value };
}

function bigEndian(value: number | bigint): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}
