import type { RandomSource } from "@talos-operator/ports";
import type { BackoffOptions } from "./types.ts";

/** Exponential backoff per key. */
export interface Backoff {
  /** Delay after one more failure: base, doubling to the longest, with the upper half random. */
  next(key: string): number;
  /** Failures since the last reset. */
  count(key: string): number;
  reset(key: string): void;
}

/** No failures yet. */
export function createBackoff(random: RandomSource, { baseMs = 5, maxMs = 300_000 }: BackoffOptions = {}): Backoff {
  const failures = new Map<string, number>();
  return {
    next(key) {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      const whole = Math.min(maxMs, baseMs * 2 ** Math.min(count, 40));
      return whole * (0.5 + random.fraction() / 2);
    },
    count: (key) => failures.get(key) ?? 0,
    reset: (key) => void failures.delete(key),
  };
}
