import type { Clock, RandomSource, Timers } from "@talos-operator/ports";

/** What a workqueue needs. */
export interface WorkqueueOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly backoff?: BackoffOptions;
}

/** Exponential backoff of one key. */
export interface BackoffOptions {
  /** First delay. Default 5. */
  readonly baseMs?: number;
  /** Longest delay. Default 300_000. */
  readonly maxMs?: number;
}

/** Figures of a queue. */
export interface WorkqueueStats {
  /** Keys that could be taken now. */
  readonly ready: number;
  /** Keys whose date has not come. */
  readonly delayed: number;
  /** Keys handed out and not yet done. */
  readonly processing: number;
  /** Calls of `add`, `addAfter` and `addRateLimited` since the start. */
  readonly adds: number;
  /** Calls of `addRateLimited` since the start. */
  readonly retries: number;
  /** Age of the key that has been ready longest; 0 when none is. */
  readonly oldestReadyMs: number;
}

/** See `workqueue.ts` for the three promises. */
export interface Workqueue {
  /** The key is due now. */
  add(key: string): void;
  /** The key is due in `delayMs`, or earlier if it already was. */
  addAfter(key: string, delayMs: number): void;
  /** The key is due after its backoff, which doubles with every call until `forget`. Returns the delay. */
  addRateLimited(key: string): number;
  /** Resets the backoff of a key. */
  forget(key: string): void;
  /** How often in a row `addRateLimited` was called. */
  failures(key: string): number;
  /** The next due key, in the order in which keys became due; waits for one. `undefined` once the queue is closed. */
  take(): Promise<string | undefined>;
  /** Ends the hold on a key that `take` gave. Every key taken must be done, also after a failure. */
  done(key: string): void;
  stats(): WorkqueueStats;
  /** Nothing is handed out any more and all timers end. Idempotent. */
  close(): void;
}
