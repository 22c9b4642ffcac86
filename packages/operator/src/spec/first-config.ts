import type { TalosControlPlane, TalosControlPlaneSpec } from "@talos-operator/api";
import type { Hazard } from "@talos-operator/talos";
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
  controlPlane: TalosControlPlane,
  facts: ClusterFacts | undefined,
): DeclaredMachine {
  if (facts === undefined) return machine;
  const { spec } = controlPlane;
  // One that does not tell its addresses may have no other.
  const told = spec === undefined || !needsAddresses(machine, spec) ? undefined : (look.addresses ?? [machine.address]);
  const hazards = hazardsOfFirst(machine, { ...look, addresses: told }, controlPlane, facts);
  return hazards.length === 0 ? machine : { ...machine, hazards };
}

/** The hazards that would hold back the first configuration of a machine that shows this of itself. */
export function hazardsOfFirst(
  machine: DeclaredMachine,
  { addresses, ...look }: SeenVersion & { readonly addresses?: readonly string[] | undefined },
  { spec, metadata }: TalosControlPlane,
  facts: ClusterFacts | undefined,
): readonly Hazard[] {
  if (spec === undefined) return [];
  const place = { reachedAt: machine.address, ...(addresses === undefined ? {} : { addresses }) };
  return firstHazards(inputOf(machine, look, { spec, name: metadata.name }, facts), place);
}

/**
 * Whether it matters which addresses a control plane has: kube-apiserver starts only where one is of the family of the first service network. Who is dialled at
 * such an address need not be asked.
 */
export function needsAddresses({ role, address, machineSpec }: DeclaredMachine, { serviceCIDR }: TalosControlPlaneSpec): boolean {
  if (role !== "controlplane") return false;
  const { base, configPatches = [], additionalConfig = [] } = machineSpec;
  const first = base?.serviceSubnets[0] ?? serviceCIDR?.[0] ?? DEFAULT_SERVICES;
  return isIPv6(first) !== isIPv6(address) || /"serviceSubnets"/.test(JSON.stringify([configPatches, additionalConfig]));
}

const DEFAULT_SERVICES = "10.96.0.0/12";

/** What is known by a name in DNS counts as IPv4, as most are. */
function isIPv6(text: string): boolean {
  return text.includes(":");
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
