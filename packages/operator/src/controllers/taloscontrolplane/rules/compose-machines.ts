import type { Action, Rule } from "../model.ts";

/** One TalosMachine for each machine of the control plane, named deterministically; workers' are made by the TalosWorker's controller. */
export const composeMachines: Rule = {
  name: "composeMachines",
  decide(seen) {
    const existing = new Map(seen.machineObjects.map((object) => [object.metadata.name, object]));
    const actions = seen.machines
      .filter(({ declared }) => declared.owner.kind === "TalosControlPlane" && !existing.has(declared.name))
      .map(({ declared }): Action => ({ kind: "CreateMachine", machine: declared }));
    return actions.length === 0
      ? undefined
      : { actions, waiting: { reason: "WaitingForMachines", message: "TalosMachines are being made." } };
  },
};
