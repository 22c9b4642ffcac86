import { finalizers } from "@talos-operator/api";
import type { TalosMachine } from "@talos-operator/api";
import { composedPools } from "./composed-pools.ts";
import { isNameTaken } from "../../spec/machine-names.ts";
import type { Action } from "../../model/effect.ts";
import type { DeclaredMachine } from "../../model/machine.ts";
import type { Rule } from "../../model/decision.ts";

/**
 * True when the TalosMachine that was made for a reference shows another address than the reference gives. It is what people read: the record follows
 * only when the machine has proved to be there.
 */
function needsFollowing({ reference, problem, address }: DeclaredMachine, object: TalosMachine | undefined): boolean {
  return reference !== undefined && problem === undefined && object?.spec !== undefined && object.spec.endpoint !== address;
}

/** So many TalosMachines are written in a pass: between the passes over a large pool whatever is more urgent has its turn. */
const AT_ONCE = 100;

/**
 * One TalosMachine for each machine of the control plane and of its worker pools, named deterministically. Nobody else makes any: a pool without a control
 * plane has none.
 */
export const composeMachines: Rule = {
  name: "composeMachines",
  decide(assessed) {
    const { seen } = assessed;
    const existing = new Map(seen.machineObjects.map((object) => [object.metadata.name, object]));
    // A machine of a pool that nothing guards is nobody's to wipe.
    const guarded = composedPools(seen).filter(({ metadata }) => metadata.finalizers?.includes(finalizers.talosWorker) === true);
    const pools = new Set(guarded.map(({ metadata }) => metadata.name));
    const own = seen.machines
      .map(({ declared }) => declared)
      .filter(({ name, owner }) => (owner.kind === "TalosControlPlane" || pools.has(owner.name)) && seen.held?.has(name) !== true);
    const follow = own
      .filter((declared) => needsFollowing(declared, existing.get(declared.name)))
      .map((declared): Action => ({ kind: "FollowEndpoint", name: declared.name, to: declared.address }));
    if (follow.length > 0) return { actions: follow.slice(0, AT_ONCE) };
    const missing = own.filter((declared) => !existing.has(declared.name) && !isNameTaken(declared));
    if (missing.length === 0) return undefined;
    const actions = missing.slice(0, AT_ONCE).map((declared): Action => ({ kind: "CreateMachine", machine: declared }));
    const ofWorkers = missing.every(({ role }) => role === "worker") ? ({ ofWorkers: true } as const) : {};
    return { actions, waiting: { reason: "Composing", message: "TalosMachines are being made.", ...ofWorkers } };
  },
};
