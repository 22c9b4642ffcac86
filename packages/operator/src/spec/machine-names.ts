import { machineNameFor } from "@talos-operator/api";
import type { Finding, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { machineFact } from "../record/facts.ts";
import { isObjectName } from "./declared.ts";
import { fullName } from "./places.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { DeclaredMachine, MachineName } from "../model/machine.ts";

type Pool = TalosControlPlane | TalosWorker;

/** An entry of a pool that names its machine. */
interface Entry {
  readonly pool: Pool;
  readonly field: string;
  readonly isReference: boolean;
}

/**
 * Names that machines of two pools of one cluster would have, with the entries. A TalosMachine and what the record knows go by name: with one for two
 * machines, the one would be taken for the other. Two entries of one address are told by that.
 */
export type SharedNames = ReadonlyMap<MachineName, readonly Entry[]>;

/** @param pools all of one cluster */
export function sharedNames(pools: readonly Pool[]): SharedNames {
  // Only what a reference is called can meet a name that was made of another.
  if (!pools.some(({ spec }) => spec?.metalSpec?.machines?.some(({ machineRef }) => machineRef !== undefined) === true)) return none;
  const entries = new Map<MachineName, Entry[]>();
  for (const pool of pools)
    for (const [index, { address, machineRef }] of (pool.spec?.metalSpec?.machines ?? []).entries()) {
      const source =
        address !== undefined
          ? ({ kind: "address", address } as const)
          : isObjectName(machineRef?.name)
            ? ({ kind: "machineRef", name: machineRef?.name ?? "" } as const)
            : undefined;
      if (source === undefined) continue;
      const name = machineNameFor(pool.metadata.name, source);
      const entry = { pool, field: `spec.metalSpec.machines[${index}]`, isReference: source.kind === "machineRef" };
      entries.set(name, [...(entries.get(name) ?? []), entry]);
    }
  return new Map(
    [...entries].filter(([, of]) => new Set(of.map(({ pool }) => pool)).size > 1 && of.some(({ isReference }) => isReference)),
  );
}

const none: SharedNames = new Map();

/** What is said of the entries of a pool that share the name of another's. */
export function sharedNameProblems(pool: Pool, shared: SharedNames): readonly Finding[] {
  return [...shared].flatMap(([name, entries]) => {
    const own = entries.find((entry) => entry.pool === pool);
    const other = entries.find((entry) => entry.pool !== pool);
    if (own === undefined || other === undefined) return [];
    return [
      {
        field: own.field,
        message: `its TalosMachine would be called ${name}, as that of ${other.pool.kind}/${other.pool.metadata.name} ${other.field}`,
        remedy: "Refer to an object of another name, or move the machine to a pool of another name",
        reason: "NameConflict",
      },
    ];
  });
}

/** True for the one machine of a shared name that has it: the one that the record knows, else the first that is listed. */
export function hasItsName(
  machine: DeclaredMachine,
  listed: readonly DeclaredMachine[],
  shared: SharedNames,
  facts: ClusterFacts | undefined,
): boolean {
  if (!shared.has(machine.name)) return true;
  const named = listed.filter(({ name }) => name === machine.name);
  const fact = machineFact(facts, machine.name);
  const known = named.find(
    ({ role, owner }) => role === fact?.role && (role === "controlplane" || fact.pool === undefined || fact.pool === owner.name),
  );
  return machine === (known ?? named[0]);
}

/** The machine with what is wrong with its name: a TalosMachine that is not this cluster's has it. */
export function withTakenName(machine: DeclaredMachine, holder: TalosMachine | undefined): DeclaredMachine {
  if (holder === undefined) return machine;
  const { controlPlaneRef, workerRef } = holder.spec ?? {};
  const [kind, name] = controlPlaneRef?.name === undefined ? ["TalosWorker", workerRef?.name] : ["TalosControlPlane", controlPlaneRef.name];
  const whose = name === undefined ? "belongs to no cluster" : `refers to ${kind} ${name}`;
  const message = `${fullName(holder)} has its name and ${whose}. Delete that object if nobody needs it, or list the machine so that its name is another.`;
  return { ...machine, problem: { reason: "NameConflict", message } };
}

/** True for a machine that has no TalosMachine of its own, since another cluster's has its name. */
export function isNameTaken({ problem }: DeclaredMachine): boolean {
  return problem?.reason === "NameConflict";
}
