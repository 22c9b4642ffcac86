import type { ConditionInput } from "@talos-operator/api";
import { isNameTaken } from "../../spec/machine-names.ts";
import { heldOf } from "./empty-pools.ts";
import type { heldMachines } from "./held-machines.ts";
import { refusalOf } from "./pool-notes.ts";
import type { Decision } from "../../model/decision.ts";
import type { Observed } from "../../model/observation.ts";

/** How far the work item of a cluster got with a worker pool. The TalosWorker shows it, and decides nothing by it. */
export interface PoolComposition {
  /** Machines of a pool that is deleted which may hold the cluster's configuration; absent while it is not. */
  readonly held?: ReturnType<typeof heldMachines>;
  /** What the API server said when it refused what had to be written for the pool. */
  readonly refusal?: string;
  /** Its TalosMachines are not made before the control plane goes on. */
  readonly waitsForControlPlane?: true;
}

/** The same for every pool, by name of its TalosWorker. */
export function poolCompositions(seen: Observed, decision: Decision): ReadonlyMap<string, PoolComposition> {
  const incomplete = incompletePools(seen);
  const isStopped = decision.actions.length === 0 && isBlocked(decision.conditions);
  return new Map(
    seen.workers.map((pool): [string, PoolComposition] => {
      const { name, deletionTimestamp } = pool.metadata;
      const isIncomplete = deletionTimestamp === undefined && incomplete.has(name);
      const refusal = isIncomplete || deletionTimestamp !== undefined ? refusalOf(seen, name) : undefined;
      return [
        name,
        {
          ...(deletionTimestamp === undefined ? {} : { held: heldOf(seen, pool) }),
          ...(refusal === undefined ? {} : { refusal }),
          ...(isStopped && refusal === undefined && isIncomplete ? { waitsForControlPlane: true } : {}),
        },
      ];
    }),
  );
}

/** Pools of which a TalosMachine is missing that could be made. */
function incompletePools(seen: Observed): ReadonlySet<string> {
  const existing = new Set(seen.machineObjects.map(({ metadata }) => metadata.name));
  const missing = seen.machines.filter(({ declared }) => !existing.has(declared.name) && !isNameTaken(declared));
  return new Set(missing.flatMap(({ declared: { owner } }) => (owner.kind === "TalosWorker" ? [owner.name] : [])));
}

function isBlocked(conditions: readonly ConditionInput[]): boolean {
  return conditions.some(({ type, reason }) => type === "Progressing" && reason === "Blocked");
}
