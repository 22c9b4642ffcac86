import { reconcileModeOf } from "@talos-operator/api";
import { EffectError } from "../errors.ts";
import type { LatestWords } from "../controllers/shared/latest.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed } from "../model/observation.ts";
import type { Check, Sending } from "./define.ts";

/**
 * Asks whether a machine and its worker pool say by themselves that they are to be left alone. Whoever pauses one of them relies on the word from then on; what
 * the whole cluster says is asked elsewhere.
 *
 * @throws EffectError `MODE_CHANGED`
 */
export async function demandUnpaused(machine: MachineName, latest: LatestWords, seen: Observed): Promise<void> {
  const { namespace = "" } = seen.controlPlane.metadata;
  const owner = [...seen.machines, ...seen.former].find(({ declared }) => declared.name === machine)?.declared.owner;
  const objects = await Promise.all([
    latest.machine({ namespace, name: machine }),
    owner?.kind === "TalosWorker" ? latest.worker({ namespace, name: owner.name }) : undefined,
  ]);
  for (const object of objects) {
    const mode = object === undefined ? "reconcile" : reconcileModeOf(object.metadata);
    if (object !== undefined && (mode === "disable" || mode === "dryrun"))
      throw new EffectError("MODE_CHANGED", `${object.kind} ${object.metadata.name} says ${mode}`);
  }
}

/** Neither the machine nor its pool says by now that it is to be left alone. */
export const unpaused: Check<Sending<{ readonly machine: MachineName }>> = ({ action, effects }) => effects.demandUnpaused(action.machine);

/** The same of every machine whose Node is written. */
export const allUnpaused: Check<Sending<{ readonly nodes: readonly { readonly machine?: MachineName }[] }>> = async ({
  action,
  effects,
}) => {
  await Promise.all(action.nodes.flatMap(({ machine }) => (machine === undefined ? [] : [effects.demandUnpaused(machine)])));
};
