import type { Clock, Logger, ObjectStore, RandomSource, TalosDialer, Timers } from "@talos-operator/ports";
import type { Spool } from "@talos-operator/etcd-snapshot";

import type { StoreKeys, StorePlace } from "../task/place.ts";

/** All that a worker has of the outside. */
export interface WorkerDeps {
  readonly dialer: TalosDialer;
  /** May throw an ObjectStoreFailure. `keys` gives the newest ones: it is asked again when those before have expired. */
  readonly openStore: (place: StorePlace, keys: () => Promise<StoreKeys | undefined>) => ObjectStore | Promise<ObjectStore>;
  readonly codec: BackupCodec;
  /** Genuine etcd; absent where there is none. */
  readonly drill?: RestoreDrill;
  readonly scratch: Scratch;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly log: Logger;
}

/**
 * Streams of bytes from one form into another, in bounded memory. What the source throws comes out as it is; bytes that make no sense and keys that do not fit
 * throw {@link CodecFailure}.
 */
export interface BackupCodec {
  compress(plain: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  decompress(compressed: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  /** An age file for `recipients`, of which there is at least one. */
  encrypt(plain: AsyncIterable<Uint8Array>, recipients: readonly string[]): AsyncIterable<Uint8Array>;
  decrypt(encrypted: AsyncIterable<Uint8Array>, identity: string): AsyncIterable<Uint8Array>;
}

/** `bad-recipient`: none of age's; `bad-identity`: none of age's, or of another recipient; `damaged`: the bytes are not what they should be. */
export class CodecFailure extends Error {
  override readonly name = "CodecFailure";
  readonly kind: "bad-recipient" | "bad-identity" | "damaged";

  constructor(kind: CodecFailure["kind"], message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.kind = kind;
  }
}

/** Room on disk that is thrown away. */
export interface Scratch {
  /** For the statistics of a stream. */
  spool(): Spool & { close(): void };
  /** A file for a plain snapshot; `undefined` when there is no room for `bytes`. */
  file(bytes: number): ScratchFile | undefined | Promise<ScratchFile | undefined>;
}

export interface ScratchFile {
  readonly path: string;
  write(chunk: Uint8Array): void;
  /** Removes it. */
  close(): void;
}

/** Restores snapshots in a throw-away place. */
export interface RestoreDrill {
  /** etcd's own, `3.6.4`. */
  readonly version: string;
  /**
   * @returns what etcd says of the restored store
   * @throws DrillFailure
   */
  restore(snapshot: ScratchFile, options: { readonly signal: AbortSignal }): Promise<RestoredStore>;
}

export interface RestoredStore {
  readonly revision: number;
  readonly liveKeys: number;
  /** Milliseconds until etcd answered. */
  readonly restoreMs: number;
}

/** `refused`: etcd does not take the snapshot; `unable`: etcd itself could not be run, which says nothing of the snapshot; `no-room`: the disk is full. */
export class DrillFailure extends Error {
  override readonly name = "DrillFailure";
  readonly kind: "refused" | "unable" | "no-room";

  constructor(kind: DrillFailure["kind"], message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.kind = kind;
  }
}

/** How far a task is. */
export interface TaskProgress {
  readonly phase: "asking" | "streaming" | "restoring" | "reading-back" | "finishing" | "proving" | "removing";
  /** Plain bytes so far while streaming, stored bytes while reading. */
  readonly bytes: number;
  /** Of about how many; absent when nobody knows. */
  readonly of?: number;
}
