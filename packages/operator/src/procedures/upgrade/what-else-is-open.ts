import { removalsOf } from "../../report/describe-removal.ts";
import { isUpgrade } from "../../record/upgrades.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { ClusterFacts } from "../../model/record.ts";

/** What goes before an upgrade, or beside which none is begun; a sentence. */
export function whatElseIsOpen(assessed: Assessment, facts: ClusterFacts): string | undefined {
  const { seen } = assessed;
  if (!seen.mayDisturb) return "An upgrade goes on once nothing of an earlier leader can be under way any more.";
  const effect = facts.intents.find((intent) => !isUpgrade(intent));
  if (effect !== undefined) return `An upgrade waits until ${effect.machine} is done (${effect.what}).`;
  const leaving = removalsOf(assessed).find(({ reason }) => reason !== "MachineUnreachable");
  if (leaving !== undefined) return `An upgrade waits until ${leaving.machine} has left.`;
  const joining = assessed.joining?.configure[0]?.machine.name;
  if (joining !== undefined) return `An upgrade waits until ${joining} has joined.`;
  const changing = assessed.configs.find(({ state }) => state.kind === "change" || state.kind === "staged" || state.kind === "learn");
  if (changing !== undefined) return `An upgrade waits until the settings of ${changing.machine.declared.name} are in force.`;
  return undefined;
}
