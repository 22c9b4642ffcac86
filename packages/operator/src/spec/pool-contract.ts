import { compareContracts, tryParseVersion } from "@talos-operator/talos";
import { onceFor } from "../assess/once.ts";
import { contractOf } from "../config/render.ts";
import { machineFact, mayHoldConfig } from "../record/facts.ts";
import type { DeclaredMachine } from "../model/machine.ts";
import type { ClusterFacts, MachineFact } from "../model/record.ts";

type Pool = DeclaredMachine["owner"];

/**
 * The contract that the configurations of a pool are written for, for example `1.13`: the oldest of its machines; `undefined` = none of them tells one.
 *
 * It stays as Talos is upgraded, and machines that join get it too: patches are written once for a pool, and another contract has another place for what they
 * change.
 */
export function poolContract(facts: Pick<ClusterFacts, "machines"> | undefined, { kind, name }: Pool): string | undefined {
  if (facts === undefined) return undefined;
  return contracts(facts.machines).get(kind === "TalosControlPlane" ? CONTROL_PLANE : name);
}

/** No pool has this name. */
const CONTROL_PLANE = "";

/** By pool. Many machines join at once. */
const contracts = onceFor((machines: readonly MachineFact[]): ReadonlyMap<string, string> => {
  const oldest = new Map<string, string>();
  for (const fact of machines) {
    const pool = fact.role === "controlplane" ? CONTROL_PLANE : fact.pool;
    if (!mayHoldConfig(fact) || fact.contract === undefined || pool === undefined) continue;
    const known = oldest.get(pool);
    if (known === undefined || compareContracts(fact.contract, known) < 0) oldest.set(pool, fact.contract);
  }
  return oldest;
});

/** The contract of a machine's configuration: what the record says, and of one that it does not know that of its first one; `undefined` = its version is none. */
export function machineContract(
  facts: ClusterFacts | undefined,
  declared: Pick<DeclaredMachine, "name" | "owner">,
  version: string,
  readBy?: string,
): string | undefined {
  const known = machineFact(facts, declared.name)?.contract;
  return known ?? (tryParseVersion(version) === undefined ? undefined : firstContract(facts, declared, version, readBy));
}

/** The contract of a machine's first configuration: that of its pool, unless what is installed or what reads the text is older. */
export function firstContract(
  facts: ClusterFacts | undefined,
  { owner }: Pick<DeclaredMachine, "owner">,
  version: string,
  readBy: string | undefined,
): string {
  const known = contractOf(version, readBy);
  const ofPool = poolContract(facts, owner);
  return ofPool !== undefined && compareContracts(ofPool, known) < 0 ? ofPool : known;
}
