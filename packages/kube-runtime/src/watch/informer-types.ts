import type { Logger, RandomSource, Timers } from "@talos-operator/ports";
import type { KubeClient } from "../client/kube-client.ts";
import type { KubeApiError } from "../client/kube-api-error.ts";
import type { KubeObject } from "../objects/kube-object.ts";
import type { ObjectKey, ResourceType } from "../request/resource-type.ts";

/** What an informer watches and with what. */
export interface InformerOptions<T extends KubeObject> {
  readonly client: KubeClient;
  readonly type: ResourceType;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly log?: Logger;
  /** Without it all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /**
   * Shrinks an object before it is kept. Replaces the default, which drops `metadata.managedFields` and the annotation
   * `kubectl.kubernetes.io/last-applied-configuration`. It must keep `metadata.name`, `namespace`, `uid` and `resourceVersion`.
   */
  readonly transform?: (object: T) => T;
  /** Named indexes: each function gives the values under which an object is found. */
  readonly indexers?: Readonly<Record<string, (object: T) => readonly string[]>>;
  /**
   * How lists are asked for. `stream`: as a watch that begins with everything there is, where the server offers that (each object is parsed and
   * taken by itself, so that memory does not peak), else in pages; `pages`: always in pages. Default `stream`.
   */
  readonly listBy?: "stream" | "pages";
  /** Objects per page of a list. Default 500. */
  readonly pageSize?: number;
  /**
   * The server ends each watch after this time (up to half as much again, so that watches do not end together); 10 s later a
   * connection that is still silent is taken for dead. This bounds how long a half-open connection can hide. Default 180.
   */
  readonly watchTimeoutSeconds?: number;
}

/** Read side of the cache. Objects are shared: never change one. */
export interface Store<T> {
  get(key: ObjectKey): T | undefined;
  /** All, or those of one namespace, in no particular order. */
  list(namespace?: string): readonly T[];
  /** Objects for which the indexer `index` gave `value`; throws RangeError for an index that was not declared. */
  byIndex(index: string, value: string): readonly T[];
  readonly size: number;
}

/** One change of the cache. A change is told once, in order; after a recovery only what really differs is told. */
export type Delta<T> =
  | {
      readonly type: "added";
      readonly object: T;
      /** Part of the first list, or told because a handler subscribed late. */ readonly isInitial: boolean;
    }
  | { readonly type: "updated"; readonly object: T; readonly previous: T }
  /** `object` is the last state known; after a relist that may be older than the state at deletion. */
  | { readonly type: "deleted"; readonly object: T };

/** How it goes, for health reports. */
export interface InformerStatus {
  readonly phase: "empty" | "listing" | "watching";
  readonly isSynced: boolean;
  /** Up to here the cache is known to be complete. */
  readonly resourceVersion: string | undefined;
  readonly objects: number;
  /** Failures since the last progress; ten in a row take about a minute. */
  readonly failures: number;
  readonly lastError: KubeApiError | undefined;
  /** Lists that were completed. */
  readonly lists: number;
  /** Watches that were opened. */
  readonly watches: number;
}

/** Wait for the cache. A wait that ends without success is an error: never go on with a cache that did not arrive. */
export interface CacheWait {
  readonly signal?: AbortSignal;
  /** Default 30_000. */
  readonly timeoutMs?: number;
}

/**
 * A local copy of all objects of one kind that match, kept true by list and watch.
 *
 * It starts with `run`, and from then on never stops before its signal: API server restarts, dropped and half-open connections,
 * expired versions and refusals are all answered by trying again with backoff.
 */
export interface Informer<T extends KubeObject> {
  readonly type: ResourceType;
  readonly store: Store<T>;
  /** Keeps the cache until `signal` aborts; then resolves. Call it once. */
  run(signal: AbortSignal): Promise<void>;
  /** True once the first list is complete. It stays true. */
  readonly isSynced: boolean;
  /** @throws KubeApiError `CACHE_TIMEOUT`, `CANCELED` */
  waitForSync(wait?: CacheWait): Promise<void>;
  /**
   * Read-your-writes: waits until the cache has seen everything up to `resourceVersion`, which a write of this kind returned.
   *
   * @throws KubeApiError `CACHE_TIMEOUT`, `CANCELED`
   */
  waitForResourceVersion(resourceVersion: string, wait?: CacheWait): Promise<void>;
  /** Calls `handler` at once for every object there is (`isInitial`), then for each change. What it throws is logged. Returns the way to end it. */
  subscribe(handler: (delta: Delta<T>) => void): () => void;
  /**
   * Adds named indexes, before or after the start; those that exist are left as they are.
   *
   * @throws RangeError when a name stands for another function
   */
  addIndexers(indexers: Readonly<Record<string, (object: T) => readonly string[]>>): void;
  status(): InformerStatus;
}
