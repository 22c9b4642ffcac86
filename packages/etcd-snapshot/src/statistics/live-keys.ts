import { SnapshotError } from "../errors.ts";

/** Slots that are looked at for one key; a table as full as this one gets needs some hundreds. More come of keys that were made to collide. */
const maxProbes = 16_384;

/**
 * Which of the keys seen so far are live, by their hashes: open addressing, eight bytes a slot.
 *
 * Revisions come in their order, so the last word on a key counts, as in etcdutl.
 */
export class LiveKeys {
  readonly #slots: Uint32Array;
  readonly #mask: number;
  #used = 0;
  #live = 0;

  /** `capacity`: keys it can hold; a table of twice the next power of two at most. */
  constructor(capacity: number) {
    let slots = 16;
    while (slots * 0.7 < capacity) slots *= 2;
    this.#mask = slots - 1;
    this.#slots = new Uint32Array(slots * 2);
  }

  /** Bytes of a table for `capacity` keys. */
  static bytesFor(capacity: number): number {
    let slots = 16;
    while (slots * 0.7 < capacity) slots *= 2;
    return slots * 8;
  }

  get count(): number {
    return this.#live;
  }

  /** Keys that were seen, live or not; those whose first change is a deletion are not among them. */
  get size(): number {
    return this.#used;
  }

  /** Whether the key is live is the lowest bit of the upper half. Returns whether it was new. Throws `LIMIT_EXCEEDED` for keys that were made to collide. */
  set(low: number, high: number, isLive: boolean): boolean {
    const slots = this.#slots;
    const upper = ((high | 1) - 1) >>> 0;
    // A slot of zeros is free.
    const lower = low === 0 && upper === 0 ? 1 : low;
    const first = (high >>> 1) & this.#mask;
    for (let probe = 0; probe < Math.min(maxProbes, this.#mask); probe += 1) {
      const at = ((first + probe) & this.#mask) * 2;
      const here = slots[at] ?? 0;
      const above = slots[at + 1] ?? 0;
      if (here === 0 && above === 0) {
        if (!isLive) return true;
        slots[at] = lower;
        slots[at + 1] = upper | 1;
        this.#used += 1;
        this.#live += 1;
        return true;
      }
      if (here === lower && (above & ~1) >>> 0 === upper) {
        const wasLive = (above & 1) === 1;
        if (wasLive !== isLive) {
          this.#live += isLive ? 1 : -1;
          slots[at + 1] = isLive ? upper | 1 : upper;
        }
        return false;
      }
    }
    throw new SnapshotError("LIMIT_EXCEEDED", "too many keys have nearly the same hash");
  }
  /** The same keys in a larger table. */
  grown(capacity: number): LiveKeys {
    const larger = new LiveKeys(capacity);
    for (let at = 0; at < this.#slots.length; at += 2) {
      const low = this.#slots[at] ?? 0;
      const high = this.#slots[at + 1] ?? 0;
      if (low === 0 && high === 0) continue;
      larger.set(low, high, true);
      if ((high & 1) === 0) larger.set(low, high, false);
    }
    return larger;
  }
}
