import { SnapshotError } from "../errors.ts";
import { compareBytes, u16, u64 } from "../format/bytes.ts";
import { maxPageSize, metaSize, newestMeta } from "../format/meta.ts";
import {
  bucketHeaderSize,
  elementSize,
  pageFlags,
  pageHeaderSize,
  readBranchElement,
  readLeafElement,
  readPageHeader,
} from "../format/page.ts";
import type { SnapshotSource } from "./source.ts";

/** An entry of a bucket; its bytes are good until the next one. */
export interface Entry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** A database that was opened; every page is read when it is needed. */
export interface Database {
  readonly pageSize: number;
  /** Bytes, without trailer. */
  readonly size: number;
  /** Names of the buckets, sorted. */
  readonly buckets: readonly string[];
  /** Entries in the order of their keys, or against it; none of a bucket that is not there. Throws `CORRUPT` at the first page that is damaged. */
  entries(bucket: string, options?: { readonly isBackwards?: boolean }): IterableIterator<Entry>;
}

interface Bucket {
  /** Root page, or the page itself of an inline bucket. */
  readonly root: number | Uint8Array;
}

/** A page on the way down: what is left of it is between `next` and the end, in the direction of the walk. */
interface Level {
  readonly page: Uint8Array;
  readonly isLeaf: boolean;
  readonly count: number;
  next: number;
}

/** More of them than a tree of 2^64 pages has levels would be a chain, not a tree. */
const maxDepth = 64;
/** A page with its overflow: etcd takes requests of megabytes, and a leaf holds a few of them. */
const maxRunBytes = 256 * 1024 * 1024;

/** So many bytes from its beginning tell how large a database is. */
export const beginningSize: number = maxPageSize + metaSize;

/** Bytes that a database has at least, by its newest valid meta page: fewer, and its end is missing. Throws `NOT_A_DATABASE`. */
export function leastSizeOf(beginning: Uint8Array): number {
  const { pages, pageSize } = newestMeta(beginning);
  return pages * pageSize;
}

/** Opens a database with its newest valid meta page, as bbolt does. Throws `NOT_A_DATABASE`, `TRUNCATED` and `CORRUPT`. */
export function openDatabase(source: SnapshotSource): Database {
  const meta = newestMeta(source.read(0, maxPageSize + metaSize).slice());
  if (meta.pages * meta.pageSize > source.size)
    throw new SnapshotError("TRUNCATED", `${source.size} bytes are there, ${meta.pages} pages of ${meta.pageSize} were written`);
  const tree = new Tree(source, meta.pageSize, meta.pages);
  const buckets = new Map<string, Bucket>();
  for (const { key, value, isBucket } of tree.entries(meta.root, false)) {
    if (!isBucket || value.length < bucketHeaderSize) throw new SnapshotError("CORRUPT", "an entry beside the buckets");
    if (buckets.size >= maxBuckets) throw new SnapshotError("LIMIT_EXCEEDED", `more than ${maxBuckets} buckets`);
    const root = u64(value, 0);
    buckets.set(Buffer.from(key).toString("latin1"), { root: root === 0 ? value.slice(bucketHeaderSize) : root });
  }
  return {
    pageSize: meta.pageSize,
    size: meta.pages * meta.pageSize,
    buckets: [...buckets.keys()],
    *entries(name, { isBackwards = false } = {}) {
      const bucket = buckets.get(name);
      if (bucket === undefined) return;
      for (const { key, value, isBucket } of tree.entries(bucket.root, isBackwards)) {
        if (isBucket) throw new SnapshotError("CORRUPT", "a bucket within a bucket");
        yield { key, value };
      }
    },
  };
}

const maxBuckets = 1000;

class Tree {
  readonly #source: SnapshotSource;
  readonly #pageSize: number;
  readonly #pages: number;

  constructor(source: SnapshotSource, pageSize: number, pages: number) {
    this.#source = source;
    this.#pageSize = pageSize;
    this.#pages = pages;
  }

  /** Leaf entries below a root in order; every page at most once. */
  *entries(
    root: number | Uint8Array,
    isBackwards: boolean,
  ): Generator<{ readonly key: Uint8Array; readonly value: Uint8Array; readonly isBucket: boolean }, void> {
    const seen = new Uint8Array(Math.ceil(this.#pages / 8));
    const levels = [typeof root === "number" ? this.#read(root, seen, isBackwards) : level(root, isBackwards)];
    let before: Uint8Array | undefined;
    for (let top = levels.at(-1); top !== undefined; top = levels.at(-1)) {
      if (top.next < 0 || top.next >= top.count) {
        levels.pop();
        continue;
      }
      const index = top.next;
      top.next += isBackwards ? -1 : 1;
      if (!top.isLeaf) {
        const { child } = readBranchElement(top.page, index);
        if (levels.length >= maxDepth) throw new SnapshotError("CORRUPT", `page ${child} lies deeper than any tree`);
        levels.push(this.#read(child, seen, isBackwards));
        continue;
      }
      const { isBucket, keyAt, keySize, valueSize } = readLeafElement(top.page, index);
      const valueAt = keyAt + keySize;
      if (keySize === 0 || valueAt + valueSize > top.page.length) throw new SnapshotError("CORRUPT", "an entry goes beyond its page");
      const key = top.page.subarray(keyAt, valueAt);
      if (before !== undefined && compareBytes(before, key) * (isBackwards ? -1 : 1) >= 0)
        throw new SnapshotError("CORRUPT", "keys out of order");
      // The page may be overwritten by the next read.
      before = key.slice();
      yield { key, value: top.page.subarray(valueAt, valueAt + valueSize), isBucket };
    }
  }

  #read(page: number, seen: Uint8Array, isBackwards: boolean): Level {
    if (page < 2 || page >= this.#pages) throw new SnapshotError("CORRUPT", `page ${page} is not there`);
    const bit = 1 << (page & 7);
    if (((seen[page >>> 3] ?? 0) & bit) !== 0) throw new SnapshotError("CORRUPT", `page ${page} is referred to twice`);
    seen[page >>> 3] = (seen[page >>> 3] ?? 0) | bit;
    const at = page * this.#pageSize;
    let bytes = this.#bytes(at, this.#pageSize);
    const header = readPageHeader(bytes);
    if (header.id !== page) throw new SnapshotError("CORRUPT", `page ${page} is not the one that is referred to`);
    if (header.overflow > 0) {
      const size = (header.overflow + 1) * this.#pageSize;
      if (page + header.overflow >= this.#pages) throw new SnapshotError("CORRUPT", `page ${page} goes on beyond the end`);
      if (size > maxRunBytes) throw new SnapshotError("LIMIT_EXCEEDED", `page ${page} has ${size} bytes`);
      bytes = this.#bytes(at, size);
    }
    return level(bytes, isBackwards, page);
  }

  /** Its own copy: levels of the tree live beside each other. */
  #bytes(at: number, size: number): Uint8Array {
    const bytes = this.#source.read(at, size);
    if (bytes.length < size) throw new SnapshotError("TRUNCATED", `the source ends within the page at ${at}`);
    return this.#source.isStable === true ? bytes : bytes.slice();
  }
}

function level(page: Uint8Array, isBackwards: boolean, id?: number): Level {
  const name = id === undefined ? "an inline bucket" : `page ${id}`;
  const flags = u16(page, 8);
  const count = u16(page, 10);
  if (flags !== pageFlags.leaf && (flags !== pageFlags.branch || id === undefined))
    throw new SnapshotError("CORRUPT", `${name} is neither branch nor leaf`);
  if (pageHeaderSize + count * elementSize > page.length) throw new SnapshotError("CORRUPT", `${name} has more entries than room`);
  return { page, isLeaf: flags === pageFlags.leaf, count, next: isBackwards ? count - 1 : 0 };
}
