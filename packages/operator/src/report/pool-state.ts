import { conditionFor } from "@talos-operator/api";
import type { ConditionInput, RemovalStatus, UpgradeStatus } from "@talos-operator/api";
import { configIntents } from "../procedures/configure/config-intents.ts";
import { factsOf } from "../record/facts.ts";
import { configConditionsOf } from "./describe-config.ts";
import { removalRows, removalsOf, removalWords } from "./describe-removal.ts";
import { withHeadline } from "./headline.ts";
import { machinesInChange } from "./open-effects.ts";
import { poolContract } from "../spec/pool-contract.ts";
import { upgradeStatusOf } from "./upgrade-progress.ts";
import { upgradePending } from "./upgrade-state.ts";
import type { MachineName } from "../model/machine.ts";
import type { SeenMachine } from "../model/observation.ts";
import type { Removal } from "../model/plans.ts";
import type { Assessment } from "../model/assessment.ts";

/** What the reconciler of a cluster knows of one worker pool: the TalosWorker shows it, and decides nothing by it. */
export interface PoolState {
  /** The generation of the TalosWorker that this was decided on; `undefined` = it has none. */
  readonly generation: number | undefined;
  /** `ConfigUpToDate`, `ConfigDrift`, `Removing` and `UpgradePending` of the pool's own machines, with the generation of the TalosWorker. */
  readonly conditions: readonly ConditionInput[];
  /** Machines of the pool that leave; `undefined` = none does. */
  readonly removals?: readonly RemovalStatus[] | undefined;
  /** How far its machines are on their way to another Talos; `undefined` = they are on none. */
  readonly upgrade?: UpgradeStatus | undefined;
  /** Contract that the configurations of its machines are written for; `undefined` = none is known. */
  readonly configContract?: string | undefined;
  /** Settings of a machine of the pool are being changed, its reboot included. */
  readonly isChangingConfig: boolean;
  /** A change of one of its machines, of those that leave too, is open or about to begin. */
  readonly hasOpenEffect: boolean;
}

/**
 * The state of every worker pool that is not being deleted, by name of its TalosWorker. Empty while the cluster has no record.
 *
 * @param toChange machines that the pass is about to change
 */
export function poolStates(assessed: Assessment, toChange: ReadonlySet<MachineName>): ReadonlyMap<string, PoolState> {
  const { seen } = assessed;
  const facts = factsOf(seen);
  if (facts === undefined) return new Map();
  const changing = new Set(configIntents(facts).map(({ machine }) => machine));
  const open = new Set([...machinesInChange(seen), ...toChange]);
  const pools = seen.workers.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return new Map(
    pools.map((worker): [string, PoolState] => {
      const { name, generation } = worker.metadata;
      const own = seen.machines.filter((machine) => isOf(machine, name));
      const leaving = seen.former.filter((machine) => isOf(machine, name));
      const leaves = new Set(leaving.map(({ declared }) => declared.name));
      const removals = removalsOf(assessed).filter(({ machine }) => leaves.has(machine));
      const conditions = [
        ...configConditionsOf(assessed, ({ owner }) => owner.kind === "TalosWorker" && owner.name === name, generation),
        ...removing(removals, generation),
        ...upgradePending(seen, own, generation, worker.spec?.kubeVersion, withHeadline(assessed, own)),
      ];
      const isChangingConfig = own.some(({ declared }) => changing.has(declared.name));
      const hasOpenEffect = [...own, ...leaving].some(({ declared }) => open.has(declared.name));
      const upgrade = upgradeStatusOf(assessed, own);
      const configContract = poolContract(facts, { kind: "TalosWorker", name });
      return [name, { generation, conditions, removals: removalRows(removals), upgrade, configContract, isChangingConfig, hasOpenEffect }];
    }),
  );
}

function removing(removals: readonly Removal[], generation: number | undefined): readonly ConditionInput[] {
  const [first] = removals;
  return first === undefined ? [] : [conditionFor("Removing", first.reason, removalWords(removals), generation)];
}

function isOf({ declared: { owner } }: SeenMachine, pool: string): boolean {
  return owner.kind === "TalosWorker" && owner.name === pool;
}
