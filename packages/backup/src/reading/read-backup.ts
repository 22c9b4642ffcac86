import { beginningSize, createTrailerCheck, isSnapshotError, leastSizeOf } from "@talos-operator/etcd-snapshot";
import type { Timers } from "@talos-operator/ports";

import { type BackupCodec, CodecFailure } from "../worker/deps.ts";
import { TaskFault } from "../worker/fault.ts";
import { createTally, readStored } from "../worker/stored-bytes.ts";
import type { FoundBackup, ReadableStore } from "./find-backup.ts";
import { plainBytes } from "./plain-bytes.ts";
import { ReadFault } from "./read-fault.ts";
import { formOf } from "./stored-form.ts";
import { boundedCodec } from "./unpacked-bound.ts";

export interface ReadOptions {
  readonly codec: BackupCodec;
  readonly timers: Timers;
  readonly signal: AbortSignal;
  /** An age identity file as a text; for what is encrypted. */
  readonly identity?: string;
  /** Bytes that may be unpacked of a snapshot whose size no checked manifest names. Default: a hundred for each that is stored, and 256 MiB in any case. */
  readonly maxBytes?: number;
  /** Stored bytes that were read, of {@link FoundBackup.storedSize}. */
  readonly onProgress?: (bytes: number) => void;
}

/** What was seen of a snapshot when its last byte was there. */
export interface ReadBackup {
  /** Bytes, the trailer included. */
  readonly size: number;
  /** SHA-256 of the database, hex. */
  readonly sha256: string;
  /** `false`: a database as it lies on a member's disk, which ends without a SHA-256 and cannot be checked by itself. */
  readonly hasTrailer: boolean;
  readonly storedSize: number;
  readonly storedSha256: string;
  /** What the bytes were wrapped in, from the outside. */
  readonly layers: readonly ("age" | "zstd")[];
}

/**
 * Reads a backup to its end and gives its plain bytes to `write`, in bounded memory. Only when it returns is what was written a snapshot: with a manifest the
 * stored and the plain bytes are those that it names, without one they are those that etcd sent, or a database without a checksum.
 *
 * @throws ReadFault, what the store throws, and what `write` throws
 */
export async function readBackup(
  store: ReadableStore,
  found: FoundBackup,
  options: ReadOptions,
  write: (chunk: Uint8Array) => void | Promise<void>,
): Promise<ReadBackup> {
  const { object, facts } = found;
  const reader = { store, signal: options.signal, deps: { timers: options.timers } };
  const tally = createTally();
  const layers: ("age" | "zstd")[] = [];
  const check = createTrailerCheck();
  let head: Uint8Array = new Uint8Array();
  let size = 0;
  let isTooMuch = false;
  // Pipes wrap what the store and the taker throw.
  let cause: { readonly error: unknown } | undefined;
  const stored = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const chunk of tally.tap(readStored(reader, object))) {
        options.onProgress?.(tally.size());
        yield chunk;
      }
    } catch (error) {
      cause ??= { error };
      throw error;
    }
  };
  // A manifest that nobody checked names whatever its writer wants.
  const codec = found.signature === "checked" ? options.codec : boundedCodec(options.codec, object, () => tally.size(), options.maxBytes);
  try {
    for await (const chunk of plainBytes(stored(), object, { ...options, codec, onLayer: (layer) => layers.push(layer) })) {
      check.write(chunk);
      if (head.length < beginningSize) head = Buffer.concat([head, chunk]).subarray(0, beginningSize);
      size += chunk.length;
      // Before it fills a disk. What little it holds that is too much may be damage: stored bytes and manifest decide.
      if (facts === undefined ? size > MOST_UNKNOWN && formOf(head) !== "database" : size > facts.size) {
        isTooMuch = true;
        break;
      }
      try {
        await write(chunk);
      } catch (error) {
        cause ??= { error };
        throw error;
      }
    }
  } catch (error) {
    if (cause !== undefined) throw told(cause.error);
    if (!(error instanceof CodecFailure) || error.kind === "bad-recipient") throw error;
    // Bytes that have changed in the store may make a good identity look like another's.
    if (!(error.kind === "bad-identity" && tally.size() === 0)) await compareWhole(found, options, reader);
    throw error.kind === "bad-identity"
      ? new ReadFault("bad-identity", `${object}: ${withoutRemedy(error)}`, { cause: error })
      : damaged(object, error.message, error);
  }
  if (isTooMuch && facts === undefined)
    throw new ReadFault("not-a-backup", `${object} is no snapshot of etcd: it does not begin as a database does`);
  // A decoder may stop before the last byte.
  if (facts !== undefined && tally.size() < facts.storedSize) await compareWhole(found, options, reader);
  else compareStored(found, tally.size(), tally.sha256());
  if (isTooMuch) throw damaged(object, `the plain snapshot has more than the ${facts?.size} bytes that its manifest names`);
  return verdictOf(found, check, head, { storedSize: tally.size(), storedSha256: tally.sha256(), layers });
}

function verdictOf(
  { object, facts }: FoundBackup,
  check: ReturnType<typeof createTrailerCheck>,
  head: Uint8Array,
  stored: Pick<ReadBackup, "storedSize" | "storedSha256" | "layers">,
): ReadBackup {
  const { fault, size, sha256 } = check.finish();
  const form = formOf(head);
  if (form === "age-armored") throw new ReadFault("not-a-backup", `${object} is an age file in armour, as text`);
  if (fault === "too-short") throw damaged(object, "it is too short for a snapshot: its end is missing");
  if (fault === "wrong-digest") throw damaged(object, "its bytes are not those that etcd sent, the SHA-256 at its end is another one");
  if (fault === "no-trailer" && form !== "database" && facts === undefined)
    throw new ReadFault("not-a-backup", `${object} is no snapshot of etcd: it does not begin as a database does`);
  if (fault === "no-trailer" && (facts !== undefined || size % SECTOR !== 0 || size < sizeOf(head, object)))
    throw damaged(object, "it is cut off: its size is neither that of a database nor that of a snapshot");
  if (facts !== undefined && (size !== facts.size || sha256 !== facts.sha256))
    throw damaged(
      object,
      `the plain snapshot has ${size} bytes and the SHA-256 ${sha256}, its manifest names ${facts.size} and ${facts.sha256}`,
    );
  return { size, sha256, hasTrailer: fault === undefined, ...stored };
}

/** So much of what does not begin as a database is looked at all the same: one byte of a small snapshot may have changed. */
const MOST_UNKNOWN = 16 * 2 ** 20;

/** Databases are whole sectors. */
const SECTOR = 512;

/** @throws ReadFault `not-a-backup` */
function sizeOf(head: Uint8Array, object: string): number {
  try {
    return leastSizeOf(head);
  } catch (error) {
    if (!isSnapshotError(error)) throw error;
    throw new ReadFault("not-a-backup", `${object} is no snapshot of etcd: its first pages are none of a database`, { cause: error });
  }
}

/** Looks at all stored bytes. @throws ReadFault `damaged` when they are not what the manifest names */
async function compareWhole(found: FoundBackup, options: ReadOptions, reader: Parameters<typeof readStored>[0]): Promise<void> {
  if (found.facts === undefined) return;
  const tally = createTally();
  try {
    for await (const _ of tally.tap(readStored(reader, found.object))) options.onProgress?.(tally.size());
  } catch (error) {
    throw told(error);
  }
  compareStored(found, tally.size(), tally.sha256());
}

function compareStored({ object, facts }: FoundBackup, size: number, sha256: string): void {
  if (facts === undefined) return;
  if (size !== facts.storedSize) throw damaged(object, `it has ${size} bytes, and ${facts.storedSize} were stored`);
  if (sha256 !== facts.storedSha256)
    throw damaged(object, `the SHA-256 of what is stored is ${sha256}, and was ${facts.storedSha256} when it was written`);
}

function damaged(object: string, why: string, cause?: unknown): ReadFault {
  return new ReadFault("damaged", `${object} is damaged: ${why}`, { cause });
}

/** The worker's own words are for its task. */
function told(error: unknown): unknown {
  if (error instanceof TaskFault && error.reason === "backup-missing")
    return new ReadFault("missing", withoutRemedy(error), { cause: error });
  if (error instanceof TaskFault) return new ReadFault("damaged", withoutRemedy(error), { cause: error });
  return error;
}

/** What to do is said by whoever shows it. */
function withoutRemedy({ message }: Error): string {
  return message.replace(/\. [A-Z].*$/s, "");
}
