import { stateOf } from "../../assess/machine-state.ts";
import { machineFact, mayHoldConfig } from "../../record/facts.ts";
import { configureMachine } from "../../effects/configure-machine.ts";
import { mayAskAgain } from "../../effects/define.ts";
import type { Action } from "../../model/effect.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import type { ClusterFacts, MachineFact } from "../../model/record.ts";

/**
 * What configures a control plane of a cluster that goes, so that its workers can be wiped: a worker gets its certificate through a control plane and answers nobody
 * before. Only one that was written down with the key that it still shows: its configuration was decided before the deletion, and was lost on its way.
 *
 * @param waiting the machines that have to be wiped and do not answer
 * @returns nothing while a control plane runs or is on its way, and where no worker waits
 */
export function certificateSource(
  seen: Observed,
  facts: ClusterFacts,
  waiting: readonly SeenMachine[],
): { readonly actions: readonly Action[]; readonly message: string } | undefined {
  if (!waiting.some(({ declared, look }) => declared.role === "worker" && look.kind === "silent")) return undefined;
  const controlPlanes = seen.machines.filter(({ declared }) => declared.role === "controlplane");
  if (controlPlanes.some(({ look }) => look.kind === "running")) return undefined;
  const [found] = controlPlanes.flatMap(({ declared, look }) => {
    const fact = machineFact(facts, declared.name);
    return look.kind === "maintenance" && isPinned(fact, look.spki) ? [{ declared, look, fact }] : [];
  });
  if (found === undefined) return undefined;
  const { declared, look, fact } = found;
  const names = waiting.map((machine) => `${machine.declared.name} (${stateOf(machine)})`).join(", ");
  return {
    actions: mayAskAgain(seen, configureMachine, declared.name)
      ? [{ kind: "ConfigureMachine", machine: declared, ifSpki: look.spki, installDisk: fact.installDisk, isForWipe: true }]
      : [],
    message: `${declared.name} takes the configuration that was meant for it. Workers get their certificates through a control plane, and these must be wiped first: ${names}.`,
  };
}

function isPinned(fact: MachineFact | undefined, spki: string): fact is MachineFact {
  return mayHoldConfig(fact) && fact.spki === spki;
}
