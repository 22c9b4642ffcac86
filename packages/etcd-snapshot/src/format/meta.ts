import { SnapshotError } from "../errors.ts";
import { putU32, putU64, u32, u64 } from "./bytes.ts";
import { pageHeaderSize } from "./page.ts";

const magic = 0xed0cdaed;
const formatVersion = 2;
/** Bytes under the checksum; the checksum itself has 8. */
const checkedSize = 56;
/** Page header and meta. */
export const metaSize = pageHeaderSize + checkedSize + 8;
export const minPageSize = 1024;
export const maxPageSize = 65_536;
/** Where the freelist is not written, as etcd has it: every page that nothing refers to is free. */
const noFreelist = 0xffff_ffff_ffff_ffffn;

/** What the first two pages say, of which the newer valid one counts. */
export interface Meta {
  readonly pageSize: number;
  /** Root page of the bucket that holds the buckets. */
  readonly root: number;
  readonly freelist: number | undefined;
  /** Number of pages: the high water mark. */
  readonly pages: number;
  readonly transaction: number;
}

/** The meta of a page that begins at `at`; `undefined` when it is not valid. */
export function readMeta(bytes: Uint8Array, at: number): Meta | undefined {
  if (at + metaSize > bytes.length) return undefined;
  const meta = at + pageHeaderSize;
  if (u32(bytes, meta) !== magic || u32(bytes, meta + 4) !== formatVersion) return undefined;
  const [low, high] = checksum(bytes, meta);
  if (u32(bytes, meta + checkedSize) !== low || u32(bytes, meta + checkedSize + 4) !== high) return undefined;
  const pageSize = u32(bytes, meta + 8);
  if (pageSize < minPageSize || pageSize > maxPageSize || (pageSize & (pageSize - 1)) !== 0) return undefined;
  const freelist = u64(bytes, meta + 32);
  return {
    pageSize,
    root: u64(bytes, meta + 16),
    freelist: freelist === Infinity ? undefined : freelist,
    pages: u64(bytes, meta + 40),
    transaction: u64(bytes, meta + 48),
  };
}

/**
 * The valid meta with the highest transaction, from the beginning of a database.
 *
 * The second meta page lies one page behind the first. Where the first is damaged its page size is unknown, so every size is tried, as bbolt does.
 */
export function newestMeta(beginning: Uint8Array): Meta {
  const first = readMeta(beginning, 0);
  const offsets: number[] = [];
  if (first !== undefined) offsets.push(first.pageSize);
  else for (let size = minPageSize; size <= maxPageSize; size *= 2) offsets.push(size);
  let newest = first;
  for (const offset of offsets) {
    const second = readMeta(beginning, offset);
    if (second?.pageSize !== offset) continue;
    if (newest === undefined || second.transaction > newest.transaction) newest = second;
  }
  if (newest === undefined) throw new SnapshotError("NOT_A_DATABASE", "neither of the first two pages is a valid meta page of bbolt");
  return newest;
}

export function writeMeta(bytes: Uint8Array, at: number, value: Meta): void {
  const meta = at + pageHeaderSize;
  putU32(bytes, meta, magic);
  putU32(bytes, meta + 4, formatVersion);
  putU32(bytes, meta + 8, value.pageSize);
  putU64(bytes, meta + 16, value.root);
  if (value.freelist === undefined) new DataView(bytes.buffer, bytes.byteOffset + meta + 32, 8).setBigUint64(0, noFreelist, true);
  else putU64(bytes, meta + 32, value.freelist);
  putU64(bytes, meta + 40, value.pages);
  putU64(bytes, meta + 48, value.transaction);
  const [low, high] = checksum(bytes, meta);
  putU32(bytes, meta + checkedSize, low);
  putU32(bytes, meta + checkedSize + 4, high);
}

/** FNV-1a of 64 bits, as its two halves. The prime is 2^40 + 0x1b3. */
function checksum(bytes: Uint8Array, from: number): readonly [low: number, high: number] {
  let low = 0x84222325;
  let high = 0xcbf29ce4;
  for (let at = from; at < from + checkedSize; at += 1) {
    low = (low ^ (bytes[at] ?? 0)) >>> 0;
    const product = low * 0x1b3;
    high = (Math.imul(high, 0x1b3) + Math.floor(product / 0x1_0000_0000) + (low << 8)) >>> 0;
    low = product >>> 0;
  }
  return [low, high];
}
