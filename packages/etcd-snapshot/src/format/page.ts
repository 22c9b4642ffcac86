import { u16, u32, u64 } from "./bytes.ts";

// The file format of bbolt (go.etcd.io/bbolt, internal/common/page.go), which has not changed since 2014: pages of one size, each with a header of 16 bytes;
// a page with `overflow` n goes on through the n pages behind it. Branch pages name children, leaf pages hold entries, both sorted by key.

export const pageHeaderSize = 16;
/** Of an element of a branch or a leaf: both have the same size. */
export const elementSize = 16;

/** A page is exactly one of these. */
export const pageFlags = { branch: 0x01, leaf: 0x02, meta: 0x04, freelist: 0x10 } as const;
/** Flag of a leaf's element whose value is a bucket: root page and sequence, and for an inline bucket (root 0) the page itself. */
export const bucketElementFlag = 0x01;
/** Flag of an element whose value we cut; bbolt does not use it. */
export const cutElementFlag = 0x8000_0000;
export const bucketHeaderSize = 16;

export interface PageHeader {
  readonly id: number;
  readonly flags: number;
  readonly count: number;
  /** Pages behind this one that belong to it. */
  readonly overflow: number;
}

export function readPageHeader(bytes: Uint8Array, at = 0): PageHeader {
  return { id: u64(bytes, at), flags: u16(bytes, at + 8), count: u16(bytes, at + 10), overflow: u32(bytes, at + 12) };
}

export interface LeafElement {
  readonly isBucket: boolean;
  /** Of a page that we shortened: the value goes on, but only its beginning is held here. Means nothing in a file. */
  readonly isCut: boolean;
  /** Offset of the key in the page; the value follows it. */
  readonly keyAt: number;
  readonly keySize: number;
  readonly valueSize: number;
}

/** Element `index` of a leaf page whose header is at the beginning of `bytes`. */
export function readLeafElement(bytes: Uint8Array, index: number): LeafElement {
  const at = pageHeaderSize + index * elementSize;
  return {
    isBucket: (u32(bytes, at) & bucketElementFlag) !== 0,
    isCut: (u32(bytes, at) & cutElementFlag) !== 0,
    keyAt: at + u32(bytes, at + 4),
    keySize: u32(bytes, at + 8),
    valueSize: u32(bytes, at + 12),
  };
}

export interface BranchElement {
  readonly keyAt: number;
  readonly keySize: number;
  readonly child: number;
}

export function readBranchElement(bytes: Uint8Array, index: number): BranchElement {
  const at = pageHeaderSize + index * elementSize;
  return { keyAt: at + u32(bytes, at), keySize: u32(bytes, at + 4), child: u64(bytes, at + 8) };
}
