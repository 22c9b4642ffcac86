import type { ScheduledTimer } from "@talos-operator/ports";
import { createBackoff } from "./backoff.ts";
import type { Workqueue, WorkqueueOptions } from "./types.ts";

/*
 * Three promises:
 *   1. A key is never handed out twice at once: between `take` and `done` it belongs to one worker.
 *   2. A key added meanwhile comes round again after `done`: no wish is lost.
 *   3. The earlier of two dates wins: a key has at most one date, and a later one is forgotten.
 *
 *            add                     take                done
 *   idle ----------> ready ------------------> held -----------------> idle, ready or delayed, as its date says
 *     \               ^
 *      \  addAfter    | date
 *       +--------> delayed
 */

interface Waiting {
  /** Clock time of the date, only to tell which of two dates is earlier. */
  readonly at: number;
  /** Fires at the date; `undefined` once it is due. A timer and not the clock decides, since clocks jump. */
  timer: ScheduledTimer | undefined;
}

/** An empty queue. Keys are texts, mostly `namespace/name`. */
export function createWorkqueue({ clock, timers, random, backoff: backoffOptions }: WorkqueueOptions): Workqueue {
  const backoff = createBackoff(random, backoffOptions);
  /** At most one date per key. */
  const dates = new Map<string, Waiting>();
  /** Due keys that nobody holds, in order, with the time since when. */
  const ready = new Map<string, number>();
  const held = new Set<string>();
  const takers: ((key: string | undefined) => void)[] = [];
  let isClosed = false;
  let adds = 0;
  let retries = 0;

  function setDate(key: string, delayMs: number): void {
    if (isClosed) return;
    adds += 1;
    const at = clock.now() + delayMs;
    const current = dates.get(key);
    if (current !== undefined && (current.timer === undefined || current.at <= at)) return;
    current?.timer?.cancel();
    const date: Waiting = { at, timer: undefined };
    dates.set(key, date);
    if (delayMs <= 0) {
      offer(key);
      return;
    }
    date.timer = timers.schedule(delayMs, () => {
      date.timer = undefined;
      offer(key);
    });
  }

  function offer(key: string): void {
    if (held.has(key)) return;
    const taker = takers.shift();
    if (taker === undefined) {
      ready.set(key, clock.now());
      return;
    }
    hold(key);
    taker(key);
  }

  function hold(key: string): void {
    ready.delete(key);
    dates.delete(key);
    held.add(key);
  }

  return {
    add: (key) => setDate(key, 0),
    addAfter: (key, delayMs) => setDate(key, delayMs),
    addRateLimited(key) {
      retries += 1;
      const delayMs = backoff.next(key);
      setDate(key, delayMs);
      return delayMs;
    },
    forget: (key) => backoff.reset(key),
    failures: (key) => backoff.count(key),
    take() {
      if (isClosed) return Promise.resolve(undefined);
      const [first] = ready.keys();
      if (first === undefined) return new Promise((resolve) => takers.push(resolve));
      hold(first);
      return Promise.resolve(first);
    },
    done(key) {
      if (!held.delete(key)) throw new RangeError(`workqueue: "${key}" is done but nobody holds it`);
      const date = dates.get(key);
      if (!isClosed && date !== undefined && date.timer === undefined) offer(key);
    },
    stats() {
      const [oldest] = ready.values();
      return {
        ready: ready.size,
        delayed: [...dates.values()].filter((date) => date.timer !== undefined).length,
        processing: held.size,
        adds,
        retries,
        oldestReadyMs: oldest === undefined ? 0 : Math.max(0, clock.now() - oldest),
      };
    },
    close() {
      isClosed = true;
      for (const date of dates.values()) date.timer?.cancel();
      dates.clear();
      ready.clear();
      for (const taker of takers.splice(0)) taker(undefined);
    },
  };
}
