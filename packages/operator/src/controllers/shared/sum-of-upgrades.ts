import type { UpgradeStatus } from "@talos-operator/api";

/** What of a pool reports how far it is. */
export interface PoolUpgrade {
  readonly spec?: { readonly version?: string };
  readonly status?: { readonly wantedMachines?: number; readonly observedVersion?: string; readonly upgrade?: UpgradeStatus };
}

/** Rows of a cluster at most, as its schema allows. */
const MOST_ROWS = 64;

/** How far a cluster is on its way to another Talos, from its pools; `undefined` = none of them is on any. */
export function sumOfUpgrades(pools: readonly (PoolUpgrade | undefined)[]): UpgradeStatus | undefined {
  if (pools.every((pool) => pool?.status?.upgrade === undefined)) return undefined;
  const counts = pools.map((pool) => countsOf(pool));
  const done = counts.reduce((sum, one) => sum + one.done, 0);
  const machines = counts.reduce((sum, one) => sum + one.machines, 0);
  const underWay = pools.flatMap((pool) => pool?.status?.upgrade?.underWay ?? []).slice(0, MOST_ROWS);
  return { done, machines, progress: `${done}/${machines}`, ...(underWay.length === 0 ? {} : { underWay }) };
}

/** A pool that says nothing of an upgrade is through with it, or has not read yet that there is one. */
function countsOf({ spec, status }: PoolUpgrade = {}): { readonly done: number; readonly machines: number } {
  const { upgrade, wantedMachines = 0, observedVersion } = status ?? {};
  if (upgrade !== undefined) return { done: upgrade.done ?? 0, machines: upgrade.machines ?? 0 };
  return { done: observedVersion === spec?.version ? wantedMachines : 0, machines: wantedMachines };
}
