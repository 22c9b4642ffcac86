import type { ClusterModel, VitistackMachine } from "@talos-operator/api";
import { machineManifest } from "./machine-manifest.ts";
import type { MachineManifest, PoolManifest, Seen } from "./model.ts";
import { planGroup } from "./plan-group.ts";
import { poolNameOf, poolOfMachine, strayedFrom } from "./pool-of-machine.ts";
import { controlPlanePool, talosMachineName, workerPool } from "./pools.ts";

/** What a cluster consists of when everything is as its spec says. */
export interface Composition {
  /** Every Machine, control planes first, each group in the order of its indexes. */
  readonly machines: readonly MachineManifest[];
  readonly pools: readonly PoolManifest[];
  /** Machines that leave, each with the name of its TalosMachine; the first is to go first. */
  readonly leaving: readonly LeavingMachine[];
  /** Names of wanted Machines that somebody else has, with whose they are. */
  readonly conflicts: ReadonlyMap<string, string>;
  /** Names that no new Machine was given because a TalosMachine stands for them, and no list tells of their Machines. */
  readonly passedOver: readonly string[];
}

/** A Machine that the cluster lets go. */
export interface LeavingMachine {
  readonly machine: VitistackMachine;
  readonly pool: string;
  readonly talosMachine: string;
}

/** Makes the plan of a cluster. Pure, and the same again once it is carried out. */
export function compose(seen: Seen, model: ClusterModel): Composition {
  const left = new Set([...seen.talosMachines.map(({ metadata }) => metadata.name), ...(seen.holding ?? [])]);
  const poolOf = new Map(seen.machines.map((machine) => [machine, poolOfMachine(seen, model, machine)]));
  const placed = new Set<VitistackMachine>();
  const machines: MachineManifest[] = [];
  const pools: PoolManifest[] = [];
  const leaving: LeavingMachine[] = [];
  const conflicts = new Map<string, string>();
  const passedOver: string[] = [];
  for (const group of model.groups) {
    const pool = poolNameOf(model, group);
    const members = seen.machines.filter((machine) => poolOf.get(machine) === pool);
    for (const member of members) placed.add(member);
    const strayed = strayedFrom(pool, seen);
    const shape = { cluster: seen.cluster, model, group, resolvedVersions: seen.resolvedVersions };
    const plan = planGroup({
      prefix: `${model.name}-${group.name}`,
      replicas: group.replicas,
      members: [
        ...members.map(({ metadata }) => ({ name: metadata.name, isGoing: metadata.deletionTimestamp !== undefined })),
        ...strayed.map((name) => ({ name, isGoing: false })),
      ],
      isTaken: (name) => left.has(talosMachineName(pool, name)),
    });
    passedOver.push(...plan.passedOver);
    const free = plan.wanted.filter((name) => {
      const holder = seen.holderOf(name);
      if (holder !== undefined) conflicts.set(name, holder);
      return holder === undefined;
    });
    const listed = plan.wanted.filter((name) => free.includes(name) || strayed.includes(name));
    machines.push(...free.map((name) => machineManifest(seen.cluster, model, group, name)));
    if (group.role === "worker")
      pools.push(workerPool({ ...shape, stored: seen.workers.find(({ metadata }) => metadata.name === pool) }, listed));
    else if (listed.length > 0) pools.unshift(controlPlanePool({ ...shape, stored: seen.controlPlane }, listed));
    leaving.push(...plan.leaving.flatMap((name) => members.filter(({ metadata }) => metadata.name === name).map(leaver(pool))));
  }
  // Machines of groups that the spec no longer has.
  for (const machine of seen.machines.filter((one) => !placed.has(one))) leaving.push(leaver(poolOf.get(machine) ?? model.name)(machine));
  return { machines, pools, leaving, conflicts, passedOver };
}

function leaver(pool: string): (machine: VitistackMachine) => LeavingMachine {
  return (machine) => ({ machine, pool, talosMachine: talosMachineName(pool, machine.metadata.name) });
}
