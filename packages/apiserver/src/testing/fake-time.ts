import type { Clock, RandomSource, ScheduledTimer, Timers } from "@talos-operator/ports";

interface Pending {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock that stands still until it is told to go on, and chance that repeats. */
export class FakeTime implements Clock, Timers, RandomSource {
  #now = Date.parse("2026-01-01T00:00:00Z");
  #counter = 0;
  readonly #pending = new Set<Pending>();

  now(): number {
    return this.#now;
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.schedule(delayMs, resolve);
    });
  }

  schedule(delayMs: number, callback: () => void): ScheduledTimer {
    const pending = { at: this.#now + delayMs, callback };
    this.#pending.add(pending);
    return { cancel: () => void this.#pending.delete(pending) };
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Runs what is due within the next `milliseconds`, in order of time. */
  advance(milliseconds: number): void {
    const end = this.#now + milliseconds;
    for (;;) {
      const next = [...this.#pending].filter((pending) => pending.at <= end).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#pending.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
    }
    this.#now = end;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => (this.#counter = (this.#counter * 1_103_515_245 + 12_345) % 2 ** 31) >> 8);
  }

  fraction(): number {
    return 0.5;
  }
}
