import { putU32, u32, u64 } from "../format/bytes.ts";
import { elementSize, pageFlags, pageHeaderSize, readLeafElement, readPageHeader } from "../format/page.ts";
import { deletionSize, isRevision } from "../format/revision.ts";
import { readVarint } from "../format/protobuf.ts";
import { hashKey, keyHash } from "./key-hash.ts";

// What is put aside of a page: a header of 16 bytes (kind, pages behind it, entries, bytes of the payload), and the payload. A branch's is its children, four
// bytes each; a leaf's its entries: of a revision the main revision and the hash of the key, of the few others that are looked at all, of the rest nothing.

export const recordKinds = { branch: 1, leaf: 2, damaged: 3, undecided: 4 } as const;
export const recordHeaderSize = 16;
export const entryKinds = { write: 1, deletion: 2, badRevision: 3, kept: 4, bucket: 5 } as const;
/** Kind, main revision, hash of the key. */
export const revisionEntrySize = 17;
/** Kind, size of the key, size of the value. */
export const keptEntryHeaderSize = 7;
/** A value that is looked at is smaller: an inline bucket has at most a quarter of a page. */
export const maxKeptValue = 16 * 1024 + 16;

const keptKeys = new Set(["consistent_index", "term", "storageVersion", "clusterVersion", "finishedCompactRev"]);
const shortestKept = 1;
const longestKept = 19;
const brace = 0x7b;
const removed = "removed".length;
const identifier = /^[0-9a-f]{1,16}$/;

/** Bytes of a record in the making, used again and again. */
export class RecordBuffer {
  bytes = new Uint8Array(64 * 1024);
  size = 0;

  start(): void {
    this.size = recordHeaderSize;
  }

  reserve(more: number): number {
    if (this.size + more > this.bytes.length) {
      const larger = new Uint8Array(Math.max(this.size + more, this.bytes.length * 2));
      larger.set(this.bytes.subarray(0, this.size));
      this.bytes = larger;
    }
    const at = this.size;
    this.size += more;
    return at;
  }

  finish(kind: number, overflow: number, count: number): Uint8Array {
    // Records begin at multiples of eight, so that four bytes a page find them in 32 GiB.
    const payload = this.size - recordHeaderSize;
    const padding = (8 - (this.size % 8)) % 8;
    this.reserve(padding);
    putU32(this.bytes, 0, kind);
    putU32(this.bytes, 4, overflow);
    putU32(this.bytes, 8, count);
    putU32(this.bytes, 12, payload);
    return this.bytes.subarray(0, this.size);
  }
}

/** The record of a branch or a leaf that is whole, or shortened by an {@link OpenRun}. */
export function recordOfPage(buffer: RecordBuffer, page: Uint8Array, isShort = false): Uint8Array {
  const { flags, count, overflow } = readPageHeader(page);
  buffer.start();
  const isGood = flags === pageFlags.branch ? putBranch(buffer, page, count) : putLeaf(buffer, page, count, isShort);
  if (!isGood) return recordWithout(buffer, recordKinds.damaged, overflow);
  return buffer.finish(flags === pageFlags.branch ? recordKinds.branch : recordKinds.leaf, overflow, count);
}

export function recordWithout(buffer: RecordBuffer, kind: number, overflow: number): Uint8Array {
  buffer.start();
  return buffer.finish(kind, overflow, 0);
}

function putBranch(buffer: RecordBuffer, page: Uint8Array, count: number): boolean {
  if (pageHeaderSize + count * elementSize > page.length) return false;
  const at = buffer.reserve(count * 4);
  for (let index = 0; index < count; index += 1) {
    const child = u64(page, pageHeaderSize + index * elementSize + 8);
    if (child > 0xffff_ffff) return false;
    putU32(buffer.bytes, at + index * 4, child);
  }
  return true;
}

/** Also of the page of an inline bucket. */
function putLeaf(buffer: RecordBuffer, page: Uint8Array, count: number, isShort: boolean): boolean {
  if (pageHeaderSize + count * elementSize > page.length) return false;
  for (let index = 0; index < count; index += 1) {
    const { isBucket, keyAt, keySize, valueSize, ...element } = readLeafElement(page, index);
    const isCut = isShort && element.isCut;
    if (keySize === 0 || keySize > 0xffff || keyAt + keySize + valueSize > page.length) return false;
    if (isBucket) putKept(buffer, entryKinds.bucket, page, keyAt, keySize, valueSize);
    else if (isRevision(page, keyAt, keySize)) putRevision(buffer, page, keyAt, keySize, valueSize, isCut);
    else if (!isCut && isLookedAt(page, keyAt, keySize, valueSize) && valueSize <= maxKeptValue)
      putKept(buffer, entryKinds.kept, page, keyAt, keySize, valueSize);
  }
  return true;
}

/** Members are JSON and removed ones a word; a user of etcd that is named like an identifier is neither, and its password stays out of the spool. */
function isLookedAt(page: Uint8Array, keyAt: number, keySize: number, valueSize: number): boolean {
  if (keySize < shortestKept || keySize > longestKept) return false;
  const key = String.fromCharCode(...page.subarray(keyAt, keyAt + keySize));
  if (keptKeys.has(key)) return true;
  return identifier.test(key) && (valueSize === removed || page[keyAt + keySize] === brace);
}

function putKept(buffer: RecordBuffer, kind: number, page: Uint8Array, keyAt: number, keySize: number, valueSize: number): void {
  const at = buffer.reserve(keptEntryHeaderSize + keySize + valueSize);
  buffer.bytes[at] = kind;
  buffer.bytes[at + 1] = keySize;
  buffer.bytes[at + 2] = keySize >>> 8;
  putU32(buffer.bytes, at + 3, valueSize);
  buffer.bytes.set(page.subarray(keyAt, keyAt + keySize + valueSize), at + keptEntryHeaderSize);
}

function putRevision(buffer: RecordBuffer, page: Uint8Array, keyAt: number, keySize: number, valueSize: number, isCut: boolean): void {
  const at = buffer.reserve(revisionEntrySize);
  const bytes = buffer.bytes;
  const isGood = hashOfEtcdKey(page, keyAt + keySize, valueSize, isCut);
  bytes[at] = !isGood ? entryKinds.badRevision : keySize === deletionSize ? entryKinds.deletion : entryKinds.write;
  bytes.set(page.subarray(keyAt, keyAt + 8), at + 1);
  putU32(bytes, at + 9, keyHash.low);
  putU32(bytes, at + 13, keyHash.high);
}

/** Of the first field of an `mvccpb.KeyValue`; a message without it has an empty key. False when it is none. */
function hashOfEtcdKey(page: Uint8Array, valueAt: number, valueSize: number, isCut: boolean): boolean {
  const keyTag = 0x0a;
  if (valueSize === 0 || page[valueAt] !== keyTag) {
    hashKey(page, valueAt, valueAt);
    return true;
  }
  const length = readVarint(page, valueAt + 1);
  if (length === undefined) return false;
  const end = length.end + length.value;
  if (end > valueAt + valueSize && !isCut) return false;
  // Of a key longer than what is held of a value that goes on through further pages, only the beginning tells it from others.
  hashKey(page, length.end, Math.min(end, valueAt + valueSize));
  return true;
}

/** Of the header of a record. */
export interface RecordHeader {
  readonly kind: number;
  readonly overflow: number;
  readonly count: number;
  readonly payloadBytes: number;
}

export function readRecordHeader(bytes: Uint8Array): RecordHeader {
  return { kind: u32(bytes, 0), overflow: u32(bytes, 4), count: u32(bytes, 8), payloadBytes: u32(bytes, 12) };
}
