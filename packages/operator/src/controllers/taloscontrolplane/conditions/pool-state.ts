import { conditionFor } from "@talos-operator/api";
import type { ConditionInput, TalosWorker } from "@talos-operator/api";
import { configIntents } from "../config-changes/config-intents.ts";
import { factsOf } from "../record/facts.ts";
import type { Observed, SeenMachine } from "../model.ts";
import { configConditionsOf } from "./describe-config.ts";
import { removalsOf } from "./describe-removal.ts";
import { upgradePending } from "./upgrade-state.ts";

/** What the reconciler of a cluster knows of one worker pool: the TalosWorker shows it, and decides nothing by it. */
export interface PoolState {
  /** `ConfigUpToDate`, `ConfigDrift`, `Removing` and `UpgradePending` of the pool's own machines, with the generation of the TalosWorker. */
  readonly conditions: readonly ConditionInput[];
  /** Settings of a machine of the pool are being changed, its reboot included. */
  readonly isChangingConfig: boolean;
}

/** The state of every worker pool that is not being deleted, by name of its TalosWorker. Empty while the cluster has no record. */
export function poolStates(seen: Observed): ReadonlyMap<string, PoolState> {
  const facts = factsOf(seen);
  if (facts === undefined) return new Map();
  const changing = new Set(configIntents(facts).map(({ machine }) => machine));
  const pools = seen.workers.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return new Map(
    pools.map((worker): [string, PoolState] => {
      const { name, generation } = worker.metadata;
      const own = seen.machines.filter((machine) => isOf(machine, name));
      const conditions = [
        ...configConditionsOf(seen, ({ owner }) => owner.kind === "TalosWorker" && owner.name === name, generation),
        ...removing(seen, worker),
        ...upgradePending(seen, own, generation, worker.spec?.kubeVersion),
      ];
      return [name, { conditions, isChangingConfig: own.some(({ declared }) => changing.has(declared.name)) }];
    }),
  );
}

function removing(seen: Observed, { metadata: { name, generation } }: TalosWorker): readonly ConditionInput[] {
  const own = new Set(seen.former.filter((machine) => isOf(machine, name)).map(({ declared }) => declared.name));
  const removals = removalsOf(seen).filter(({ machine }) => own.has(machine));
  const [first] = removals;
  return first === undefined ? [] : [conditionFor("Removing", first.reason, removals.map(({ message }) => message).join(" "), generation)];
}

function isOf({ declared: { owner } }: SeenMachine, pool: string): boolean {
  return owner.kind === "TalosWorker" && owner.name === pool;
}
