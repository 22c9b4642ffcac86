import type { ObjectStore } from "@talos-operator/ports";

import { parseBackupKey } from "../layout/any-key.ts";
import { parseName } from "../layout/keys.ts";
import type { BackupFacts } from "../manifest/facts.ts";
import { MAX_MANIFEST_BYTES, openManifest, readManifestUnchecked } from "../manifest/manifest.ts";
import { ReadFault } from "./read-fault.ts";

/** What reading needs of a store. */
export type ReadableStore = Pick<ObjectStore, "place" | "get" | "head">;

/** A backup that was named, and what is known of it before its bytes are read. */
export interface FoundBackup {
  /** Key of the snapshot as it is stored. */
  readonly object: string;
  /** Bytes that are stored. */
  readonly storedSize: number;
  /** Key of the encrypted keys of the cluster, where the manifest names some. */
  readonly keysObject?: string;
  /** What the manifest says; absent where there is none. */
  readonly facts?: BackupFacts;
  /** `checked`: written with the cluster's own keys, and unchanged since. */
  readonly signature: "checked" | "unchecked" | "none";
  /** `published`: by the operator that published the kinds; `unknown`: a snapshot of anybody's. */
  readonly writtenBy: "us" | "published" | "unknown";
}

export interface FindOptions {
  readonly signal: AbortSignal;
  /** That of the cluster, as `manifestKeyOf` gives it. Absent: the manifest is believed. */
  readonly manifestKey?: string;
}

/**
 * The backup that a key stands for: that of a manifest, of stored data, of a slot without ending, or of any snapshot.
 *
 * @throws ReadFault, and what the store throws
 */
export async function findBackup(store: ReadableStore, key: string, options: FindOptions): Promise<FoundBackup> {
  const { folder, name } = parted(key);
  const parsed = parseName(name);
  const at = parseBackupKey(key);
  if (at?.by === "published" && at.what === "state")
    throw new ReadFault("keys", `${key} holds the keys of the cluster ${at.cluster} in clear, and nothing of it is shown`);
  if (parsed?.kind === "keys") throw new ReadFault("keys", `${key} holds keys of a cluster, and nothing of it is shown`);
  if (parsed?.kind === "probe") throw new ReadFault("not-a-backup", `${key} is what the operator asks the store with, and no backup`);
  if (parsed?.kind === "manifest") return byManifest(store, key, options, true);
  if (parsed?.kind === "data") {
    const manifest = `${folder}${parsed.slot}.json`;
    const found = (await store.head(manifest, options)) === undefined ? undefined : await byManifest(store, manifest, options, false);
    // Another try of the same backup may have won; the bytes of this one are shown as what they are.
    if (found?.object === key) return found;
    return { ...(await anyObject(store, key, options)), writtenBy: "us" };
  }
  const stored = await store.head(key, options);
  if (stored === undefined && parseName(`${name}.json`)?.kind === "manifest") return byManifest(store, `${key}.json`, options, true);
  if (name.endsWith(".json")) return byManifest(store, key, options, true);
  return { ...(await anyObject(store, key, options)), writtenBy: at?.by === "published" ? "published" : "unknown" };
}

async function anyObject(store: ReadableStore, key: string, options: FindOptions): Promise<Omit<FoundBackup, "writtenBy">> {
  const stored = await store.head(key, options);
  if (stored === undefined) throw new ReadFault("missing", `there is no ${key} in ${store.place}`);
  return { object: key, storedSize: stored.size, signature: "none" };
}

async function byManifest(store: ReadableStore, key: string, options: FindOptions, needsData: boolean): Promise<FoundBackup> {
  const facts = await readFacts(store, key, options);
  const { folder } = parted(key);
  checkPlace(key, facts);
  const object = `${folder}${parted(facts.object).name}`;
  const stored = await store.head(object, options);
  if (stored === undefined && needsData)
    throw new ReadFault("damaged", `${key} names the snapshot ${object}, which is not in ${store.place} any more`);
  return {
    object,
    storedSize: stored?.size ?? facts.storedSize,
    ...(facts.keysObject === undefined ? {} : { keysObject: `${folder}${parted(facts.keysObject).name}` }),
    facts,
    signature: options.manifestKey === undefined ? "unchecked" : "checked",
    writtenBy: "us",
  };
}

/** @throws ReadFault `missing`, `foreign`, `newer`, `not-a-backup`, and what the store throws */
export async function readFacts(store: Pick<ObjectStore, "place" | "get">, key: string, options: FindOptions): Promise<BackupFacts> {
  const found = await store.get(key, { signal: options.signal });
  if (found === undefined) throw new ReadFault("missing", `there is no ${key} in ${store.place}`);
  const bytes = await small(found.body);
  const opened = options.manifestKey === undefined ? undefined : openManifest(bytes, options.manifestKey);
  const facts = opened === undefined ? readManifestUnchecked(bytes) : "facts" in opened ? opened.facts : undefined;
  if (facts !== undefined) return facts;
  if (opened !== undefined && "refused" in opened && opened.refused === "foreign")
    throw new ReadFault("foreign", `${key} was not written with the keys of this cluster, or was changed since`);
  if (isNewer(bytes)) throw new ReadFault("newer", `${key} was written by a newer version of this operator`);
  throw new ReadFault("not-a-backup", `${key} is no manifest of a backup`);
}

/** A manifest that somebody copied names objects that are not its own. */
function checkPlace(key: string, facts: BackupFacts): void {
  const { name } = parted(key);
  const data = parseName(parted(facts.object).name);
  const own = parseName(name);
  const isOfSlot =
    data?.kind === "data" &&
    data.attempt === facts.attempt &&
    data.encryption === facts.encryption &&
    (own?.kind !== "manifest" || own.slot === data.slot);
  // In a copy of a folder, of any other name, nothing says whose it is.
  const here = parseBackupKey(key);
  const there = parseBackupKey(facts.object);
  const isOfCluster = here?.by !== "us" || there?.by !== "us" || here.cluster === there.cluster;
  if (!isOfSlot || !isOfCluster) throw new ReadFault("foreign", `${key} is the manifest of another backup, ${facts.object}`);
}

function isNewer(bytes: Uint8Array): boolean {
  try {
    const parsed = JSON.parse(Buffer.from(bytes).toString("utf8")) as { readonly version?: unknown; readonly mac?: unknown } | null;
    return typeof parsed?.version === "number" && parsed.version > 1 && typeof parsed.mac === "string";
  } catch {
    return false;
  }
}

/** No more than a manifest may have, and a byte: what is longer is none. */
async function small(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_MANIFEST_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_MANIFEST_BYTES + 1);
}

/** The folder with the slash at its end, so that a name behind it is a key again. */
function parted(key: string): { readonly folder: string; readonly name: string } {
  const end = key.lastIndexOf("/") + 1;
  return { folder: key.slice(0, end), name: key.slice(end) };
}
