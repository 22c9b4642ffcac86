import { isReadyNode } from "../conditions/machine-state.ts";
import { machineFact, mayHoldConfig } from "../record/facts.ts";
import { maxUnavailableOf } from "./limit.ts";
import { rankOf } from "./reasons.ts";
import type { Disruption } from "./reasons.ts";
import type { ClusterFacts } from "../../../model/record.ts";
import type { MachineName } from "../../../model/machine.ts";
import type { Observed, SeenMachine } from "../../../model/observation.ts";
import type { Assessment } from "../../../model/assessment.ts";

/** Why a machine of a worker pool counts against what may be down although it asks for nothing. What comes first goes on first, then by reason. */
const ranks = {
  /** It is no ready node, or an effect on it is open. */
  down: -2,
  /** Its Node is cordoned and drained by us. */
  draining: -1,
  /** Its settings wait for a boot. */
  staged: rankOf("boot"),
} as const;

/** Whether one more machine of a pool may be taken down, for whatever reason. */
export type Place =
  | { readonly kind: "free" }
  /** So many may be down, and these are, or come first. */
  | { readonly kind: "none"; readonly limit: number; readonly others: readonly MachineName[] };

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

export function poolBudgets(assessed: Assessment, facts: ClusterFacts): PoolBudgets {
  const { seen } = assessed;
  const busy = new Set(facts.intents.map(({ machine }) => machine));
  const staged = new Set(facts.machines.flatMap(({ name, staged: text }) => (text === undefined ? [] : [name])));
  const pools = new Map<string, Map<MachineName, number>>();
  const holdersOf = (pool: string): Map<MachineName, number> => {
    const holders = pools.get(pool) ?? new Map<MachineName, number>();
    pools.set(pool, holders);
    return holders;
  };
  const isPart = (name: MachineName): boolean => mayHoldConfig(machineFact(facts, name));

  for (const machine of seen.machines) {
    const { name, role, owner } = machine.declared;
    if (role !== "worker" || !(isPart(name) || busy.has(name))) continue;
    const rank = busy.has(name) || !isReadyNode(machine) ? "down" : seen.drains?.has(name) === true ? "draining" : "staged";
    if (rank !== "staged" || staged.has(name)) holdersOf(owner.name).set(name, ranks[rank]);
  }
  // One that left the list and is dead is why it left: it holds nobody up.
  for (const { declared } of seen.former) {
    if (declared.role !== "worker") continue;
    if (busy.has(declared.name)) holdersOf(declared.owner.name).set(declared.name, ranks.down);
    else if (seen.drains?.has(declared.name) === true) holdersOf(declared.owner.name).set(declared.name, ranks.draining);
  }

  return {
    placeFor(machine, why) {
      const { name, owner } = machine.declared;
      if (!isReadyNode(machine)) return { kind: "free" };
      const holders = holdersOf(owner.name);
      const own = holders.get(name) ?? rankOf(why);
      const others = [...holders]
        .filter(([other, rank]) => other !== name && (rank < own || (rank === own && other < name)))
        .map(([other]) => other);
      const limit = limitOf(seen, owner.name);
      return others.length < limit ? { kind: "free" } : { kind: "none", limit, others };
    },
    take({ declared }) {
      const holders = holdersOf(declared.owner.name);
      holders.set(declared.name, Math.min(holders.get(declared.name) ?? ranks.draining, ranks.draining));
    },
  };
}

/** How many machines of a pool may be down at once. */
export function limitOf(seen: Observed, pool: string): number {
  const worker = seen.workers.find(({ metadata }) => metadata.name === pool);
  const size = seen.machines.filter(({ declared: { owner } }) => owner.kind === "TalosWorker" && owner.name === pool).length;
  return maxUnavailableOf(worker?.spec?.rolloutStrategy, size);
}
