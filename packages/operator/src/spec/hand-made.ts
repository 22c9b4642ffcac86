import { canonicalAddress, parseHost, quote } from "@talos-operator/api";
import type { MachineAddress, TalosMachine, TalosMachineSpec } from "@talos-operator/api";
import { configOf, withoutConfig } from "./declared.ts";
import type { AddressKnowledge } from "./declared.ts";
import type { AddressProblem, DeclaredMachine, MachineSettings } from "../model/machine.ts";

/** True for a TalosMachine that no pool made. */
export function isHandMade({ metadata }: TalosMachine): boolean {
  return !(metadata.ownerReferences ?? []).some((reference) => reference.controller === true);
}

/**
 * TalosMachines that a person made: they belong to the cluster that their reference names, join it, and leave it when they are deleted.
 *
 * One that contradicts itself stays on the list, with the reason: nothing is sent to it, and nobody takes it for removed.
 */
export function handMade(
  objects: readonly TalosMachine[],
  declared: readonly DeclaredMachine[],
  { check, config }: Pick<AddressKnowledge, "check" | "config"> = {},
): readonly DeclaredMachine[] {
  const names = new Set(declared.map((machine) => machine.name));
  return objects.flatMap((object) => {
    const { spec, metadata } = object;
    if (spec === undefined || names.has(metadata.name) || metadata.deletionTimestamp !== undefined || !isHandMade(object)) return [];
    const field = `TalosMachine/${metadata.name} spec.endpoint`;
    const kind = spec.controlPlaneRef?.name === undefined ? "TalosWorker" : "TalosControlPlane";
    const address: MachineAddress = { field, address: spec.endpoint, object: `TalosMachine/${metadata.name}` };
    const own = configOf(spec.configRef, config?.(`TalosMachine/${metadata.name}`));
    const problem = contradictionIn(spec, metadata.namespace) ?? check?.(address);
    return [
      {
        name: metadata.name,
        role: kind === "TalosControlPlane" ? "controlplane" : "worker",
        address: canonicalAddress(spec.endpoint),
        owner: { kind, name: (kind === "TalosWorker" ? spec.workerRef?.name : spec.controlPlaneRef?.name) ?? "" },
        field,
        isHandMade: true,
        version: spec.version,
        machineSpec: { ...settingsOf(spec), ...own.settings },
        ...(problem === undefined ? {} : { problem }),
        ...withoutConfig(problem === undefined ? {} : { problem }, own.problem),
      },
    ];
  });
}

/** The settings of the object, those at its top among them. */
function settingsOf({ machineSpec = {}, hostname, ips, installDisk }: TalosMachineSpec): MachineSettings {
  return {
    ...machineSpec,
    ...(installDisk === undefined ? {} : { installDisk }),
    ...(hostname === undefined ? {} : { hostname }),
    ...(ips === undefined || ips.length === 0 ? {} : { ips: ips.map((ip) => canonicalAddress(ip)) }),
  };
}

/** Where the object says two things at once. */
function contradictionIn(spec: TalosMachineSpec, namespace: string | undefined): AddressProblem | undefined {
  const { type, ips = [], installDisk, machineSpec, controlPlaneRef, workerRef, endpoint } = spec;
  const wrong = (what: string, remedy: string): AddressProblem => ({ reason: "InvalidConfig", message: `${what}. ${remedy}.` });
  if (controlPlaneRef?.name !== undefined && workerRef?.name !== undefined)
    return wrong("spec.controlPlaneRef and spec.workerRef are both set: a machine is one or the other", "Remove one of them");
  const role = controlPlaneRef?.name === undefined ? "worker" : "controlplane";
  const elsewhere = (controlPlaneRef ?? workerRef)?.namespace ?? "";
  if (elsewhere !== "" && elsewhere !== namespace)
    return wrong(
      `spec.${role === "worker" ? "workerRef" : "controlPlaneRef"}.namespace is ${quote(elsewhere)}, and a machine joins a cluster of its own namespace`,
      "Make the object there, or leave the namespace out",
    );
  if (type !== undefined && type !== role)
    return wrong(
      `spec.type is ${type}, and spec.${role === "worker" ? "workerRef" : "controlPlaneRef"} makes it a ${role}`,
      "Make them agree",
    );
  if (installDisk !== undefined && machineSpec?.installDisk !== undefined && machineSpec.installDisk !== installDisk)
    return wrong(
      `spec.installDisk is ${installDisk} and spec.machineSpec.installDisk ${machineSpec.installDisk}`,
      "Make them equal, or remove one",
    );
  const strange = ips.find((ip) => !isIp(ip));
  if (strange !== undefined) return wrong(`spec.ips holds ${quote(strange)}, which is no IP address`, "Correct it");
  if (ips.length > 0 && isIp(endpoint) && !ips.some((ip) => canonicalAddress(ip) === canonicalAddress(endpoint)))
    // Pools repeat the words, and have a spec.endpoint of their own.
    return wrong(`the endpoint ${quote(endpoint)} is not among spec.ips`, "Add it, or correct the endpoint");
  return undefined;
}

function isIp(text: string): boolean {
  const host = parseHost(text);
  return "kind" in host && host.kind === "ip";
}
