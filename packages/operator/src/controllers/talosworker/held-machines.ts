import { clusterRecordResource, machineNameFor, talosControlPlaneResource } from "@talos-operator/api";
import type { ClusterRecord, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { mayHoldConfig } from "../taloscontrolplane/record/facts.ts";
import { readRecord } from "../taloscontrolplane/record/facts-codec.ts";

/**
 * Names of a pool's machines that may hold the cluster's configuration, as its record says now. A pool without TalosMachines may still have some: somebody
 * deleted these objects by hand, or a list lacks them. Whoever let the pool go then would leave a machine behind, and nobody to wipe it.
 *
 * @param listed names of the machines in the pool's spec
 * @returns `unknown` when the record says nothing that this release understands
 */
export async function heldMachines(
  { metadata, spec }: TalosWorker,
  listed: readonly string[],
  client: KubeClient,
): Promise<readonly string[] | "unknown"> {
  const { namespace } = metadata;
  const name = spec?.controlPlaneRef?.name ?? "";
  // Machines that are to be left running are let go as they are.
  if (name === "" || spec?.deletionPolicy === "preserve") return [];
  const record = await client.resource<ClusterRecord>(clusterRecordResource).tryGet({ namespace, name });
  if (record === undefined) return [];
  // Without a control plane nobody wipes anything, and its record stays for whoever adopts what was preserved.
  const controlPlane = await client.resource<TalosControlPlane>(talosControlPlaneResource).tryGet({ namespace, name });
  if (controlPlane === undefined) return [];
  const facts = readRecord(record)?.facts;
  if (facts === undefined) return "unknown";
  return facts.machines
    .filter((fact) => fact.role === "worker" && mayHoldConfig(fact))
    .filter((fact) => listed.includes(fact.name) || machineNameFor(metadata.name, { kind: "address", address: fact.address }) === fact.name)
    .map((fact) => fact.name);
}
