import { machineNameFor } from "@talos-operator/api";
import type { TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { mayHoldConfig } from "../record/facts.ts";
import { onlyInstalled, placeOfTold, saysConfigured } from "./told-machines.ts";
import type { DeclaredMachine } from "../../../model/machine.ts";
import type { SeenRecord } from "../../../model/observation.ts";
import type { MachinePlace } from "../../../model/record.ts";

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
  return known
    .filter((fact) => !names.has(fact.name))
    .map((fact) => ({
      name: fact.name,
      role: fact.role,
      address: fact.address,
      owner:
        fact.role === "controlplane"
          ? ({ kind: "TalosControlPlane", name: tellers.controlPlane.metadata.name } as const)
          : ({ kind: "TalosWorker", name: poolNameOf(fact, tellers) } as const),
      field: `ClusterRecord ${fact.name}`,
      version: record?.facts.talosVersion ?? "",
      machineSpec: {},
    }));
}

function toldPlaces(declared: readonly DeclaredMachine[], { machineObjects, installed }: Tellers): readonly MachinePlace[] {
  const told = machineObjects.filter(saysConfigured).map(placeOfTold);
  return [...told, ...onlyInstalled(installed, [...declared, ...told])];
}

/** The pool that a former worker belonged to, as the record, its TalosMachine or its name tells; empty when none of them does. */
function poolNameOf({ name, address, pool }: MachinePlace, { workers, machineObjects }: Tellers): string {
  const told = pool ?? machineObjects.find((object) => object.metadata.name === name)?.spec?.workerRef?.name;
  if (told !== undefined) return told;
  return workers.find((worker) => machineNameFor(worker.metadata.name, { kind: "address", address }) === name)?.metadata.name ?? "";
}
