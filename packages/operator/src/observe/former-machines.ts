import { machineNameFor } from "@talos-operator/api";
import type { TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { mayHoldConfig } from "../record/facts.ts";
import { onlyInstalled, placeOfReported, saysConfigured } from "./reported-machines.ts";
import type { DeclaredMachine, MachineName } from "../model/machine.ts";
import type { SeenRecord } from "../model/observation.ts";
import type { MachinePlace } from "../model/record.ts";

/** What tells of a cluster's machines beside its record. */
export interface Tellers {
  readonly controlPlane: TalosControlPlane;
  readonly workers: readonly TalosWorker[];
  readonly machineObjects: readonly TalosMachine[];
  readonly installed: readonly MachinePlace[];
}

/**
 * Machines that the record knows, that were not released, and that nobody declares any more. Without a record those whose TalosMachines, or the Machines of a
 * KubernetesCluster, say that they were configured: they may be the only ones that show that the cluster exists.
 */
export function formerMachines(
  declared: readonly DeclaredMachine[],
  record: SeenRecord | undefined,
  tellers: Tellers,
): readonly DeclaredMachine[] {
  const names = new Set(declared.map((machine) => machine.name));
  const known = record?.facts.machines.filter(mayHoldConfig) ?? toldPlaces(declared, tellers);
  const former = known.filter((fact) => !names.has(fact.name));
  if (former.length === 0) return [];
  const objects = new Map(tellers.machineObjects.map((object) => [object.metadata.name, object]));
  return former.map((fact) => ({
    name: fact.name,
    role: fact.role,
    address: fact.address,
    owner:
      fact.role === "controlplane"
        ? ({ kind: "TalosControlPlane", name: tellers.controlPlane.metadata.name } as const)
        : ({ kind: "TalosWorker", name: poolNameOf(fact, tellers.workers, objects) } as const),
    field: `ClusterRecord ${fact.name}`,
    version: record?.facts.talosVersion ?? "",
    machineSpec: {},
  }));
}

function toldPlaces(declared: readonly DeclaredMachine[], { machineObjects, installed }: Tellers): readonly MachinePlace[] {
  const told = machineObjects.filter(saysConfigured).map(placeOfReported);
  return [...told, ...onlyInstalled(installed, [...declared, ...told])];
}

/** The pool that a former worker belonged to, as the record, its TalosMachine or its name tells; empty when none of them does. */
function poolNameOf(
  { name, address, pool }: MachinePlace,
  workers: readonly TalosWorker[],
  objects: ReadonlyMap<MachineName, TalosMachine>,
): string {
  const told = pool ?? objects.get(name)?.spec?.workerRef?.name;
  if (told !== undefined) return told;
  return workers.find((worker) => machineNameFor(worker.metadata.name, { kind: "address", address }) === name)?.metadata.name ?? "";
}
