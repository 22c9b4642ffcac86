import type { Clock, RandomSource, Timers } from "@talos-operator/ports";

/** What a workqueue needs. */
export interface WorkqueueOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly backoff?: BackoffOptions;
  /**
   * Fairness: keys of one group take turns with those of the others, so that a group with ten thousand due keys delays a group with one by
   * at most one key. Pure. Default: all keys are one group.
   */
  readonly groupOf?: (key: string) => string;
  /** Told what happens, for metrics. What it throws reaches the caller of the queue. */
  readonly observer?: WorkqueueObserver;
}

/**
 * How urgent a due key is. `low` is for floods that nobody waits for (the first list after a start): `normal` keys go ahead of it, but every
 * fifth key taken is a `low` one while any is due, so that it ends.
 */
export type WorkPriority = "normal" | "low";

/** Exponential backoff of one key. */
export interface BackoffOptions {
  /** First delay. Default 5. */
  readonly baseMs?: number;
  /** Longest delay. Default 300_000. */
  readonly maxMs?: number;
}

/** Listener for metrics. Times in milliseconds of the queue's clock, 0 at least. */
export interface WorkqueueObserver {
  /** `add`, `addAfter` or `addRateLimited` was called. */
  readonly onAdd?: () => void;
  /** `addRateLimited` was called. */
  readonly onRetry?: () => void;
  /** A key was handed out after it had been due for `waitedMs`. */
  readonly onTake?: (waitedMs: number) => void;
  /** A key was done after it had been held for `heldMs`. */
  readonly onDone?: (heldMs: number) => void;
}

/** Figures of a queue. */
export interface WorkqueueStats {
  /** Keys that could be taken now. */
  readonly ready: number;
  /** Of them, those of low priority. */
  readonly readyLow: number;
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
  /** For how long the key that was handed out first has been held; 0 when none is. */
  readonly longestHeldMs: number;
  /** Sum over all held keys of the time for which they have been held. */
  readonly totalHeldMs: number;
}

/** See `workqueue.ts` for the three promises. */
export interface Workqueue {
  /** The key is due now. Default priority `normal`; a key that waits with a lower one is raised. */
  add(key: string, priority?: WorkPriority): void;
  /** The key is due in `delayMs`, or earlier if it already was. Default priority `normal`. */
  addAfter(key: string, delayMs: number, priority?: WorkPriority): void;
  /** The key is due after its backoff, which doubles with every call until `forget`. A held key keeps its priority. Returns the delay. */
  addRateLimited(key: string): number;
  /** Resets the backoff of a key. */
  forget(key: string): void;
  /** How often in a row `addRateLimited` was called. */
  failures(key: string): number;
  /** With which priority a held key was handed out; `normal` for any other. */
  priorityOf(key: string): WorkPriority;
  /**
   * The next due key; waits for one. `normal` before `low`, group after group in turn, and within a group in the order in which keys became
   * due. `undefined` once the queue is closed.
   */
  take(): Promise<string | undefined>;
  /** Ends the hold on a key that `take` gave. Every key taken must be done, also after a failure. */
  done(key: string): void;
  stats(): WorkqueueStats;
  /** Nothing is handed out any more and all timers end. Idempotent. */
  close(): void;
}
