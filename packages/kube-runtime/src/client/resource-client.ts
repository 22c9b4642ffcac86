import type { KubeCallOptions } from "@talos-operator/ports";
import type { KubeList, KubeObject } from "../objects/kube-object.ts";
import type {
  ApplyOptions,
  DeleteOptions,
  ListPageOptions,
  Patch,
  ReadOptions,
  SelectorOptions,
  WatchOptions,
  WriteOptions,
} from "../request/call-options.ts";
import type { ObjectKey, ResourceType } from "../request/resource-type.ts";

/** Fields that one manager wants to own: part of the object, with its type and name. */
export type ApplyConfiguration<T extends KubeObject> = DeepPartial<Omit<T, "apiVersion" | "kind" | "metadata">> & {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: { readonly name: string; readonly namespace?: string | undefined } & DeepPartial<NonNullable<T["metadata"]>>;
};

type DeepPartial<T> = T extends readonly (infer E)[]
  ? readonly DeepPartial<E>[]
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> | undefined }
    : T;

/** A watch as its events arrive. */
export interface KubeWatch<T> {
  /** Ends when the server ends the stream. Throws KubeApiError `EXPIRED` for a 410 event, `NO_ANSWER` when the connection breaks. */
  readonly events: AsyncIterable<WatchEvent<T>>;
}

/** `BOOKMARK` carries only a resourceVersion; `isEndOfList` marks the one that ends the list of a watch with `sendInitialEvents`. */
export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly isEndOfList: boolean };

/**
 * All verbs of one kind. Each call is one request, except `list`, which follows the pages, and the retries of `createKubeClient`.
 *
 * Every method throws KubeApiError and nothing else. Options take `signal` and `timeoutMs` (default 30_000 per request).
 * A subresource is reached through the `…Status` methods, `createSubresource` or `subresource`.
 */
export interface ResourceClient<T extends KubeObject> {
  readonly type: ResourceType;
  /** @throws KubeApiError `NOT_FOUND` and all others */
  get(key: ObjectKey, options?: ReadOptions & KubeCallOptions): Promise<T>;
  /** `undefined` only when the server said that the object does not exist. */
  tryGet(key: ObjectKey, options?: ReadOptions & KubeCallOptions): Promise<T | undefined>;
  /** Everything that matches, read in pages of `pageSize` (default 500) that belong to one resourceVersion. */
  list(options?: SelectorOptions & ReadOptions & KubeCallOptions & { readonly pageSize?: number }): Promise<KubeList<T>>;
  /** One page. */
  listPage(options?: ListPageOptions & KubeCallOptions): Promise<KubeList<T>>;
  watch(options: WatchOptions & KubeCallOptions): Promise<KubeWatch<T>>;
  /** The namespace is the object's own. `apiVersion` and `kind` are filled in when missing, as in all writes. */
  create(object: T, options?: WriteOptions & KubeCallOptions): Promise<T>;
  /** POST to a subresource of one object, for example `eviction`. */
  createSubresource(key: ObjectKey, subresource: string, object: KubeObject, options?: WriteOptions & KubeCallOptions): Promise<unknown>;
  /** Any other subresource, for example `scale`; apiVersion and kind of its objects are the caller's matter. */
  subresource<S extends KubeObject = KubeObject>(name: string): SubresourceClient<S>;
  /** With a resourceVersion in the object this is a compare-and-swap; without, it overwrites. */
  update(object: T, options?: WriteOptions & KubeCallOptions): Promise<T>;
  updateStatus(object: T, options?: WriteOptions & KubeCallOptions): Promise<T>;
  patch(key: ObjectKey, patch: Patch, options?: WriteOptions & KubeCallOptions): Promise<T>;
  patchStatus(key: ObjectKey, patch: Patch, options?: WriteOptions & KubeCallOptions): Promise<T>;
  /** Server-side apply: creates, or makes this manager's fields equal to what is given. */
  apply(object: ApplyConfiguration<T>, options: ApplyOptions & KubeCallOptions): Promise<T>;
  applyStatus(object: ApplyConfiguration<T>, options: ApplyOptions & KubeCallOptions): Promise<T>;
  /** The object when the server returned it (it may wait for finalizers), `undefined` when it answered that all is done. */
  delete(key: ObjectKey, options?: DeleteOptions & KubeCallOptions): Promise<T | undefined>;
  deleteCollection(selected: SelectorOptions, options?: DeleteOptions & KubeCallOptions): Promise<void>;
}

/** Verbs of one subresource, for example `scale` with `autoscaling/v1` Scale. Errors as in `ResourceClient`. */
export interface SubresourceClient<S extends KubeObject> {
  get(key: ObjectKey, options?: ReadOptions & KubeCallOptions): Promise<S>;
  /** With a resourceVersion in the object this is a compare-and-swap; without, it overwrites. */
  update(key: ObjectKey, object: S, options?: WriteOptions & KubeCallOptions): Promise<S>;
  patch(key: ObjectKey, patch: Patch, options?: WriteOptions & KubeCallOptions): Promise<S>;
  apply(key: ObjectKey, object: ApplyConfiguration<S>, options: ApplyOptions & KubeCallOptions): Promise<S>;
}
