import { openBrace, openBracket, quote } from "./json-bytes.ts";
import type { KnownJson } from "./known-json.ts";

/** The next difference is mostly near; what is further away is compared in blocks, each of which costs the call of a function of Node. */
const nearBytes = 128;
const blockBytes = 512;
/** Parsing more pieces than this costs more than the whole. */
const mostPieces = 24;

/** New JSON laid beside remembered JSON. Used again for one pair after the other. */
export class JsonComparison {
  /** How much further on the new text says the same. */
  shift = 0;
  /** Up to this place of the old bytes the new ones are the same. */
  same = 0;
  /** From so many places of the old bytes on the new text says the same; for each, where it is and how much further on. */
  #pieces = 0;
  readonly #places = new Int32Array(mostPieces + 1);
  readonly #shifts = new Int32Array(mostPieces + 1);
  #old: Buffer = Buffer.alloc(0);
  #oldView: DataView = new DataView(this.#old.buffer);
  #oldEnd = 0;
  #text: Buffer = this.#old;
  #view: DataView = this.#oldView;
  #end = 0;

  /** Compares from the beginning of both. `view` shows `text`. */
  begin(known: KnownJson, text: Buffer, view: DataView, start: number, end: number): void {
    this.#old = known.bytes;
    this.#oldView = known.view;
    this.#oldEnd = known.length;
    this.#text = text;
    this.#view = view;
    this.#end = end;
    this.#pieces = 0;
    this.goOn(0, start);
  }

  /** There are too many differences to go on. */
  get isFull(): boolean {
    return this.#pieces > mostPieces;
  }

  /** Compares on from these places. */
  goOn(oldAt: number, newAt: number): void {
    this.shift = newAt - oldAt;
    this.#places[this.#pieces] = oldAt;
    this.#shifts[this.#pieces] = this.shift;
    this.#pieces += 1;
    const stop = Math.min(this.#oldEnd, this.#end - this.shift);
    let same = this.#sameUpTo(oldAt, Math.min(stop, oldAt + nearBytes));
    if (same === oldAt + nearBytes) {
      while (same + blockBytes <= stop && this.#isSameBlock(same)) same += blockBytes;
      same = this.#sameUpTo(same, stop);
    }
    this.same = same;
  }

  /** Whether the next difference is in this value of the old bytes, or behind it and may be its own. */
  isAt(from: number, to: number): boolean {
    return from <= this.same && (this.same < to || isOpen(this.#old[from]));
  }

  /** Where what stood at this place of the old bytes is in the new text. */
  newPlaceOf(from: number): number {
    let last = this.#pieces - 1;
    while ((this.#places[last] as number) > from) last -= 1;
    return from + (this.#shifts[last] as number);
  }

  /** The place of the first difference, or `stop`. */
  #sameUpTo(from: number, stop: number): number {
    const [old, oldView, text, view, shift] = [this.#old, this.#oldView, this.#text, this.#view, this.shift];
    let at = from;
    while (
      at <= stop - 8 &&
      oldView.getInt32(at) === view.getInt32(at + shift) &&
      oldView.getInt32(at + 4) === view.getInt32(at + 4 + shift)
    )
      at += 8;
    while (at < stop && old[at] === text[at + shift]) at += 1;
    return at;
  }

  #isSameBlock(at: number): boolean {
    return this.#old.compare(this.#text, at + this.shift, at + this.shift + blockBytes, at, at + blockBytes) === 0;
  }
}

/** Whether a value that begins so may go on behind its last byte, as numbers do. */
function isOpen(first: number | undefined): boolean {
  return first !== quote && first !== openBrace && first !== openBracket;
}
