/**
 * For what a machine is disturbed, the most urgent first: `delete` takes the whole cluster down, `replace` takes a dead machine's member out of etcd, `renew` has a member
 * with wrong data join anew, `cure` frees the space of an etcd that is full, `enlarge` boots one for a larger quota of it, `remove` lets a
 * machine leave, `upgrade` brings another Talos, `boot` boots one for settings that it holds, `configure` gives it others, `defragment` gives free pages of a member's file back. Whoever comes later waits for those before; a procedure that is
 * added takes its place in this list, and both budgets keep it.
 */
const reasons = ["delete", "replace", "renew", "cure", "enlarge", "remove", "upgrade", "boot", "configure", "defragment"] as const;

/** For what a machine is disturbed. */
export type Disruption = (typeof reasons)[number];

/** The lower, the sooner. */
export function rankOf(why: Disruption): number {
  return reasons.indexOf(why);
}

/** How many there are. */
export const REASONS = reasons.length;
