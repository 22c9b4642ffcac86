/** Wall clock. */
export interface Clock {
  /** Milliseconds since the Unix epoch, UTC. May jump in both directions; never use a difference of two readings as a measured duration across a crash. */
  now(): number;
}

/** Timers. In simulation they run on virtual time. */
export interface Timers {
  /**
   * Resolves after `delayMs` (0 or more).
   *
   * @throws the signal's reason when `signal` aborts first
   */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
  /** Calls `callback` once after `delayMs`; `cancel` is idempotent. */
  schedule(delayMs: number, callback: () => void): ScheduledTimer;
}

export interface ScheduledTimer {
  cancel(): void;
}
