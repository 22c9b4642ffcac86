import type { Clock } from "@talos-operator/ports";
import type { WorkPriority } from "./types.ts";

/** Keys that workers hold. */
export interface HeldKeys {
  has(key: string): boolean;
  hold(key: string, priority: WorkPriority): void;
  /** For how long it was held, milliseconds. @throws RangeError when nobody holds it */
  release(key: string): number;
  priorityOf(key: string): WorkPriority;
  stats(): { readonly processing: number; readonly longestHeldMs: number; readonly totalHeldMs: number };
}

/** Nothing held. */
export function createHeldKeys(clock: Clock): HeldKeys {
  /** In the order in which they were handed out. */
  const held = new Map<string, { readonly since: number; readonly priority: WorkPriority }>();
  const ageOf = ({ since }: { readonly since: number }): number => Math.max(0, clock.now() - since);
  return {
    has: (key) => held.has(key),
    hold: (key, priority) => void held.set(key, { since: clock.now(), priority }),
    release(key) {
      const hand = held.get(key);
      if (hand === undefined) throw new RangeError(`workqueue: "${key}" is done but nobody holds it`);
      held.delete(key);
      return ageOf(hand);
    },
    priorityOf: (key) => held.get(key)?.priority ?? "normal",
    stats() {
      const times = [...held.values()].map(ageOf);
      return {
        processing: held.size,
        longestHeldMs: times.reduce((longest, ms) => Math.max(longest, ms), 0),
        totalHeldMs: times.reduce((sum, ms) => sum + ms, 0),
      };
    },
  };
}
