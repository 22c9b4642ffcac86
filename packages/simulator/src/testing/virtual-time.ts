import type { Clock, ScheduledTimer, Timers } from "@talos-operator/ports";

/** Clock and timers that stand still until somebody moves them. */
export class VirtualTime implements Clock, Timers {
  #now: number;
  #sequence = 0;
  readonly #pending: { readonly at: number; readonly order: number; readonly callback: () => void }[] = [];

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  schedule(delayMs: number, callback: () => void): ScheduledTimer {
    this.#sequence += 1;
    const entry = { at: this.#now + delayMs, order: this.#sequence, callback };
    this.#pending.push(entry);
    return {
      cancel: () => {
        const at = this.#pending.indexOf(entry);
        if (at >= 0) this.#pending.splice(at, 1);
      },
    };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.schedule(delayMs, resolve);
      const abort = (): void => {
        timer.cancel();
        reject(signal?.reason as Error);
      };
      if (signal?.aborted === true) return abort();
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  /** Fires everything due within the next `ms`, letting promises settle in between. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settle();
    for (;;) {
      const next = this.#pending.toSorted((a, b) => a.at - b.at || a.order - b.order)[0];
      if (next === undefined || next.at > until) break;
      this.#pending.splice(this.#pending.indexOf(next), 1);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
      await settle();
    }
    this.#now = until;
  }

  /** Timers that wait. */
  get pending(): number {
    return this.#pending.length;
  }
}

/** Lets everything that is ready in the microtask queue run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await Promise.resolve();
}
