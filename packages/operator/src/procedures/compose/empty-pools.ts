import type { TalosWorker } from "@talos-operator/api";
import type { MachineName } from "../../model/machine.ts";
import type { Observed } from "../../model/observation.ts";
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

/** What a pass knows of the pool's machines, listed or not. */
export function heldBy(seen: Observed, { metadata }: TalosWorker): Pick<HeldBy, "listed" | "look"> {
  const looks = new Map(seen.machines.map(({ declared, look }) => [declared.name, look]));
  return { listed: machinesOfPool(seen, metadata.name), look: (name: MachineName) => looks.get(name) };
}

/** Names of the machines that the pool lists. */
function machinesOfPool(seen: Observed, pool: string): readonly MachineName[] {
  return seen.machines
    .filter(({ declared: { owner } }) => owner.kind === "TalosWorker" && owner.name === pool)
    .map(({ declared }) => declared.name);
}
