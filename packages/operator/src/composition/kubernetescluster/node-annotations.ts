import type { ClusterGroup, ClusterModel } from "@talos-operator/api";

const PREFIX = "vitistack.io/";

/**
 * Annotations of the nodes of a group: those that it asks for, and with an inventory what existing tools look for there (A096). Pure.
 *
 * Country and availability zone are the first and, of three or more, the last part of the data centre's name.
 */
export function nodeAnnotations(model: ClusterModel, group: ClusterGroup): Readonly<Record<string, string>> {
  const { inventory, clusterId, name } = model;
  if (inventory.clusterUid === undefined) return group.annotations;
  const parts = (inventory.datacenter ?? "").split("-");
  const words = {
    clusterid: clusterId,
    clustername: name,
    clusterproject: inventory.project,
    clusterworkspace: inventory.workspace,
    environment: inventory.environment,
    region: inventory.region,
    zone: inventory.zone,
    workorder: inventory.workorder,
    datacenter: inventory.datacenter,
    country: parts[0],
    az: parts.length >= 3 ? parts.at(-1) : undefined,
    kubernetesprovider: "talos",
    machineprovider: group.machineSpec.provider,
    machineclass: group.machineSpec.machineClass,
    nodepool: group.role === "worker" ? group.name : undefined,
  };
  const told = Object.entries(words).flatMap(([key, value]) => (value === undefined || value === "" ? [] : [[`${PREFIX}${key}`, value]]));
  return { ...group.annotations, ...(Object.fromEntries(told) as Readonly<Record<string, string>>) };
}
