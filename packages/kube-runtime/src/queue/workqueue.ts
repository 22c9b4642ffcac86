import type { ScheduledTimer } from "@talos-operator/ports";
import { createBackoff } from "./backoff.ts";
import { createHeldKeys } from "./held-keys.ts";
import { createReadyLine } from "./ready-line.ts";
import type { WorkPriority, Workqueue, WorkqueueOptions } from "./types.ts";

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
 *
 * Which ready key is next is the matter of `ready-line.ts`.
 */

interface Waiting {
  /** The highest of the wishes that this date stands for. */
  priority: WorkPriority;
  /** The shortest delay that runs. */
  leastMs: number;
  /**
   * One for each wish that may be the earliest: the first that fires is the date. Empty once it is due. Timers and not the clock decide, since clocks jump; each
   * has a shorter delay than those before it, so they are few.
   */
  timers: readonly ScheduledTimer[];
}

/** An empty queue. Keys are texts, mostly `namespace/name`. */
export function createWorkqueue(options: WorkqueueOptions): Workqueue {
  const { clock, timers, observer } = options;
  const backoff = createBackoff(options.random, options.backoff);
  /** At most one date per key. */
  const dates = new Map<string, Waiting>();
  let delayed = 0;
  /** Due keys that nobody holds. */
  const ready = createReadyLine(options.groupOf);
  const held = createHeldKeys(clock);
  const takers: ((key: string | undefined) => void)[] = [];
  let isClosed = false;
  let adds = 0;
  let retries = 0;

  function setDate(key: string, delayMs: number, priority: WorkPriority): void {
    if (isClosed) return;
    adds += 1;
    observer?.onAdd?.();
    const current = dates.get(key);
    if (current !== undefined && (isDue(current) || current.leastMs <= delayMs)) {
      // A later date is forgotten with its priority; a wish for now raises what is due already.
      if (priority === "normal" && (delayMs <= 0 || current.leastMs === delayMs)) raise(key, current);
      return;
    }
    const date = current ?? { priority, leastMs: delayMs, timers: [] };
    if (priority === "normal") date.priority = priority;
    dates.set(key, date);
    if (delayMs <= 0) {
      fall(key, date);
      return;
    }
    if (isDue(date)) delayed += 1;
    date.leastMs = delayMs;
    date.timers = [...date.timers, timers.schedule(delayMs, () => fall(key, date))];
  }

  /** The date is now. */
  function fall(key: string, date: Waiting): void {
    if (!isDue(date)) delayed -= 1;
    for (const timer of date.timers) timer.cancel();
    date.timers = [];
    offer(key, date);
  }

  function raise(key: string, date: Waiting): void {
    date.priority = "normal";
    ready.raise(key);
  }

  function offer(key: string, date: Waiting): void {
    if (held.has(key)) return;
    const taker = takers.shift();
    if (taker === undefined) {
      ready.push(key, date.priority, clock.now());
      return;
    }
    hold(key, date.priority, 0);
    taker(key);
  }

  function hold(key: string, priority: WorkPriority, waitedMs: number): void {
    dates.delete(key);
    held.hold(key, priority);
    observer?.onTake?.(waitedMs);
  }

  const ageOf = (since: number): number => Math.max(0, clock.now() - since);

  return {
    add: (key, priority = "normal") => setDate(key, 0, priority),
    addAfter: (key, delayMs, priority = "normal") => setDate(key, delayMs, priority),
    addRateLimited(key) {
      retries += 1;
      observer?.onRetry?.();
      const delayMs = backoff.next(key);
      setDate(key, delayMs, held.priorityOf(key));
      return delayMs;
    },
    forget: (key) => backoff.reset(key),
    failures: (key) => backoff.count(key),
    priorityOf: (key) => held.priorityOf(key),
    take() {
      if (isClosed) return Promise.resolve(undefined);
      const next = ready.shift();
      if (next === undefined) return new Promise((resolve) => takers.push(resolve));
      hold(next.key, next.priority, ageOf(next.since));
      return Promise.resolve(next.key);
    },
    done(key) {
      const heldMs = held.release(key);
      observer?.onDone?.(heldMs);
      const date = dates.get(key);
      if (!isClosed && date !== undefined && isDue(date)) offer(key, date);
    },
    stats() {
      const oldest = ready.oldestSince();
      return {
        ready: ready.size,
        readyLow: ready.lowSize,
        delayed,
        ...held.stats(),
        adds,
        retries,
        oldestReadyMs: oldest === undefined ? 0 : ageOf(oldest),
      };
    },
    close() {
      isClosed = true;
      for (const timer of [...dates.values()].flatMap((date) => date.timers)) timer.cancel();
      dates.clear();
      delayed = 0;
      ready.clear();
      for (const taker of takers.splice(0)) taker(undefined);
    },
  };
}

function isDue({ timers }: Waiting): boolean {
  return timers.length === 0;
}
