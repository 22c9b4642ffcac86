import { asksAnotherTalos } from "../planning/upgrade-plan.ts";
import { upgradeIntents } from "../record/upgrades.ts";
import type { Observed } from "../model/observation.ts";
import type { ClusterFacts, OperationFact } from "../model/record.ts";

/** Machines of a cluster that an upgrade is through with, and all of them. */
export interface UpgradeCount {
  readonly done: number;
  readonly machines: number;
}

/** Counts by what machines show: one that is silent, or on which a step is open, is not done. */
export function upgradeCount({ machines }: Observed, run: OperationFact, facts: ClusterFacts): UpgradeCount {
  const asked = new Set((run.inputs["asked"] ?? "").split(", "));
  const open = new Set(upgradeIntents(facts).map(({ machine }) => machine));
  const own = machines.filter(({ look }) => look.kind === "silent" || (look.kind === "running" && look.platform !== "container"));
  const done = own.filter((machine) => {
    const { declared, look } = machine;
    if (look.kind !== "running" || look.version === undefined || open.has(declared.name)) return false;
    return asked.has(look.version) && (look.version !== declared.version || !asksAnotherTalos(machine));
  });
  return { done: done.length, machines: own.length };
}
