import type { TalosHop } from "@talos-operator/talos";
import { openRun, upgradeIntents } from "../../record/upgrades.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { ClusterFacts, OperationFact } from "../../model/record.ts";

/** The facts with the run that this hop is part of: begun by its first step, and in this phase. */
export function withRun({ seen }: Assessment, facts: ClusterFacts, hop: TalosHop): ClusterFacts {
  const open = openRun(facts);
  const phase = `${hop.role} ${hop.version}`.slice(0, 64);
  if (open?.phase === phase) return facts;
  const run: OperationFact = {
    id: open?.id ?? `upgrade-talos-${Math.floor(seen.now / 1000)}`,
    kind: "UpgradeTalos",
    phase,
    startedAt: open?.startedAt ?? seen.now,
    since: seen.now,
    inputs: open?.inputs ?? { asked: hop.version },
  };
  return { ...facts, operations: [...(facts.operations ?? []).filter((one) => one !== open), run] };
}

/** The facts without a run that has nothing more to do. */
export function withoutRun(_assessed: Assessment, facts: ClusterFacts): ClusterFacts {
  const open = openRun(facts);
  if (open === undefined || upgradeIntents(facts).length > 0) return facts;
  const { operations = [], ...rest } = facts;
  const left = operations.filter((one) => one !== open);
  return left.length === 0 ? rest : { ...rest, operations: left };
}
