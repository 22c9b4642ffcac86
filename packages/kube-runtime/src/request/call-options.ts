/** Which version of the data a read may answer with. Leave both out for the newest (a consistent read). */
export interface ReadOptions {
  readonly resourceVersion?: string;
  /** Only with `resourceVersion`, only for lists. */
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
}

/** What a list or watch selects. */
export interface SelectorOptions {
  /** Without it every namespace; refused for cluster-scoped kinds. */
  readonly namespace?: string | undefined;
  /** For example `app=web,tier!=cache`. */
  readonly labelSelector?: string | undefined;
  /** For example `metadata.name=a`. */
  readonly fieldSelector?: string | undefined;
}

/** One page of a list. */
export interface ListPageOptions extends SelectorOptions, ReadOptions {
  /** Most objects per page. */
  readonly limit?: number;
  /** Token of the page before. Excludes `resourceVersion`. */
  readonly continue?: string;
  /** How long the server may take. */
  readonly timeoutSeconds?: number;
}

/** A watch. */
export interface WatchOptions extends SelectorOptions {
  /** Events after this version. Without it, and with `sendInitialEvents`, the watch begins with everything there is. */
  readonly resourceVersion?: string;
  /**
   * A streamed list: an `ADDED` for everything there is, then a bookmark whose annotation `k8s.io/initial-events-end` is `true`, then changes.
   * Needs `resourceVersionMatch: "NotOlderThan"` and bookmarks. Servers that do not offer it answer `INVALID` (Kubernetes 1.34 and newer do by default).
   */
  readonly sendInitialEvents?: boolean;
  /** Only with `sendInitialEvents`. */
  readonly resourceVersionMatch?: "NotOlderThan";
  /** The server ends the stream after this time; default none. */
  readonly timeoutSeconds?: number;
  /** Default true. */
  readonly allowWatchBookmarks?: boolean;
}

/** All writes. */
export interface WriteOptions {
  /** Validate and answer, store nothing. Default false. */
  readonly dryRun?: boolean;
  /** Who owns the written fields; at most 128 printable characters. Required for apply. */
  readonly fieldManager?: string;
  /** What happens to unknown and duplicate fields. Default is the server's, `Warn`. */
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore";
}

/** Server-side apply. */
export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Take fields over from other managers. Default false: a conflict is an error. */
  readonly force?: boolean;
}

/** Delete of one object or of a collection. */
export interface DeleteOptions {
  readonly dryRun?: boolean;
  /** Default is the kind's own, mostly `Background`. */
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan";
  readonly gracePeriodSeconds?: number;
  /** The delete is refused with `CONFLICT` unless these match. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** One of the patch types. Server-side apply is a call of its own. */
export type Patch =
  | { readonly type: "json"; readonly operations: readonly JsonPatchOperation[] }
  | { readonly type: "merge"; readonly value: Readonly<Record<string, unknown>> }
  | { readonly type: "strategic-merge"; readonly value: Readonly<Record<string, unknown>> };

/** RFC 6902. */
export interface JsonPatchOperation {
  readonly op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}
