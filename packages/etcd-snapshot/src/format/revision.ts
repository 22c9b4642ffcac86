import { u32BigEndian, u64BigEndian } from "./bytes.ts";

/** Key of the bucket `key`: main revision, `_`, sub revision, and `t` behind it for a deletion (etcd server/storage/mvcc/revision.go). */
const revisionSize = 17;
export const deletionSize = 18;
const underscore = 0x5f;
const letterT = 0x74;

export interface Revision {
  /** From 1, one for each transaction. */
  readonly main: number;
  /** From 0, one for each change within the transaction. */
  readonly sub: number;
  readonly isDeletion: boolean;
}

/** Whether bytes look like the key of a revision. */
export function isRevision(bytes: Uint8Array, at: number, size: number): boolean {
  if (size !== revisionSize && size !== deletionSize) return false;
  return bytes[at + 8] === underscore && (size === revisionSize || bytes[at + revisionSize] === letterT);
}

/** `undefined` for what is no revision, and for one that no etcd reaches. */
export function readRevision(key: Uint8Array): Revision | undefined {
  if (!isRevision(key, 0, key.length)) return undefined;
  const main = u64BigEndian(key, 0);
  const sub = u64BigEndian(key, 9);
  if (main === Infinity || sub === Infinity) return undefined;
  return { main, sub, isDeletion: key.length === deletionSize };
}

export function writeRevision(main: number, sub: number, isDeletion: boolean): Uint8Array {
  const bytes = Buffer.alloc(isDeletion ? deletionSize : revisionSize);
  bytes.writeBigUInt64BE(BigInt(main), 0);
  bytes[8] = underscore;
  bytes.writeBigUInt64BE(BigInt(sub), 9);
  if (isDeletion) bytes[revisionSize] = letterT;
  return bytes;
}

/** Main revision of a key of {@link isRevision}, without making an object of it. */
export function mainRevision(bytes: Uint8Array, at: number): number {
  return u32BigEndian(bytes, at) * 0x1_0000_0000 + u32BigEndian(bytes, at + 4);
}
