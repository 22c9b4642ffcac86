/**
 * A bucket, or a folder, that holds backups: objects below one prefix-free root, named by keys with `/` between their parts.
 *
 * One implementation speaks S3, one is a folder, one is a map in simulation. Every method throws {@link ObjectStoreFailure}. Nothing is repeated
 * inside but what the protocol itself calls harmless to repeat (a read, a part of an upload).
 */
export interface ObjectStore {
  /** What the store says of itself in messages: `s3://bucket at https://host`, `directory clusters`. Holds no secret. */
  readonly place: string;
  /** Objects whose keys begin with `prefix`, in the order of keys, page by page; `after` skips all up to and including that key. */
  list(prefix: string, options?: ObjectCallOptions & { readonly after?: string }): AsyncIterable<StoredObject>;
  /** `undefined` when there is no such object. A delete marker is none. */
  head(key: string, options?: ObjectCallOptions): Promise<StoredObject | undefined>;
  /** The bytes as they come, from `offset` on; `undefined` when there is no such object. An end before `size` bytes throws `cut-off`. */
  get(key: string, options?: ObjectCallOptions & { readonly offset?: number }): Promise<ObjectBody | undefined>;
  /**
   * Stores a small object as a whole (up to 5 MiB).
   *
   * @param options.ifAbsent only where no object has this key: throws `exists` otherwise, `unsupported` where the store refuses such a condition. A store may
   * ignore it: who relies on it probes the store once.
   */
  put(key: string, bytes: Uint8Array, options?: ObjectCallOptions & { readonly ifAbsent?: boolean }): Promise<StoredObject>;
  /** Begins an upload in parts; the object exists from `complete` on, as a whole. */
  createUpload(key: string, options?: ObjectCallOptions): Promise<ObjectUpload>;
  /** Uploads below a prefix that were begun and neither completed nor aborted. */
  listUploads(prefix: string, options?: ObjectCallOptions): AsyncIterable<OpenUpload>;
  /** Ends an upload of anybody and frees its parts; nothing when there is none. */
  abortUpload(upload: { readonly key: string; readonly id: string }, options?: ObjectCallOptions): Promise<void>;
  /** Removes an object; nothing when there is none. In a bucket with versions the bytes stay behind a delete marker: `removed: "marked"`. */
  remove(key: string, options?: ObjectCallOptions): Promise<{ readonly removed: "gone" | "marked" }>;
  /** Frees connections. */
  close(): void;
}

export interface ObjectCallOptions {
  readonly signal?: AbortSignal;
}

export interface StoredObject {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Changes when the object is replaced. Opaque: no checksum is read from it. */
  readonly etag?: string;
  /** Milliseconds since the epoch, by the store's clock. */
  readonly modifiedAt?: number;
}

export interface ObjectBody extends StoredObject {
  /** Back-pressure is the consumer's pace; leaving the loop ends the transfer. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface OpenUpload {
  readonly key: string;
  readonly id: string;
  /** Milliseconds since the epoch, by the store's clock. */
  readonly startedAt?: number;
}

/** An upload in parts: every part but the last has the same size, at least 5 MiB for S3. */
export interface ObjectUpload {
  readonly key: string;
  readonly id: string;
  /** Sends part `number` (from 1); the same number again replaces it. Its checksum travels with it, and the store refuses other bytes. */
  part(number: number, bytes: Uint8Array, options?: ObjectCallOptions): Promise<void>;
  /** Makes the object of the parts that were sent, in the order of their numbers. */
  complete(options?: ObjectCallOptions): Promise<StoredObject>;
  /** Frees the parts. */
  abort(options?: ObjectCallOptions): Promise<void>;
}

/**
 * Why a store did not do what it was asked. `message` is a sentence for people without any secret.
 *
 * - `unreachable`: nobody answered, or the connection broke; `tls`: who answered is not trusted;
 *   `handshake`: they do not agree on how to talk, as with http:// to a port of https
 * - `denied`: keys are wrong or lack the right; `expired`: the keys were good once; `clock`: the two clocks are too far apart
 * - `missing`: no such bucket, folder or upload
 * - `exists`, `unsupported`: answers to `ifAbsent`; `conflict`: another write of the same key goes on: asked again it may succeed
 * - `full`: no room or quota; `slow-down`: ask less often; `failing`: the store has a fault of its own (5xx, an error in a body of status 200)
 * - `cut-off`: fewer bytes than were told; `damaged`: a checksum differs; `redirected`: it wants us at another host
 * - `locked`: object lock or a policy keeps the object
 * - `invalid`: the request can never succeed, for example a key or bucket name that the store refuses
 */
export interface ObjectStoreFailure extends Error {
  readonly name: "ObjectStoreFailure";
  readonly kind: ObjectStoreFailureKind;
}

export type ObjectStoreFailureKind =
  | "unreachable"
  | "tls"
  | "handshake"
  | "denied"
  | "expired"
  | "clock"
  | "missing"
  | "exists"
  | "unsupported"
  | "conflict"
  | "full"
  | "slow-down"
  | "failing"
  | "cut-off"
  | "damaged"
  | "redirected"
  | "locked"
  | "invalid";
