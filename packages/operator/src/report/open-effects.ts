import { changesMachines, concernedBy } from "../effects/definitions.ts";
import { factsOf, machineFact, mayHoldConfig } from "../record/facts.ts";
import type { Decision } from "../model/decision.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { ClusterFacts } from "../model/record.ts";

/** Machines that a decision is about to change: what begins with an intent in the record, and what is sent. */
export function machinesToChange({ actions }: Pick<Decision, "actions">, seen: Observed): ReadonlySet<MachineName> {
  return new Set(
    actions.filter((action) => action.kind === "WriteRecord" || changesMachines(action)).flatMap((action) => concernedBy(action, seen)),
  );
}

/** Machines on which an effect is open: begun, and its end was not seen. */
export function machinesInChange(seen: Observed): ReadonlySet<MachineName> {
  const facts = factsOf(seen);
  if (facts === undefined) return new Set();
  const founder = facts.bootstrapDone === undefined ? facts.bootstrapIntent?.machine : undefined;
  const installing = seen.machines.filter((machine) => isInstalling(machine, facts)).map(({ declared }) => declared.name);
  return new Set([...facts.intents.map(({ machine }) => machine), ...(founder === undefined ? [] : [founder]), ...installing]);
}

/** Its configuration was sent, and it was not seen to run with it. */
function isInstalling({ declared, look }: SeenMachine, facts: ClusterFacts): boolean {
  const fact = machineFact(facts, declared.name);
  return look.kind !== "running" && mayHoldConfig(fact) && fact.appliedHash === undefined;
}
