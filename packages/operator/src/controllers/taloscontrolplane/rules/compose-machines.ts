import type { TalosMachine } from "@talos-operator/api";
import { isNameTaken } from "../spec/machine-names.ts";
import type { Action } from "../../../model/effect.ts";
import type { DeclaredMachine } from "../../../model/machine.ts";
import type { Rule } from "../../../model/decision.ts";

/**
 * True when the TalosMachine that was made for a reference shows another address than the reference gives. It is what people read: the record follows
 * only when the machine has proved to be there.
 */
export function needsFollowing({ reference, problem, address }: DeclaredMachine, object: TalosMachine | undefined): boolean {
  return reference !== undefined && problem === undefined && object?.spec !== undefined && object.spec.endpoint !== address;
}

/** One TalosMachine for each machine of the control plane, named deterministically; workers' are made by the TalosWorker's controller. */
export const composeMachines: Rule = {
  name: "composeMachines",
  decide(assessed) {
    const { seen } = assessed;
    const existing = new Map(seen.machineObjects.map((object) => [object.metadata.name, object]));
    const follow = seen.machines.flatMap(({ declared }): readonly Action[] =>
      declared.owner.kind === "TalosControlPlane" && needsFollowing(declared, existing.get(declared.name))
        ? [{ kind: "FollowEndpoint", name: declared.name, to: declared.address }]
        : [],
    );
    if (follow.length > 0) return { actions: follow };
    const actions = seen.machines
      .filter(({ declared }) => declared.owner.kind === "TalosControlPlane" && !existing.has(declared.name) && !isNameTaken(declared))
      .map(({ declared }): Action => ({ kind: "CreateMachine", machine: declared }));
    return actions.length === 0 ? undefined : { actions, waiting: { reason: "Composing", message: "TalosMachines are being made." } };
  },
};
