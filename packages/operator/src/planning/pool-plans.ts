import { withPauses } from "../observe/pauses.ts";
import type { Pauses } from "../observe/pauses.ts";
import { foresee } from "./foresee.ts";
import { hashOfSteps } from "./plan.ts";
import type { Observed } from "../model/observation.ts";
import type { Plan, Rule } from "../model/decision.ts";

/** What would be done with the machines of each pool that is only tried while its cluster is not, by name of the TalosWorker. Nothing is touched. */
export function planPools(unpaused: Observed, pauses: Pauses, rules: readonly Rule[]): ReadonlyMap<string, Plan> {
  const plans = new Map<string, Plan>();
  for (const [pool, mode] of pauses.pools) {
    if (mode !== "dryrun") continue;
    const others = new Map([...pauses.pools].filter(([name]) => name !== pool));
    const plan = foresee(withPauses(unpaused, { ...pauses, pools: others }), rules);
    const own = new Set(
      [...unpaused.machines, ...unpaused.former]
        .filter(({ declared }) => declared.owner.kind === "TalosWorker" && declared.owner.name === pool)
        .map(({ declared }) => declared.name),
    );
    const steps = plan.steps.filter(({ machines }) => machines.some((name) => own.has(name)));
    plans.set(pool, { ...plan, steps, hash: hashOfSteps(steps) });
  }
  return plans;
}
