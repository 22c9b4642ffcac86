import type { Observed, SeenMachine } from "../../model/observation.ts";

export function goingPools({ workers }: Observed): ReadonlySet<string> {
  return new Set(workers.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).map(({ metadata }) => metadata.name));
}

export function machinesOfGoingPools(seen: Observed): readonly SeenMachine[] {
  const pools = goingPools(seen);
  return [...seen.machines, ...seen.former].filter(({ declared: { owner } }) => owner.kind === "TalosWorker" && pools.has(owner.name));
}

/** The pool of the machine is deleted or not there, or its control plane is deleted. */
export function isPoolGoing(seen: Observed, { declared: { owner } }: SeenMachine): boolean {
  if (owner.kind === "TalosControlPlane") return seen.controlPlane.metadata.deletionTimestamp !== undefined;
  const pool = seen.workers.find(({ metadata }) => metadata.name === owner.name);
  return pool === undefined || pool.metadata.deletionTimestamp !== undefined;
}

/** Its pool is deleted, or the whole cluster is. */
export function isGoing(seen: Observed, { declared: { owner } }: SeenMachine): boolean {
  if (seen.controlPlane.metadata.deletionTimestamp !== undefined) return true;
  return seen.workers.some(
    ({ kind, metadata }) => kind === owner.kind && metadata.name === owner.name && metadata.deletionTimestamp !== undefined,
  );
}
