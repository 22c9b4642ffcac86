/** How long an answer that cannot change counts: short, so that a guess about what cannot change does no lasting harm. */
const FRESH_MS = 20_000;

interface Held<T> {
  readonly spki: string;
  readonly at: number;
  readonly value: T;
}

/**
 * An answer that stays the same while a machine runs, kept for the next looks.
 *
 * It belongs to the key that the machine presented: a machine that boots anew presents a new one in maintenance mode, and another machine always does.
 */
export class Steady<T> {
  readonly #freshMs: number;
  #held: Held<T> | undefined;

  /** @param freshMs how long an answer counts; default 20 s */
  constructor(freshMs = FRESH_MS) {
    this.#freshMs = freshMs;
  }

  /**
   * The kept answer to this key, else asks. `spki` undefined, before the first answer on a connection, always asks.
   *
   * @param freshMs how long an answer counts this time; default what was said in the beginning
   */
  async take(spki: string | undefined, now: () => number, ask: () => Promise<T>, freshMs = this.#freshMs): Promise<T> {
    const askedAt = now();
    const known = this.known(spki, askedAt, freshMs);
    if (known !== undefined) return known.value;
    const value = await ask();
    this.keep(spki, askedAt, value);
    return value;
  }

  /** The kept answer to this key, if it counts; `undefined` = ask. */
  known(spki: string | undefined, now: number, freshMs = this.#freshMs): { readonly value: T } | undefined {
    const held = this.#held;
    // The clock may jump, in both directions.
    return held !== undefined && held.spki === spki && Math.abs(now - held.at) < freshMs ? held : undefined;
  }

  keep(spki: string | undefined, at: number, value: T): void {
    this.#held = spki === undefined ? undefined : { spki, at, value };
  }

  forget(): void {
    this.#held = undefined;
  }
}
