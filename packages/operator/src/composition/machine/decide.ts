import { findCondition, isConditionTrue } from "@talos-operator/api";
import type { TalosMachine, VitistackMachine } from "@talos-operator/api";
import { machineAnnotations } from "../kubernetescluster/keys.ts";

import { nodeAddressOf } from "./node-address.ts";

/** Annotations that are to change; `null` takes one away. */
export type AnnotationChanges = Readonly<Record<string, string | null>>;

/**
 * What is to be written on a Machine: the address it is called by, and whether Talos runs from its own disk. Pure; the status of a Machine is its
 * provider's and is only read.
 *
 * `os-installed` is said of a machine that answered with a certificate of its cluster and runs, never of one that was only sent a configuration (V8). It
 * stays until the machine was wiped.
 */
export function decideMachineAnnotations(machine: VitistackMachine, talosMachine: TalosMachine | undefined): AnnotationChanges {
  const has = machine.metadata.annotations ?? {};
  const address = nodeAddressOf(machine.status, has[machineAnnotations.nodeAddress]) ?? null;
  const installed = isInstalled(talosMachine) ? "true" : isWiped(talosMachine) ? null : (has[machineAnnotations.osInstalled] ?? null);
  const wanted = { [machineAnnotations.nodeAddress]: address, [machineAnnotations.osInstalled]: installed };
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => (has[key] ?? null) !== value));
}

function isInstalled(talosMachine: TalosMachine | undefined): boolean {
  const { state, conditions } = talosMachine?.status ?? {};
  return state === "Available" && isConditionTrue(conditions, "Reachable") && findCondition(conditions, "ConfigApplied")?.status === "True";
}

/** Nothing of the cluster is on it. A TalosMachine that is not there says nothing: somebody deleted it, or a list lacks it. */
function isWiped(talosMachine: TalosMachine | undefined): boolean {
  return talosMachine?.status?.state === "Pending";
}
