import type { StoreFacts } from "../store-facts.ts";
import { StoreFactsBuilder } from "../store-facts.ts";
import { type Database, openDatabase } from "./database.ts";
import { isInternalPath, isNodePath, readRegistryPath } from "./registry-path.ts";
import type { SnapshotSource } from "./source.ts";
import { liveKeysOf, type StoredRevision } from "./store.ts";
import { readStoredObject } from "./stored-object.ts";
import { type Count, Tally } from "./tally.ts";

export interface KindCount extends Count {
  /** `apps/v1`, from the object itself. */
  readonly apiVersion: string;
  readonly kind: string;
}

export interface EncryptedCount extends Count {
  /** From the path: `secrets`, and with the group in front where the path has one, `cert-manager.io/certificates`. */
  readonly resource: string;
}

/** What is in a snapshot. Nothing of a value is here but kinds and namespaces. */
export interface SnapshotContents extends StoreFacts {
  /** Main revision of the newest change; 0 in a store without any. */
  readonly revision: number;
  /** As in `SnapshotStatistics`. */
  readonly totalKey: number;
  readonly liveKeys: number;
  readonly entries: number;
  readonly revisions: number;
  readonly totalSize: number;
  readonly pageSize: number;
  /** Live objects under `/registry` whose kind can be read, sorted by apiVersion and kind. */
  readonly kinds: readonly KindCount[];
  /** Objects of kinds that `kinds` has no room for. */
  readonly otherKinds: number;
  /** Live values that kube-apiserver encrypted, by their paths. */
  readonly encrypted: readonly EncryptedCount[];
  /** Encrypted objects of resources that `encrypted` has no room for. */
  readonly otherEncrypted: number;
  /** Kubernetes Nodes by their paths, which are never encrypted. */
  readonly nodes: SnapshotNodes;
  /** Live keys at a place of an object whose value is none. */
  readonly unreadable: number;
  /** Live keys at other places: of kube-apiserver itself, and of whoever else uses this etcd. */
  readonly otherKeys: number;
  /** Objects whose name and namespace were decoded and compared with the path. */
  readonly sample: SnapshotSample;
}

export interface SnapshotNodes {
  /** Sorted. */
  readonly names: readonly string[];
  /** Nodes that `names` has no room for. */
  readonly others: number;
}

export interface SnapshotSample {
  readonly decoded: number;
  /** Those that name themselves otherwise than their path does, or not at all. Anything but 0 is a fault of the snapshot. */
  readonly mismatched: number;
}

export interface ReadSnapshotOptions {
  /** Kinds that are told. Default 1,000. */
  readonly maxKinds?: number;
  /** Namespaces that are told for each kind. Default 100. */
  readonly maxNamespaces?: number;
  /** Nodes that are named. Default 10,000, twice what Kubernetes supports. */
  readonly maxNodes?: number;
  /** Objects of each kind that are decoded. Default 100. */
  readonly samplePerKind?: number;
}

/** Pairs of kind and namespace that are counted apart. */
const maxPairs = 100_000;

/**
 * What is in a snapshot, or in a database without trailer: reads every page of it once. The trailer is not checked here.
 *
 * Takes as long as reading the file, without a pause; memory is that of the largest value and eight bytes a key.
 * Throws `SnapshotError`, whatever the bytes are.
 */
export function readSnapshot(source: SnapshotSource, options: ReadSnapshotOptions = {}): SnapshotContents {
  const { maxKinds = 1000, maxNamespaces = 100, maxNodes = 10_000, samplePerKind = 100 } = options;
  const database = openDatabase(source);
  const kinds = new Tally({ names: maxKinds, pairs: maxPairs });
  const encrypted = new Tally({ names: maxKinds, pairs: maxPairs });
  const sampled = new Map<string, number>();
  const sample = { decoded: 0, mismatched: 0 };
  const nodes: string[] = [];
  let otherNodes = 0;
  const counts = { revision: 0, revisions: 0, liveKeys: 0, unreadable: 0, otherKeys: 0 };
  const note = (revision: StoredRevision): void => {
    counts.revision = Math.max(counts.revision, revision.main);
    counts.revisions += 1;
  };
  for (const { key, value } of liveKeysOf(database, note)) {
    counts.liveKeys += 1;
    const path = readRegistryPath(key);
    if (path === undefined || isInternalPath(path)) {
      counts.otherKeys += 1;
      continue;
    }
    if (isNodePath(path)) {
      if (nodes.length < maxNodes) nodes.push(path.name);
      else otherNodes += 1;
    }
    const object = readStoredObject(value);
    if (object.form === "unreadable") counts.unreadable += 1;
    else if (object.form === "encrypted")
      encrypted.add(path.group === "" ? path.resource : `${path.group}/${path.resource}`, path.namespace);
    else {
      const kind = `${object.apiVersion} ${object.kind}`;
      kinds.add(kind, path.namespace);
      const before = sampled.get(kind) ?? 0;
      // Kinds that there is no room for are no part of the sample either.
      if (before >= samplePerKind || (before === 0 && sampled.size >= maxKinds)) continue;
      sampled.set(kind, before + 1);
      sample.decoded += 1;
      const names = object.metadata();
      if (names?.name !== path.name || names.namespace !== path.namespace) sample.mismatched += 1;
    }
  }
  const { facts, entries } = readFacts(database);
  return {
    ...facts,
    ...counts,
    totalKey: counts.liveKeys,
    entries: entries + counts.revisions,
    totalSize: database.size,
    pageSize: database.pageSize,
    kinds: kinds.counts(maxNamespaces).map(([name, count]) => {
      const [apiVersion = "", kind = ""] = name.split(" ");
      return { apiVersion, kind, ...count };
    }),
    otherKinds: kinds.unnamed,
    encrypted: encrypted.counts(maxNamespaces).map(([resource, count]) => ({ resource, ...count })),
    otherEncrypted: encrypted.unnamed,
    nodes: { names: nodes.toSorted(), others: otherNodes },
    sample,
  };
}

/** Of all buckets but that of the keys. */
function readFacts(database: Database): { readonly facts: StoreFacts; readonly entries: number } {
  const builder = new StoreFactsBuilder();
  let entries = 0;
  for (const bucket of database.buckets) {
    if (bucket === "key") continue;
    for (const { key, value } of database.entries(bucket)) {
      entries += 1;
      builder.add(bucket, key, value.slice());
    }
  }
  return { facts: builder.build(), entries };
}
