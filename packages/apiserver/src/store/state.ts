import { withMetadata } from "../request/json.ts";
import type { JsonObject } from "../json.ts";
import type { Store, StoredEntry } from "./store.ts";

/** One committed change, in revision order. */
export interface Change {
  readonly revision: number;
  readonly resource: string;
  readonly key: string;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** After the change; for DELETED the last state, carrying the revision of the deletion. */
  readonly object: JsonObject;
  /** Before the change. */
  readonly previous: JsonObject | undefined;
}

/** Called synchronously for every change, in order, before the write returns. Must not write. */
export type ChangeListener = (change: Change) => void;

interface Collection {
  readonly entries: Map<string, StoredEntry>;
  sortedKeys: readonly string[] | undefined;
}

/**
 * The objects in memory, the one revision counter, and the recent past.
 *
 * A write goes to the store first; only when that succeeded does it become visible here. So a store that fails never leaves memory and disk apart.
 * The past is bounded: the oldest changes are forgotten and `compactedRevision` says up to where.
 */
export class ObjectState {
  readonly #store: Store;
  readonly #historyLimit: number;
  readonly #collections = new Map<string, Collection>();
  readonly #listeners = new Map<string, Set<ChangeListener>>();
  #history: Change[] = [];
  #revision: number;
  #compacted: number;

  /** @param historyLimit how many changes stay available to watches and pages; up to twice as many are held in memory */
  constructor(store: Store, historyLimit: number) {
    this.#store = store;
    this.#historyLimit = historyLimit;
    const content = store.load();
    this.#revision = content.revision;
    this.#compacted = content.revision;
    for (const entry of content.entries) {
      this.#collection(entry.resource).entries.set(entry.key, entry);
    }
  }

  /** The newest revision. */
  get revision(): number {
    return this.#revision;
  }

  /** Why no write can be stored now; `undefined` when one can. */
  storeProblem(): string | undefined {
    return this.#store.problem?.();
  }

  /** Changes up to and including this revision are forgotten. */
  get compactedRevision(): number {
    return this.#compacted;
  }

  get(resource: string, key: string): StoredEntry | undefined {
    return this.#collections.get(resource)?.entries.get(key);
  }

  /** How many objects a resource has. */
  count(resource: string): number {
    return this.#collections.get(resource)?.entries.size ?? 0;
  }

  /** Names of the resources that were ever stored. */
  resources(): readonly string[] {
    return [...this.#collections.keys()];
  }

  /** All entries of a resource whose key begins with `prefix`, by key in byte order. */
  list(resource: string, prefix = ""): readonly StoredEntry[] {
    const collection = this.#collections.get(resource);
    if (collection === undefined) {
      return [];
    }
    collection.sortedKeys ??= [...collection.entries.keys()].sort();
    const entries: StoredEntry[] = [];
    for (const key of collection.sortedKeys) {
      const entry = key.startsWith(prefix) ? collection.entries.get(key) : undefined;
      if (entry !== undefined) {
        entries.push(entry);
      }
    }
    return entries;
  }

  /**
   * As `list`, but as it was right after `revision`.
   * The caller has checked that the revision lies between `compactedRevision` and `revision`.
   */
  listAt(resource: string, prefix: string, revision: number): readonly StoredEntry[] {
    if (revision >= this.#revision) {
      return this.list(resource, prefix);
    }
    const entries = new Map(this.list(resource, prefix).map((entry) => [entry.key, entry]));
    for (let index = this.#history.length - 1; index >= 0; index--) {
      const change = this.#history[index];
      if (change === undefined || change.revision <= revision) {
        break;
      }
      if (change.resource !== resource || !change.key.startsWith(prefix)) {
        continue;
      }
      if (change.previous === undefined) {
        entries.delete(change.key);
      } else {
        entries.set(change.key, { resource, key: change.key, revision, object: change.previous });
      }
    }
    return [...entries.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** The changes of a resource after `revision`, oldest first. */
  changesSince(resource: string, revision: number): readonly Change[] {
    let low = 0;
    let high = this.#history.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#history[middle]?.revision ?? 0) <= revision) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return this.#history.slice(low).filter((change) => change.resource === resource);
  }

  /**
   * Stores an object under a new revision and returns it with `metadata.resourceVersion` set.
   *
   * @param before called with the object as it is stored, before anybody hears of it
   * @throws what the store throws; then nothing has changed
   */
  put(resource: string, key: string, object: JsonObject, before?: (stored: JsonObject) => void): JsonObject {
    const revision = this.#revision + 1;
    const stored = withMetadata(object, { resourceVersion: String(revision) });
    const collection = this.#collection(resource);
    const previous = collection.entries.get(key);
    this.#store.commit({ resource, key, revision, object: stored });
    this.#revision = revision;
    collection.entries.set(key, { resource, key, revision, object: stored });
    if (previous === undefined) {
      collection.sortedKeys = undefined;
    }
    before?.(stored);
    this.#announce({
      revision,
      resource,
      key,
      type: previous === undefined ? "ADDED" : "MODIFIED",
      object: stored,
      previous: previous?.object,
    });
    return stored;
  }

  /**
   * Removes an object. `last` is its final state for watchers.
   *
   * @throws what the store throws; then nothing has changed
   */
  remove(resource: string, key: string, last: JsonObject): JsonObject {
    const revision = this.#revision + 1;
    const collection = this.#collection(resource);
    const previous = collection.entries.get(key);
    const stored = withMetadata(last, { resourceVersion: String(revision) });
    this.#store.commit({ resource, key, revision });
    this.#revision = revision;
    collection.entries.delete(key);
    collection.sortedKeys = undefined;
    this.#announce({ revision, resource, key, type: "DELETED", object: stored, previous: previous?.object });
    return stored;
  }

  /** Hears every change of one resource, or of all with `*`. Returns the function that ends it. */
  subscribe(resource: string, listener: ChangeListener): () => void {
    const listeners = this.#listeners.get(resource) ?? new Set<ChangeListener>();
    this.#listeners.set(resource, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }

  /** Forgets the past up to and including `revision`, as etcd does on compaction. */
  compact(revision: number): void {
    this.#history = this.#history.filter((change) => change.revision > revision);
    this.#compacted = Math.max(this.#compacted, Math.min(revision, this.#revision));
  }

  #announce(change: Change): void {
    this.#history.push(change);
    if (this.#history.length >= 2 * this.#historyLimit) {
      this.compact(this.#history[this.#history.length - this.#historyLimit - 1]?.revision ?? 0);
    }
    for (const resource of [change.resource, "*"]) {
      for (const listener of this.#listeners.get(resource) ?? []) {
        listener(change);
      }
    }
  }

  #collection(resource: string): Collection {
    let collection = this.#collections.get(resource);
    if (collection === undefined) {
      collection = { entries: new Map(), sortedKeys: undefined };
      this.#collections.set(resource, collection);
    }
    return collection;
  }
}
