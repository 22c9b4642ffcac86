import { compareVersions, tryParseVersion } from "@talos-operator/talos";

/** What people see of the machines of an object in the columns of `kubectl get`. */
export interface RunningFields {
  readonly observedVersion: string | undefined;
  readonly wantedMachines: number;
  readonly readyMachines: number;
  readonly machines: string;
}

/** One machine that a spec lists. */
export interface ListedMachine {
  readonly isReady: boolean;
  /** Talos that it says it runs; `undefined` = nobody knows. */
  readonly version: string | undefined;
}

/** The fields of a pool, from its machines. */
export function runningFieldsOf(listed: readonly ListedMachine[]): RunningFields {
  const readyMachines = listed.filter(({ isReady }) => isReady).length;
  return fieldsOf(
    listed.length,
    readyMachines,
    listed.map(({ version }) => version),
  );
}

/** The fields of a cluster, from those of its pools; `undefined` stands for one that has not told any. */
export function sumOfPools(pools: readonly (Partial<Omit<RunningFields, "machines">> | undefined)[]): RunningFields {
  const sum = (field: "wantedMachines" | "readyMachines"): number => pools.reduce((total, pool) => total + (pool?.[field] ?? 0), 0);
  const versions = pools.flatMap((pool) => pool?.observedVersion?.split(", ") ?? []);
  return fieldsOf(sum("wantedMachines"), sum("readyMachines"), versions);
}

function fieldsOf(wantedMachines: number, readyMachines: number, versions: readonly (string | undefined)[]): RunningFields {
  const known = [...new Set(versions.filter((version) => version !== undefined && version !== ""))].toSorted(oldestFirst);
  return {
    observedVersion: known.length === 0 ? undefined : known.join(", "),
    wantedMachines,
    readyMachines,
    machines: `${readyMachines}/${wantedMachines}`,
  };
}

function oldestFirst(a: string | undefined = "", b: string | undefined = ""): number {
  if (tryParseVersion(a) === undefined || tryParseVersion(b) === undefined) return a < b ? -1 : 1;
  return compareVersions(a, b);
}
