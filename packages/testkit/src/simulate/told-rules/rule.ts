import type { Told } from "./told.ts";

/** One thing that must be true of what objects say. */
export interface ToldRule {
  /** As violations name it. */
  readonly id: string;
  /**
   * So long it may be otherwise, in virtual milliseconds: an operator that nobody disturbs learns of it and tells it within that time. What it is made of
   * stands beside each rule.
   */
  readonly toleranceMs: number;
  /** Calls `broken` for each thing that is not so now, with a key that stays the same while it is not, and the facts. */
  judge(told: Told, broken: (key: string, detail: () => string) => void): void;
}

/** A status is written at most every two seconds, and a parent's after its child's: pool, cluster. */
export const WRITTEN_MS = 5_000;

/** Messages that alone differ wait so long while an object is not ready: on the pool, and once more on the cluster above it. */
export const MESSAGES_MS = 2 * 45_000;
