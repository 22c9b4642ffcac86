import { controllerOf } from "@talos-operator/api";
import type { ClusterGroup, ClusterModel, TalosControlPlane, TalosWorker, VitistackMachine } from "@talos-operator/api";
import { groupOfMachine } from "./machine-manifest.ts";
import type { Seen } from "./model.ts";
import { talosMachineName, workerPoolName } from "./pools.ts";

/** Name of the pool that the machines of a group form. */
export function poolNameOf(model: ClusterModel, group: Pick<ClusterGroup, "name" | "role">): string {
  return group.role === "controlplane" ? model.name : workerPoolName(model, group);
}

/**
 * Name of the pool that a Machine stands in: the one that lists it, else the one in which a TalosMachine stands for it, or the record holds it. Labels count only
 * where none does. People can edit them, and whoever took their word would look for what holds the machine under another name, and let it go while it runs.
 *
 * @returns `undefined` when nothing tells
 */
export function poolOfMachine(seen: Pick<Seen, PoolEvidence>, model: ClusterModel, machine: VitistackMachine): string | undefined {
  const { name } = machine.metadata;
  const own = ownPools(seen);
  const listed = own.find(({ spec }) => spec?.metalSpec?.machines?.some(({ machineRef }) => machineRef?.name === name));
  if (listed !== undefined) return listed.metadata.name;
  const names = new Set([
    model.name,
    ...model.groups.map((group) => poolNameOf(model, group)),
    ...own.map(({ metadata }) => metadata.name),
  ]);
  const held = new Set([...seen.talosMachines.map(({ metadata }) => metadata.name), ...(seen.holding ?? [])]);
  const stands = [...names].find((pool) => held.has(talosMachineName(pool, name)));
  if (stands !== undefined) return stands;
  const labelled = groupOfMachine(machine);
  return labelled === undefined ? undefined : poolNameOf(model, labelled);
}

/**
 * Names of Machines that a pool of this cluster lists, and that are not the cluster's any more: somebody took their owner off, or gave them another. That
 * is no wish to have them drained and wiped, so they keep their place until the owner is put right.
 */
export function strayedFrom(pool: string, seen: Pick<Seen, PoolEvidence | "machines" | "holderOf">): readonly string[] {
  const stored = ownPools(seen).find(({ metadata }) => metadata.name === pool);
  return (stored?.spec?.metalSpec?.machines ?? []).flatMap(({ machineRef }) => {
    const name = machineRef?.name;
    return name === undefined || seen.holderOf(name) === undefined || seen.machines.some(({ metadata }) => metadata.name === name)
      ? []
      : [name];
  });
}

function ownPools({ cluster, controlPlane, workers }: Pick<Seen, PoolEvidence>): readonly (TalosControlPlane | TalosWorker)[] {
  return [controlPlane, ...workers].filter(
    (pool) => pool !== undefined && controllerOf(pool.metadata)?.uid === cluster.metadata.uid,
  ) as readonly (TalosControlPlane | TalosWorker)[];
}

type PoolEvidence = "cluster" | "controlPlane" | "workers" | "talosMachines" | "holding";
