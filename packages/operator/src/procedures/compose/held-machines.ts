import { annotations, machineNameFor } from "@talos-operator/api";
import type { TalosControlPlane, TalosWorker } from "@talos-operator/api";
import { comesBackBy, isMadeAnew, signOfEarlierLife } from "../../observe/reported-machines.ts";
import { machineFact, mayHoldConfig } from "../../record/facts.ts";
import type { Look } from "../../model/look.ts";
import type { ClusterFacts, MachineFact } from "../../model/record.ts";

/** What tells whether machines of a pool are left. */
export interface HeldBy {
  readonly controlPlane: TalosControlPlane;
  /** What the record says; `unknown` when nobody could read it, or it says nothing that this release understands. */
  readonly facts: ClusterFacts | "absent" | "unknown";
  /** Names of the machines in the pool's spec. */
  readonly listed: readonly string[];
  /** What is known of one of these machines. */
  readonly look: (name: string) => Look | undefined;
}

/**
 * Names of a pool's machines that may hold the cluster's configuration, as its record says now. A pool without TalosMachines may still have some: somebody
 * deleted these objects by hand, or a list lacks them. Whoever let the pool go then would leave a machine behind, and nobody to wipe it.
 *
 * That the record of a cluster that was bootstrapped is gone does not make its machines blank, and one that was made anew does not know them all: what the pool lists
 * may hold a configuration then until its machine shows that it holds none, or a person gives it up.
 *
 * @returns `unknown` when the record says nothing that this release understands
 */
export function heldMachines(
  { metadata, spec }: TalosWorker,
  { controlPlane, facts, listed, look }: HeldBy,
): readonly string[] | "unknown" {
  // Machines that are to be left running are released as they are.
  if (spec?.deletionPolicy === "preserve") return [];
  const abandoned = controlPlane.metadata.annotations?.[annotations.abandonMachine];
  if (facts === "absent")
    return signOfEarlierLife({ controlPlane }) === undefined
      ? []
      : listed.filter((machine) => machine !== abandoned && look(machine)?.kind !== "maintenance");
  if (facts === "unknown") return "unknown";
  const known = facts.machines
    .filter((fact) => fact.role === "worker" && mayHoldConfig(fact))
    .filter((fact) => listed.includes(fact.name) || fact.pool === metadata.name || isNamedBy(metadata.name, fact))
    .map((fact) => fact.name);
  if (!isMadeAnew(facts)) return known;
  const unreported = listed.filter(
    (machine) => machineFact(facts, machine) === undefined && machine !== abandoned && mayShowConfig(look(machine), facts),
  );
  return [...known, ...unreported];
}

/** Its name is that of a machine of this pool; a record of before the field may not name the pool. */
function isNamedBy(pool: string, { name, address }: MachineFact): boolean {
  return machineNameFor(pool, { kind: "address", address }) === name;
}

/** A machine that the record does not know runs with the cluster's keys, or may come back with them. */
function mayShowConfig(look: Look | undefined, { bundle }: ClusterFacts): boolean {
  if (look === undefined || look.kind === "not-asked" || look.kind === "running") return true;
  return look.kind === "silent" && look.at < comesBackBy(look.since, bundle.foundAt);
}
