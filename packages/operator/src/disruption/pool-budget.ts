import { isReadyNode } from "../assess/machine-state.ts";
import { rankOf, REASONS } from "./reasons.ts";
import type { Disruption } from "./reasons.ts";
import type { MachineName } from "../model/machine.ts";
import type { SeenMachine } from "../model/observation.ts";
import type { AssessedMachine, Assessment, DownKind } from "../model/assessment.ts";

/** Machines that are down ask for nothing, and come before all that want something. */
const DOWN_FIRST = 2;

/** Why a machine of a worker pool counts against what may be down although it asks for nothing. What comes first goes on first, then by reason. */
const ranks = { down: 0, draining: 1, staged: DOWN_FIRST + rankOf("boot") } as const satisfies Record<DownKind, number>;

/** Whether one more machine of a pool may be taken down, for whatever reason. */
export type Place =
  | { readonly kind: "free" }
  /** So many may be down, and `count` are, or come first. */
  | { readonly kind: "none"; readonly limit: number; readonly count: number; readonly others: readonly MachineName[] };

/** Of those that are down so many are named. */
const MOST_NAMED = 3;

/**
 * The disruption budget of worker pools in one pass: `maxUnavailable` of the pool, less every machine that is down already, on its way out, drained, or in the
 * middle of an effect. Whoever takes a worker down asks here, and takes the place.
 */
export interface PoolBudgets {
  /** A machine that is down itself takes nobody's place; nor does one go down that an effect is open on already. */
  placeFor(machine: SeenMachine, why: Disruption): Place;
  /** It is drained, or taken down, from now on. */
  take(machine: SeenMachine): void;
}

/** Budgets as the pass found them, for one planner to take places of. */
export function poolBudgets({ pools }: Assessment): PoolBudgets {
  const known = new Map<string, Holders>();
  const holdersOf = (pool: string): Holders => {
    const holders = known.get(pool) ?? new Holders(pools.get(pool)?.down ?? new Map());
    known.set(pool, holders);
    return holders;
  };
  return {
    placeFor(machine, why) {
      const { name, owner } = machine.declared;
      if (!isReadyNode(machine)) return { kind: "free" };
      const holders = holdersOf(owner.name);
      const limit = pools.get(owner.name)?.limit ?? 1;
      const own = holders.rankOf(name) ?? DOWN_FIRST + rankOf(why);
      const count = holders.countBefore(name, own);
      return count < limit ? { kind: "free" } : { kind: "none", limit, count, others: holders.firstBefore(name, own) };
    },
    take: ({ declared: { name, owner } }) => holdersOf(owner.name).put(name, ranks.draining),
  };
}

/**
 * Machines of one pool that hold a place: those that are no ready node or in the middle of an effect, those that are drained, those whose settings wait for a
 * boot. One that left the list and is dead is why it left: it holds nobody up.
 */
export function downIn(listed: readonly AssessedMachine[], leaving: readonly AssessedMachine[]): ReadonlyMap<MachineName, DownKind> {
  const down = new Map<MachineName, DownKind>();
  for (const { declared, fact, intents, drain, isMember, isReady } of listed) {
    const isBusy = intents.length > 0;
    if (!isMember && !isBusy) continue;
    if (isBusy || !isReady) down.set(declared.name, "down");
    else if (drain !== undefined) down.set(declared.name, "draining");
    else if (fact?.staged !== undefined || fact?.installed !== undefined) down.set(declared.name, "staged");
  }
  for (const { declared, intents, drain } of leaving) {
    if (intents.length > 0) down.set(declared.name, "down");
    else if (drain !== undefined) down.set(declared.name, "draining");
  }
  return down;
}

/** Who holds places of one pool: a thousand machines that want one ask a thousand times. */
class Holders {
  /** In the order in which they are named. */
  readonly #ranks: Map<MachineName, number>;
  /** The names of each rank, sorted. */
  readonly #sorted: readonly MachineName[][] = Array.from({ length: DOWN_FIRST + REASONS }, () => []);

  constructor(down: ReadonlyMap<MachineName, DownKind>) {
    this.#ranks = new Map([...down].map(([name, kind]) => [name, ranks[kind]]));
    for (const [name, rank] of this.#ranks) this.#sorted[rank]?.push(name);
    for (const names of this.#sorted) names.sort((a, b) => (a < b ? -1 : 1));
  }

  rankOf(name: MachineName): number | undefined {
    return this.#ranks.get(name);
  }

  /** A machine that holds a place goes no further back. */
  put(name: MachineName, rank: number): void {
    const before = this.#ranks.get(name);
    if (before !== undefined && before <= rank) return;
    if (before !== undefined) this.#sorted[before]?.splice(this.#position(name, before), 1);
    this.#ranks.set(name, rank);
    this.#sorted[rank]?.splice(this.#position(name, rank), 0, name);
  }

  countBefore(name: MachineName, rank: number): number {
    const ofLower = this.#sorted.slice(0, rank).reduce((sum, names) => sum + names.length, 0);
    return ofLower + this.#position(name, rank);
  }

  /** The first of them, to be named. */
  firstBefore(name: MachineName, own: number): readonly MachineName[] {
    const first: MachineName[] = [];
    for (const [other, rank] of this.#ranks) {
      if (first.length === MOST_NAMED) break;
      if (rank < own || (rank === own && other < name)) first.push(other);
    }
    return first;
  }

  /** How many names of a rank come before this one. */
  #position(name: MachineName, rank: number): number {
    const names = this.#sorted[rank] ?? [];
    let [from, to] = [0, names.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((names[middle] ?? "") < name) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
