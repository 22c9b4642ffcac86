import type { Clock, ScheduledTimer, Timers } from "@talos-operator/ports";
import { drainPromises } from "./adapters/drain.ts";

/** A clock and timers that move only when told to. */
export interface VirtualTime {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Milliseconds since the epoch, without the skew of `setClock`. */
  now(): number;
  /** Lets `ms` pass: runs every timer that falls due in the order of its date (ties: in the order of creation), and after each one all promises that it released. */
  advance(ms: number): Promise<void>;
  /**
   * Jumps from timer to timer until `done()` is true; checks it before the first jump and after each timer.
   *
   * @param limitMs most virtual time to spend, default one hour
   * @returns false when the limit was reached or nothing is left to wait for
   */
  runUntil(done: () => boolean, limitMs?: number): Promise<boolean>;
  /** Runs the earliest timer and the promises that it releases. False when there is none. */
  runNext(): Promise<boolean>;
  /** Lets promises settle without letting time pass. */
  settle(): Promise<void>;
  /** Milliseconds until the earliest timer, `undefined` when there is none. */
  nextIn(): number | undefined;
  /** Timers that wait. */
  pending(): number;
  /** Makes the wall clock jump to `at` without running timers, as a correction by NTP does. */
  setClock(at: number): void;
}

interface Entry {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
  isCancelled: boolean;
}

/**
 * Virtual time for tests and simulation.
 *
 * Nothing in it reads the machine's clock; the same program gives the same order of timers every time.
 *
 * @param startAt first reading of the clock, default 2026-01-01T00:00:00Z
 */
export function createVirtualTime(startAt: number = Date.UTC(2026, 0, 1)): VirtualTime {
  const heap: Entry[] = [];
  let time = startAt;
  let skew = 0;
  let created = 0;
  let live = 0;

  const isBefore = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

  function push(entry: Entry): void {
    let index = heap.push(entry) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] as Entry;
      if (!isBefore(entry, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = entry;
  }

  function pop(): Entry | undefined {
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined || heap.length === 0) return top;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      const right = left + 1;
      if (left >= heap.length) break;
      const child = right < heap.length && isBefore(heap[right] as Entry, heap[left] as Entry) ? right : left;
      if (!isBefore(heap[child] as Entry, last)) break;
      heap[index] = heap[child] as Entry;
      index = child;
    }
    heap[index] = last;
    return top;
  }

  function peek(): Entry | undefined {
    while (heap[0]?.isCancelled === true) pop();
    return heap[0];
  }

  function schedule(delayMs: number, callback: () => void): ScheduledTimer {
    if (!(delayMs >= 0)) throw new RangeError(`a timer needs a delay of 0 ms or more, not ${delayMs}`);
    created += 1;
    live += 1;
    let isDone = false;
    const entry: Entry = {
      // Whole milliseconds, as real timers have: a fraction too small to move the clock would let a caller that waits for a date spin for ever.
      at: time + Math.ceil(delayMs),
      order: created,
      isCancelled: false,
      run: () => {
        isDone = true;
        live -= 1;
        callback();
      },
    };
    push(entry);
    return {
      cancel: () => {
        if (isDone) return;
        isDone = true;
        live -= 1;
        entry.isCancelled = true;
      },
    };
  }

  function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      const onAbort = (): void => {
        timer.cancel();
        reject(signal?.reason as Error);
      };
      const timer = schedule(delayMs, () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  async function runEntry(entry: Entry): Promise<void> {
    pop();
    time = Math.max(time, entry.at);
    entry.run();
    await drainPromises();
  }

  return {
    clock: { now: () => time + skew },
    timers: { sleep, schedule },
    now: () => time,
    async advance(ms) {
      const end = time + ms;
      await drainPromises();
      for (let entry = peek(); entry !== undefined && entry.at <= end; entry = peek()) await runEntry(entry);
      time = end;
    },
    async runUntil(done, limitMs = 3_600_000) {
      const end = time + limitMs;
      await drainPromises();
      while (!done()) {
        const entry = peek();
        if (entry === undefined) return false;
        if (entry.at > end) {
          time = end;
          return false;
        }
        await runEntry(entry);
      }
      return true;
    },
    async runNext() {
      await drainPromises();
      const entry = peek();
      if (entry === undefined) return false;
      await runEntry(entry);
      return true;
    },
    settle: drainPromises,
    nextIn: () => {
      const entry = peek();
      return entry === undefined ? undefined : Math.max(0, entry.at - time);
    },
    pending: () => live,
    setClock: (at) => {
      skew = at - time;
    },
  };
}
