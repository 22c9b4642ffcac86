import { annotations, clusterRecordResource, machineNameFor, talosControlPlaneResource } from "@talos-operator/api";
import type { ClusterRecord, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { silentForMs } from "../../looking/look.ts";
import { COMES_BACK_MS, isMadeAnew, signOfEarlierLife } from "../taloscontrolplane/membership/told-machines.ts";
import { machineFact, mayHoldConfig } from "../taloscontrolplane/record/facts.ts";
import { readRecord } from "../taloscontrolplane/record/facts-codec.ts";
import type { Look } from "../../model/look.ts";
import type { MachineFact } from "../../model/record.ts";

/**
 * Names of a pool's machines that may hold the cluster's configuration, as its record says now. A pool without TalosMachines may still have some: somebody
 * deleted these objects by hand, or a list lacks them. Whoever let the pool go then would leave a machine behind, and nobody to wipe it.
 *
 * That the record of a cluster that was bootstrapped is gone does not make its machines blank, and one that was made anew does not know them all: what the pool lists
 * may hold a configuration then until its machine shows that it holds none, or a person gives it up.
 *
 * @param listed names of the machines in the pool's spec
 * @param look what is known of one of these machines
 * @returns `unknown` when the record says nothing that this release understands
 */
export async function heldMachines(
  { metadata, spec }: TalosWorker,
  listed: readonly string[],
  client: KubeClient,
  look: (name: string) => Look | undefined,
): Promise<readonly string[] | "unknown"> {
  const { namespace } = metadata;
  const name = spec?.controlPlaneRef?.name ?? "";
  // Machines that are to be left running are released as they are.
  if (name === "" || spec?.deletionPolicy === "preserve") return [];
  const record = await client.resource<ClusterRecord>(clusterRecordResource).tryGet({ namespace, name });
  // Without a control plane nobody wipes anything, and its record stays for whoever adopts what was preserved.
  const controlPlane = await client.resource<TalosControlPlane>(talosControlPlaneResource).tryGet({ namespace, name });
  if (controlPlane === undefined) return [];
  const abandoned = controlPlane.metadata.annotations?.[annotations.abandonMachine];
  if (record === undefined)
    return signOfEarlierLife({ controlPlane }) === undefined
      ? []
      : listed.filter((machine) => machine !== abandoned && look(machine)?.kind !== "maintenance");
  const facts = readRecord(record)?.facts;
  if (facts === undefined) return "unknown";
  const known = facts.machines
    .filter((fact) => fact.role === "worker" && mayHoldConfig(fact))
    .filter((fact) => listed.includes(fact.name) || fact.pool === metadata.name || isNamedBy(metadata.name, fact))
    .map((fact) => fact.name);
  if (!isMadeAnew(facts)) return known;
  const untold = listed.filter(
    (machine) => machineFact(facts, machine) === undefined && machine !== abandoned && mayShowConfig(look(machine)),
  );
  return [...known, ...untold];
}

/** Its name is that of a machine of this pool; a record of before the field may not name the pool. */
function isNamedBy(pool: string, { name, address }: MachineFact): boolean {
  return machineNameFor(pool, { kind: "address", address }) === name;
}

/** A machine that the record does not know runs with the cluster's keys, or may come back with them. */
function mayShowConfig(look: Look | undefined): boolean {
  if (look === undefined || look.kind === "not-asked" || look.kind === "running") return true;
  return look.kind === "silent" && silentForMs(look) < COMES_BACK_MS;
}
