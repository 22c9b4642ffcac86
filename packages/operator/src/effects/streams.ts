import type { ScheduledTimer, Timers } from "@talos-operator/ports";

/** A stream as it runs: `began` is called with its first message. */
export type Stream = (signal: AbortSignal, began: () => void) => Promise<void>;

/**
 * Streams of machines that run beside the passes: a pull and an installation take minutes, and no pass waits for them. One at a time under each name.
 *
 * ```
 *  begin ──► asked ──first message──► running ──end──► gone, `ended` is told
 *              │ no message in time, or a failure
 *              └──► gone, `begin` rejects
 * ```
 * What a machine has begun goes on whether anybody listens or not: closing ends the listening alone.
 */
export class Streams {
  readonly #timers: Timers;
  readonly #open = new Map<string, AbortController>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  isOpen(name: string): boolean {
    return this.#open.has(name);
  }

  /**
   * @param beginsWithinMs without a first message by then it is given up
   * @param ended told when it ends after it began, with what it failed with
   * @returns when it has begun, or ended
   */
  begin(name: string, stream: Stream, beginsWithinMs: number, ended: (failure: unknown) => void): Promise<void> {
    const abort = new AbortController();
    this.#open.get(name)?.abort();
    this.#open.set(name, abort);
    return new Promise((resolve, reject) => {
      let hasBegun = false;
      const late: ScheduledTimer = this.#timers.schedule(beginsWithinMs, () => abort.abort());
      const began = (): void => {
        hasBegun = true;
        late.cancel();
        resolve();
      };
      const over = (failure: unknown): void => {
        late.cancel();
        if (this.#open.get(name) === abort) this.#open.delete(name);
        if (hasBegun) {
          if (!this.#isClosed) ended(failure);
        } else if (failure === undefined) {
          ended(undefined);
          resolve();
        } else reject(failure);
      };
      stream(abort.signal, began).then(() => over(undefined), over);
    });
  }

  #isClosed = false;

  close(): void {
    this.#isClosed = true;
    for (const abort of this.#open.values()) abort.abort();
    this.#open.clear();
  }
}
