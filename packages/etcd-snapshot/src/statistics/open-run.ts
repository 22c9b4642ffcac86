import { putU32, u32 } from "../format/bytes.ts";
import { bucketElementFlag, cutElementFlag, elementSize, pageFlags, pageHeaderSize, readPageHeader } from "../format/page.ts";
import { maxKeptValue } from "./page-records.ts";

/** bbolt splits a leaf as soon as it holds two entries and is fuller than a page. */
const maxShort = 4 * 1024 * 1024;

/**
 * A branch or leaf that goes on through the pages behind it: what is needed of it is picked up as they pass.
 *
 * It may be an old one, whose pages behind it have been used anew; then its record is never looked at.
 */
export class OpenRun {
  readonly page: number;
  readonly overflow: number;
  /** Nothing more is needed. */
  isComplete = false;
  /** It cannot be a page of the database. */
  isDamaged = false;
  /** More would have to be held of it than bbolt ever puts on one page. */
  isTooLarge = false;
  /** The page without the ends of its values; whole once {@link isComplete}. */
  short: Uint8Array;
  readonly #isLeaf: boolean;
  readonly #size: number;
  readonly #tableEnd: number;
  #filled = 0;
  /** Where the pieces lie in the run, and in `short`, in the order of both. */
  #pieces: { readonly from: number; readonly to: number; readonly into: number }[] = [];
  #nextPiece = 0;

  constructor(page: number, beginning: Uint8Array, pageSize: number) {
    const { flags, count, overflow } = readPageHeader(beginning);
    this.page = page;
    this.overflow = overflow;
    this.#isLeaf = flags === pageFlags.leaf;
    this.#size = (overflow + 1) * pageSize;
    this.#tableEnd = pageHeaderSize + count * elementSize;
    this.short = new Uint8Array(Math.min(this.#tableEnd, this.#size));
    this.isDamaged = this.#tableEnd > this.#size;
  }

  get bytes(): number {
    return this.short.length + this.#pieces.length * 40;
  }

  /** The next bytes of the run; `offset` is where they lie in it. */
  feed(bytes: Uint8Array, offset: number): void {
    if (this.#filled < this.#tableEnd) {
      const part = bytes.subarray(0, this.#tableEnd - this.#filled);
      this.short.set(part, this.#filled);
      this.#filled += part.length;
      if (this.#filled < this.#tableEnd) return;
      this.#plan();
    }
    const end = offset + bytes.length;
    for (; this.#nextPiece < this.#pieces.length && !this.isDamaged && !this.isTooLarge; this.#nextPiece += 1) {
      const piece = this.#pieces[this.#nextPiece];
      if (piece === undefined || piece.from >= end) return;
      const from = Math.max(piece.from, offset);
      this.short.set(bytes.subarray(from - offset, Math.min(piece.to, end) - offset), piece.into + from - piece.from);
      if (piece.to > end) return;
    }
    this.isComplete = true;
  }

  /** The table is there: what to pick up, and where the shortened page has it. */
  #plan(): void {
    if (!this.#isLeaf) return;
    let into = this.#tableEnd;
    let before = this.#tableEnd;
    for (let at = pageHeaderSize; at < this.#tableEnd; at += elementSize) {
      const from = at + u32(this.short, at + 4);
      const keySize = u32(this.short, at + 8);
      const valueSize = u32(this.short, at + 12);
      // bbolt lays entries out one behind the other.
      if (from < before || from + keySize + valueSize > this.#size || keySize > 0xffff) {
        this.isDamaged = true;
        return;
      }
      before = from + keySize + valueSize;
      const kept = Math.min(valueSize, maxKeptValue);
      putU32(this.short, at, (u32(this.short, at) & bucketElementFlag) | (kept < valueSize ? cutElementFlag : 0));
      putU32(this.short, at + 4, into - at);
      putU32(this.short, at + 12, kept);
      this.#pieces.push({ from, to: from + keySize + kept, into });
      into += keySize + kept;
      if (into > maxShort) {
        this.isTooLarge = true;
        return;
      }
    }
    const short = new Uint8Array(into);
    short.set(this.short);
    this.short = short;
  }
}
