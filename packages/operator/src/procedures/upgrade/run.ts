import type { TalosHop } from "@talos-operator/talos";
import { upgradePlanOf } from "../../planning/upgrade-plan.ts";
import { openRun, upgradeIntents } from "../../record/upgrades.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { ClusterFacts, OperationFact } from "../../model/record.ts";

/** The facts with the run that this hop is part of: begun by its first step, and in this phase. */
export function withRun(assessed: Assessment, facts: ClusterFacts, hop: TalosHop): ClusterFacts {
  const { seen } = assessed;
  const open = openRun(facts);
  const phase = `${hop.role} ${hop.version}`.slice(0, 64);
  if (open?.phase === phase) return facts;
  const run: OperationFact = {
    id: open?.id ?? `upgrade-talos-${Math.floor(seen.now / 1000)}`,
    kind: "UpgradeTalos",
    phase,
    startedAt: open?.startedAt ?? seen.now,
    since: seen.now,
    inputs: open?.inputs ?? { asked: askedIn(assessed, hop) },
  };
  return { ...facts, operations: [...(facts.operations ?? []).filter((one) => one !== open), run] };
}

/** The versions that the last hops lead to. */
function askedIn({ seen }: Assessment, hop: TalosHop): string {
  const plan = upgradePlanOf(seen);
  const hops = plan.kind === "hops" ? plan.hops.filter((one) => one.kind === "talos") : [hop];
  const last = new Map(hops.flatMap(({ machines }) => machines.map(({ name, to }) => [name, to.version] as const)));
  return [...new Set(last.values())].join(", ");
}

/** The facts without a run that has nothing more to do. */
export function withoutRun(_assessed: Assessment, facts: ClusterFacts): ClusterFacts {
  const open = openRun(facts);
  if (open === undefined || upgradeIntents(facts).length > 0) return facts;
  const { operations = [], ...rest } = facts;
  const left = operations.filter((one) => one !== open);
  return left.length === 0 ? rest : { ...rest, operations: left };
}
