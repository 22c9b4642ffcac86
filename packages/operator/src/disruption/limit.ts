import type { RolloutStrategy } from "@talos-operator/api";

/** A count of machines, or a share of them. */
const LIMIT = /^[1-9]\d*%?$/;

/** Something else than a count of at least 1, or a share such as 25%, stands there: one machine at a time is what happens then, as published. */
export function isUnusableLimit(strategy: RolloutStrategy | undefined): boolean {
  const limit = strategy?.rollingUpdate?.maxUnavailable;
  return limit !== undefined && !LIMIT.test(String(limit));
}

/**
 * How many machines of a pool may be down at once. Shares round down, as published.
 *
 * @param size machines that the pool lists
 * @returns at least 1
 */
export function maxUnavailableOf(strategy: RolloutStrategy | undefined, size: number): number {
  const limit = String(strategy?.rollingUpdate?.maxUnavailable ?? 1);
  if (!LIMIT.test(limit)) return 1;
  const count = limit.endsWith("%") ? Math.floor((Number(limit.slice(0, -1)) * size) / 100) : Number(limit);
  return Math.max(1, count);
}
