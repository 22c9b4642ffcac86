import type { TalosControlPlane, TalosControlPlaneSpec } from "@talos-operator/api";
import { firstHazards } from "../config/hazards.ts";
import type { RenderInput } from "../config/render.ts";
import { rotatesCertificates } from "../config/rotates-certificates.ts";
import { machineContract } from "./pool-contract.ts";
import type { InMaintenance, SeenVersion } from "../model/look.ts";
import type { DeclaredMachine, MachineName } from "../model/machine.ts";
import type { SeenMachine } from "../model/observation.ts";
import type { ClusterFacts } from "../model/record.ts";

/** The machine, with the hazards that hold back its first configuration, where there are some. */
export function withHazards(
  machine: DeclaredMachine,
  look: InMaintenance,
  { spec, metadata }: TalosControlPlane,
  facts: ClusterFacts | undefined,
): DeclaredMachine {
  if (spec === undefined || facts === undefined) return machine;
  const hazards = firstHazards(inputOf(machine, look, { spec, name: metadata.name }, facts), machine.address);
  return hazards.length === 0 ? machine : { ...machine, hazards };
}

/** Names of the machines whose kubelets ask the cluster for the certificates that they serve with. */
export function rotatingMachines(
  machines: readonly SeenMachine[],
  { spec, metadata }: TalosControlPlane,
  facts: ClusterFacts | undefined,
): ReadonlySet<MachineName> {
  if (spec === undefined) return new Set();
  const cluster = { spec, name: metadata.name };
  const rotates = ({ declared, look }: SeenMachine): boolean => {
    const runs = look.kind === "running" ? look : { version: declared.version, platform: undefined };
    return declared.isConfigUnknown !== true && rotatesCertificates(inputOf(declared, runs, cluster, facts));
  };
  return new Set(machines.filter(rotates).map(({ declared }) => declared.name));
}

function inputOf(
  declared: DeclaredMachine,
  { version: readBy, platform }: SeenVersion,
  { spec, name }: { readonly spec: TalosControlPlaneSpec; readonly name: string },
  facts: ClusterFacts | undefined,
): Omit<RenderInput, "secrets"> {
  const { role, machineSpec, version, address } = declared;
  return {
    role,
    clusterName: name,
    endpoint: facts?.endpoint ?? spec.endpoint ?? `https://${address.includes(":") ? `[${address}]` : address}:6443`,
    controlPlane: spec,
    machineSpec,
    version,
    contract: machineContract(facts, declared, version, readBy),
    readBy,
    platform,
    installDisk: "/dev/sda",
    addresses: [address],
  };
}
