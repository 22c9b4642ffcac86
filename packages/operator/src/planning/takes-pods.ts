import { describeMachineConfig } from "@talos-operator/talos";
import { noSecrets } from "../config/no-secrets.ts";
import { renderMachineConfig } from "../config/render.ts";
import { factsOf, machineFact } from "../record/facts.ts";
import { asMade } from "../spec/fixed-properties.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";

/** Whether pods that tolerate nothing may run on a machine, by its settings. */
export function takesPods(seen: Observed, { declared, look }: Pick<SeenMachine, "declared" | "look">): boolean {
  const { role, machineSpec, version, address } = declared;
  const plain = role === "worker" || machineSpec.allowSchedulingOnControlPlanes === true;
  const facts = factsOf(seen);
  const { spec, metadata } = seen.controlPlane;
  // Thousands of machines are not rendered for what none of their settings says.
  if (facts === undefined || spec === undefined || !/taints|allowScheduling/i.test(JSON.stringify(machineSpec))) return plain;
  const fact = machineFact(facts, declared.name);
  try {
    const text = renderMachineConfig({
      role,
      clusterName: metadata.name,
      endpoint: facts.endpoint,
      controlPlane: asMade(spec, facts),
      machineSpec,
      version,
      contract: fact?.contract,
      readBy: undefined,
      platform: look.kind === "running" ? look.platform : undefined,
      installDisk: fact?.installDisk,
      addresses: [address],
      secrets: noSecrets,
    });
    const { allowSchedulingOnControlPlanes, nodeTaints } = describeMachineConfig(text);
    const taints = Object.entries(nodeTaints).filter(([key]) => role === "worker" || key !== CONTROL_PLANE);
    const isFree = taints.every(([, taint]) => taint.endsWith("PreferNoSchedule"));
    return isFree && (role === "worker" || allowSchedulingOnControlPlanes);
  } catch {
    // What cannot be rendered stands in the problems of the spec.
    return plain;
  }
}

const CONTROL_PLANE = "node-role.kubernetes.io/control-plane";
