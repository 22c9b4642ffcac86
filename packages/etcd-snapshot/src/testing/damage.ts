import { newestMeta, writeMeta } from "../format/meta.ts";

/** The same bytes with others at one place. */
export function changed(bytes: Uint8Array, at: number, others: readonly number[]): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy.set(others.slice(0, Math.max(0, bytes.length - at)), at);
  return copy;
}

/** A number of 64 bits as it lies in a page. */
export function u64Bytes(value: bigint): readonly number[] {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return [...bytes];
}

/** Both meta pages say something else, with a checksum that is right. */
export function withMeta(bytes: Uint8Array, other: Partial<ReturnType<typeof newestMeta>>): Uint8Array {
  const copy = Uint8Array.from(bytes);
  const meta = newestMeta(bytes);
  for (const page of [0, 1]) writeMeta(copy, page * meta.pageSize, { ...meta, ...other });
  return copy;
}
