import type { TalosWorker } from "@talos-operator/api";
import type { MachineName } from "../../model/machine.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import { onceFor } from "../../assess/once.ts";
import { heldMachines } from "./held-machines.ts";
import type { HeldBy } from "./held-machines.ts";

/** Worker pools that are deleted, and of whose machines nothing is left: no TalosMachine, and no configuration as far as can be known. */
export function emptyPools(seen: Observed): readonly TalosWorker[] {
  return seen.workers.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).filter((pool) => isEmpty(seen, pool));
}

function isEmpty(seen: Observed, pool: TalosWorker): boolean {
  const machines = seen.machineObjects.filter(({ spec }) => spec?.workerRef?.name === pool.metadata.name);
  return machines.length === 0 && heldOf(seen, pool).length === 0;
}

/** Machines of a pool that may hold the cluster's configuration, as this pass saw it. */
export function heldOf(seen: Observed, pool: TalosWorker): ReturnType<typeof heldMachines> {
  const { record } = seen;
  const facts = record.kind === "present" ? record.value.facts : record.kind;
  return heldMachines(pool, { ...heldBy(seen, pool), controlPlane: seen.controlPlane, facts });
}

/** Of each pass once: many pools may go together. */
const byName = onceFor((machines: readonly SeenMachine[]) => new Map(machines.map((machine) => [machine.declared.name, machine])));

/** What a pass knows of the pool's machines, listed or not. */
export function heldBy({ machines }: Observed, { metadata }: TalosWorker): Pick<HeldBy, "listed" | "look"> {
  const listed = machines.filter(({ declared: { owner } }) => owner.kind === "TalosWorker" && owner.name === metadata.name);
  return { listed: listed.map(({ declared }) => declared.name), look: (name: MachineName) => byName(machines).get(name)?.look };
}
