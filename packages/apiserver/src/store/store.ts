import type { JsonObject } from "../json.ts";

/** One stored object. */
export interface StoredEntry {
  /** `<group>/<plural>`. */
  readonly resource: string;
  /** `<namespace>/<name>`, for cluster-scoped kinds `/<name>`. */
  readonly key: string;
  /** Revision of the last write; equals `metadata.resourceVersion`. */
  readonly revision: number;
  readonly object: JsonObject;
}

/** One change. `object` is absent when the entry goes away. */
export interface StoreWrite {
  readonly resource: string;
  readonly key: string;
  readonly revision: number;
  readonly object?: JsonObject;
}

/** What a store holds when it is opened. */
export interface StoreContent {
  /** Highest revision ever given out, also to entries that are gone. 0 for a new store. */
  readonly revision: number;
  readonly entries: readonly StoredEntry[];
}

/**
 * Where the API keeps its objects: the one small interface behind which memory and SQLite stand.
 * The server holds everything in memory as well; a store is read once, at start.
 */
export interface Store {
  load(): StoreContent;
  /**
   * Makes the write durable before it returns. A write that throws has left no trace.
   *
   * @throws any error; the request is then answered with 500 and the memory stays as it was
   */
  commit(write: StoreWrite): void;
  /** Why no write can be stored now, as a text for the log; `undefined` when one can. After a write that failed it finds out by another one. */
  problem?(): string | undefined;
  close(): void;
}
