import { canonicalAddress, controllerOf, derivedName } from "@talos-operator/api";
import type { TalosControlPlane, VitistackMachine } from "@talos-operator/api";
import type { Store } from "@talos-operator/kube-runtime";
import { compositionFinalizers, machineAnnotations } from "./keys.ts";
import { groupOfMachine } from "./machine-manifest.ts";
import { talosMachineName } from "./pools.ts";
import type { MachinePlace } from "../../model/record.ts";

/**
 * Where the cluster of a control plane was installed, as the Machines of the KubernetesCluster say that made it. What a Machine says stays while its TalosMachine and
 * the ClusterRecord are gone.
 */
export function installedOn({ metadata }: TalosControlPlane, machines: Store<VitistackMachine>): readonly MachinePlace[] {
  const owner = controllerOf(metadata);
  if (owner?.kind !== "KubernetesCluster") return [];
  return machines
    .byIndex("controller", owner.uid)
    .filter((machine) => machine.metadata.namespace === metadata.namespace)
    .flatMap((machine) => installedPlace(metadata.name, machine) ?? []);
}

/**
 * Where a Machine is that is held for a cluster and was installed, and as what; `undefined` = it was not, or nobody can say what it was.
 *
 * @param controlPlane name of the TalosControlPlane
 */
export function installedPlace(controlPlane: string, machine: VitistackMachine): MachinePlace | undefined {
  const { annotations = {}, finalizers = [], name } = machine.metadata;
  const group = groupOfMachine(machine);
  const isInstalled = annotations[machineAnnotations.osInstalled] === "true" && finalizers.includes(compositionFinalizers.machineInUse);
  if (!isInstalled || group === undefined) return undefined;
  const address = canonicalAddress(annotations[machineAnnotations.nodeAddress] ?? "");
  if (group.role === "controlplane") return { name: talosMachineName(controlPlane, name), role: group.role, address };
  const pool = derivedName(controlPlane, group.name);
  return { name: talosMachineName(pool, name), role: group.role, pool, address };
}
