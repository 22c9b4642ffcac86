import type { ObjectStore, StoredObject } from "@talos-operator/ports";

import { type AnyBackupKey, parseBackupKey } from "../layout/any-key.ts";
import type { BackupFacts } from "../manifest/facts.ts";
import { readFacts } from "./find-backup.ts";
import { isReadFault } from "./read-fault.ts";

type OwnKey = Extract<AnyBackupKey, { readonly by: "us" }>;

/** One line of a list of backups. Times are ISO 8601, UTC. */
export type ListedBackup =
  /** A backup of ours: its manifest is there. */
  | {
      readonly kind: "backup";
      readonly cluster: string;
      readonly manifest: string;
      readonly facts: BackupFacts;
      readonly signature: "checked" | "unchecked";
      /** What is wrong that a list can see: nothing, the snapshot is gone, it has another size, or its keys are gone. */
      readonly fault?: "object-missing" | "object-size" | "keys-missing";
    }
  /** At the place of a manifest, and none that can be believed. */
  | { readonly kind: "refused"; readonly cluster: string; readonly manifest: string; readonly why: string }
  /** Data of a try that has not ended, or lost: no manifest names them. */
  | { readonly kind: "unnamed"; readonly cluster: string; readonly object: string; readonly size: number; readonly time?: string }
  /** A plain snapshot of the operator that published the kinds. */
  | { readonly kind: "published"; readonly cluster: string; readonly object: string; readonly size: number; readonly time?: string }
  /** The cluster's keys in clear, of the same operator. */
  | { readonly kind: "published-keys"; readonly cluster: string; readonly object: string; readonly size: number; readonly time?: string };

export interface ListOptions {
  readonly signal: AbortSignal;
  /** The manifest key of a cluster by its folder (`<control plane>-<12 hex digits>`); `undefined` where nobody has it. */
  readonly manifestKeyOf?: (cluster: string) => string | undefined;
  /** Called with each object that the store names. */
  readonly onObject?: (count: number) => void;
}

/** Manifests that are read at the same time. */
const AT_ONCE = 8;

/**
 * Everything below a prefix that is a backup, in the order of keys: by cluster, then by time. What is neither ours nor the published operator's is passed over.
 *
 * Memory is that of one page of the store's list and of the objects of one second of one cluster, whatever else is there: names of one slot begin with its
 * time, and so stand together.
 *
 * @throws what the store throws
 */
export async function* listBackups(
  store: Pick<ObjectStore, "place" | "list" | "get">,
  prefix: string,
  options: ListOptions,
): AsyncGenerator<ListedBackup, void, undefined> {
  const waiting: Promise<readonly ListedBackup[]>[] = [];
  let group: { readonly name: string; readonly members: Member[] } | undefined;
  let count = 0;
  const next = async (): Promise<readonly ListedBackup[]> => (await waiting.shift()) ?? [];
  const begin = (members: readonly Member[]): void => {
    const read = readGroup(store, members, options);
    // Who waits for an earlier one meets its failure in turn.
    read.catch(() => undefined);
    waiting.push(read);
  };
  for await (const stored of store.list(prefix, { signal: options.signal })) {
    options.onObject?.((count += 1));
    const at = parseBackupKey(stored.key);
    if (at === undefined) continue;
    const name = groupOf(at, stored.key);
    if (group !== undefined && group.name !== name) {
      begin(group.members);
      group = undefined;
      if (waiting.length >= AT_ONCE) yield* await next();
    }
    group ??= { name, members: [] };
    group.members.push({ stored, at });
  }
  if (group !== undefined) begin(group.members);
  while (waiting.length > 0) yield* await next();
}

interface Member {
  readonly stored: StoredObject;
  readonly at: AnyBackupKey;
}

const SLOT_TIME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/;

/** All that belongs to one slot has one of these. */
function groupOf(at: AnyBackupKey, key: string): string {
  if (at.by === "published" || at.object.kind === "probe") return key;
  return `${at.folder}/${SLOT_TIME.exec(at.object.slot)?.[0] ?? ""}`;
}

async function readGroup(
  store: Pick<ObjectStore, "place" | "get">,
  members: readonly Member[],
  options: ListOptions,
): Promise<readonly ListedBackup[]> {
  const sizes = new Map(members.map(({ stored }) => [stored.key, stored.size]));
  const named = new Set<string>();
  const listed: ListedBackup[] = [];
  for (const { stored, at } of members) {
    if (at.by === "published") listed.push(published(stored, at));
    else if (at.object.kind === "manifest") {
      const row = await readRow(store, stored.key, at, sizes, options);
      if (row.kind === "backup") named.add(besideKey(at.folder, row.facts.object));
      listed.push(row);
    }
  }
  for (const { stored, at } of members) {
    if (at.by !== "us" || at.object.kind !== "data" || named.has(stored.key)) continue;
    const time = slotTime(at.object.slot);
    listed.push({
      kind: "unnamed",
      cluster: clusterOf(at),
      object: stored.key,
      size: stored.size,
      ...(time === undefined ? {} : { time }),
    });
  }
  return listed;
}

async function readRow(
  store: Pick<ObjectStore, "place" | "get">,
  key: string,
  at: OwnKey,
  sizes: ReadonlyMap<string, number>,
  { signal, manifestKeyOf }: ListOptions,
): Promise<ListedBackup> {
  const manifestKey = manifestKeyOf?.(at.cluster);
  const cluster = clusterOf(at);
  try {
    const facts = await readFacts(store, key, { signal, ...(manifestKey === undefined ? {} : { manifestKey }) });
    const size = sizes.get(besideKey(at.folder, facts.object));
    const keysAreGone = facts.keysObject !== undefined && !sizes.has(besideKey(at.folder, facts.keysObject));
    const fault =
      size === undefined ? "object-missing" : size !== facts.storedSize ? "object-size" : keysAreGone ? "keys-missing" : undefined;
    return {
      kind: "backup",
      cluster,
      manifest: key,
      facts,
      signature: manifestKey === undefined ? "unchecked" : "checked",
      ...(fault === undefined ? {} : { fault }),
    };
  } catch (error) {
    if (isReadFault(error)) return { kind: "refused", cluster, manifest: key, why: error.message };
    throw error;
  }
}

function published(stored: StoredObject, at: Extract<AnyBackupKey, { readonly by: "published" }>): ListedBackup {
  const time = publishedTime(at.time) ?? (stored.modifiedAt === undefined ? undefined : new Date(stored.modifiedAt).toISOString());
  return {
    kind: at.what === "state" ? "published-keys" : "published",
    cluster: at.cluster,
    object: stored.key,
    size: stored.size,
    ...(time === undefined ? {} : { time }),
  };
}

/** `20250301-020000`, and other ways to write the same time in digits; UTC. */
function publishedTime(text: string): string | undefined {
  const digits = text.replaceAll(/[-:TZ_.]/g, "");
  return /^\d{14}$/.test(digits) ? isoOf(digits) : undefined;
}

function slotTime(slot: string): string | undefined {
  const parts = SLOT_TIME.exec(slot);
  return parts === null ? undefined : isoOf(parts.slice(1).join(""));
}

function isoOf(digits: string): string | undefined {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(digits) ?? [];
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}

function clusterOf({ namespace, cluster }: OwnKey): string {
  return namespace === "" ? cluster : `${namespace}/${cluster}`;
}

function besideKey(folder: string, object: string): string {
  const name = object.slice(object.lastIndexOf("/") + 1);
  return folder === "" ? name : `${folder}/${name}`;
}
