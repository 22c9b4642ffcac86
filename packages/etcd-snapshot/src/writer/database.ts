import { SnapshotError } from "../errors.ts";
import { compareBytes, putU16, putU32, putU64 } from "../format/bytes.ts";
import { maxPageSize, minPageSize, writeMeta } from "../format/meta.ts";
import { bucketElementFlag, bucketHeaderSize, elementSize, pageFlags, pageHeaderSize } from "../format/page.ts";

export interface DatabaseEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

export interface DatabaseBucket {
  readonly name: string;
  /** In any order; each key once, none empty. */
  readonly entries: readonly DatabaseEntry[];
}

export interface DatabaseContents {
  readonly buckets: readonly DatabaseBucket[];
  /** Bytes; a power of two from 1,024 to 65,536. Default 4,096, that of most machines that etcd runs on. */
  readonly pageSize?: number;
}

/** An entry of a tree in the making; `flags` as in the element of its leaf. */
interface Item {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly flags: number;
}

interface Page {
  readonly id: number;
  readonly flags: number;
  readonly overflow: number;
  readonly items: readonly Item[];
  /** Of a branch, one for each item. */
  readonly children: readonly number[];
}

/** Bolt leaves room for inserts; we write once, so pages are filled. The count is a number of 16 bits in the page, with 0xFFFF for more in a freelist. */
const maxItems = 0xfffe;

/**
 * A database file of bbolt that holds these buckets and nothing else: no free pages, every bucket at the top. Equal input gives equal bytes.
 *
 * Throws `INVALID_INPUT` for an empty or repeated key or name, and for another page size.
 */
export function writeDatabase(contents: DatabaseContents): Uint8Array {
  const pageSize = contents.pageSize ?? 4096;
  if (pageSize < minPageSize || pageSize > maxPageSize || (pageSize & (pageSize - 1)) !== 0)
    throw new SnapshotError("INVALID_INPUT", `a page of ${pageSize} bytes`);
  // Two meta pages, and an empty freelist.
  const freelist = 2;
  const tree = new TreeWriter(pageSize, freelist + 1);
  const root = tree.add(sorted(contents.buckets.map(({ name, entries }) => bucketItem(tree, pageSize, name, entries))));
  const bytes = Buffer.alloc(tree.nextPage * pageSize);
  // As a snapshot has them: the same tree in both, the first with the newer transaction.
  for (const page of [0, 1]) {
    putHeader(bytes, page * pageSize, { id: page, flags: pageFlags.meta, count: 0, overflow: 0 });
    writeMeta(bytes, page * pageSize, { pageSize, root, freelist, pages: tree.nextPage, transaction: 2 - page });
  }
  putHeader(bytes, freelist * pageSize, { id: freelist, flags: pageFlags.freelist, count: 0, overflow: 0 });
  for (const page of tree.pages) writePage(bytes, page.id * pageSize, page);
  return bytes;
}

/** Lays entries out on pages, leaves first, and remembers them for the moment when the size of the file is known. */
class TreeWriter {
  readonly pages: Page[] = [];
  nextPage: number;
  readonly #pageSize: number;

  constructor(pageSize: number, firstPage: number) {
    this.#pageSize = pageSize;
    this.nextPage = firstPage;
  }

  /** The root page of a tree that holds these items, which are sorted. */
  add(items: readonly Item[]): number {
    let level = this.#split(items).map((part) => this.#place(pageFlags.leaf, part, []));
    while (level.length > 1) {
      const children = level;
      let placed = 0;
      level = this.#split(
        children.map(({ key }) => ({ key, value: nothing, flags: 0 })),
        2,
      ).map((part) => {
        const own = children.slice(placed, placed + part.length);
        placed += part.length;
        return this.#place(
          pageFlags.branch,
          part,
          own.map(({ id }) => id),
        );
      });
    }
    return level[0]?.id ?? 0;
  }

  /** As many items as fit on a page each, at least `fewest`: one that is larger than a page goes on through those behind it. */
  #split(items: readonly Item[], fewest = 1): readonly (readonly Item[])[] {
    const parts: Item[][] = [[]];
    let part: Item[] = parts[0] ?? [];
    let size = pageHeaderSize;
    for (const item of items) {
      const itemSize = sizeOf(item);
      if (part.length >= fewest && (size + itemSize > this.#pageSize || part.length === maxItems)) {
        part = [];
        parts.push(part);
        size = pageHeaderSize;
      }
      part.push(item);
      size += itemSize;
    }
    return parts;
  }

  #place(flags: number, items: readonly Item[], children: readonly number[]): { readonly key: Uint8Array; readonly id: number } {
    const overflow = Math.ceil(pageBytes(items) / this.#pageSize) - 1;
    const id = this.nextPage;
    this.pages.push({ id, flags, overflow, items, children });
    this.nextPage += overflow + 1;
    return { key: items[0]?.key ?? nothing, id };
  }
}

const nothing = new Uint8Array(0);

function bucketItem(tree: TreeWriter, pageSize: number, name: string, entries: readonly DatabaseEntry[]): Item {
  const items = sorted(entries.map(({ key, value }) => ({ key, value, flags: 0 })));
  const size = pageBytes(items);
  // A bucket of at most a quarter of a page lies in the value that stands for it, as bolt has it.
  const isInline = size <= pageSize / 4;
  const value = Buffer.alloc(bucketHeaderSize + (isInline ? size : 0));
  if (isInline) writePage(value, bucketHeaderSize, { id: 0, flags: pageFlags.leaf, overflow: 0, items, children: [] });
  else putU64(value, 0, tree.add(items));
  return { key: Buffer.from(name), value, flags: bucketElementFlag };
}

function sorted(items: readonly Item[]): readonly Item[] {
  const inOrder = items.toSorted((left, right) => compareBytes(left.key, right.key));
  for (const [index, { key }] of inOrder.entries()) {
    if (key.length === 0) throw new SnapshotError("INVALID_INPUT", "an empty key");
    const before = inOrder[index - 1];
    if (before !== undefined && compareBytes(before.key, key) === 0) throw new SnapshotError("INVALID_INPUT", "a key that is there twice");
  }
  return inOrder;
}

function sizeOf(item: Item): number {
  return elementSize + item.key.length + item.value.length;
}

function pageBytes(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + sizeOf(item), pageHeaderSize);
}

function putHeader(
  bytes: Uint8Array,
  at: number,
  header: { readonly id: number; readonly flags: number; readonly count: number; readonly overflow: number },
): void {
  putU64(bytes, at, header.id);
  putU16(bytes, at + 8, header.flags);
  putU16(bytes, at + 10, header.count);
  putU32(bytes, at + 12, header.overflow);
}

function writePage(bytes: Uint8Array, at: number, page: Page): void {
  putHeader(bytes, at, { ...page, count: page.items.length });
  let data = at + pageHeaderSize + page.items.length * elementSize;
  for (const [index, item] of page.items.entries()) {
    const element = at + pageHeaderSize + index * elementSize;
    if (page.flags === pageFlags.leaf) {
      putU32(bytes, element, item.flags);
      putU32(bytes, element + 4, data - element);
      putU32(bytes, element + 8, item.key.length);
      putU32(bytes, element + 12, item.value.length);
    } else {
      putU32(bytes, element, data - element);
      putU32(bytes, element + 4, item.key.length);
      putU64(bytes, element + 8, page.children[index] ?? 0);
    }
    bytes.set(item.key, data);
    bytes.set(item.value, data + item.key.length);
    data += item.key.length + item.value.length;
  }
}
