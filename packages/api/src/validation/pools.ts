import type { TalosControlPlaneSpec } from "../kinds/talos-control-plane.ts";
import type { TalosWorkerSpec } from "../kinds/talos-worker.ts";
import { validateAddresses } from "./addresses.ts";
import type { MachineAddress } from "./addresses.ts";
import { parseEndpoint } from "./endpoint.ts";
import type { Finding } from "./finding.ts";
import { parseHost } from "./host.ts";
import type { HostOptions } from "./host.ts";
import { clusterNetworks, holdsAddress, validateNetworks } from "./networks.ts";
import type { NetworkSpec } from "./networks.ts";

/** Most control planes a cluster may have: etcd gains nothing from more voters and each write waits for a majority. */
export const MAX_CONTROL_PLANES = 7;

/** What a pool's spec is checked against beyond itself. */
export interface PoolOptions extends HostOptions {
  /** Machines of the cluster's other objects, from {@link machineAddresses}: none may have an address of this pool. */
  readonly others?: readonly MachineAddress[];
  /** What the rendered config names, when patches change it. Default: `podCIDR` and `serviceCIDR` of the control plane. */
  readonly networks?: NetworkSpec;
}

/**
 * What is wrong with a control plane that its schema accepts: mode, number of machines, endpoint, networks, domain, addresses.
 * Whether Talos and Kubernetes versions go together is not asked here.
 *
 */
export function validateControlPlaneSpec(spec: TalosControlPlaneSpec, options: PoolOptions = {}): readonly Finding[] {
  if (spec.mode !== "metal") return [modeFinding(spec.mode)];
  const { networks = spec, ...hostOptions } = options;
  return [
    ...validateReplicas(spec.metalSpec?.machines?.length ?? 0),
    ...validateEndpoint(spec, networks, hostOptions),
    ...validateNetworks(networks),
    ...validateClusterDomain(spec.clusterDomain),
    ...validateAddresses(machineAddresses(spec), { ...hostOptions, networks: clusterNetworks(networks) }),
  ];
}

/**
 * What is wrong with a worker pool that its schema accepts: mode, control plane, addresses.
 *
 * @param controlPlane spec of the control plane it joins, once known: its networks and addresses are then off limits
 */
export function validateWorkerSpec(
  spec: TalosWorkerSpec,
  options: PoolOptions & { readonly controlPlane?: NamedSpec<TalosControlPlaneSpec> } = {},
): readonly Finding[] {
  if (spec.mode !== "metal") return [modeFinding(spec.mode)];
  const { controlPlane, others = [], networks: rendered, ...hostOptions } = options;
  const theirs = controlPlane === undefined ? [] : machineAddresses(controlPlane.spec, `TalosControlPlane/${controlPlane.name}`);
  const networkSpec = rendered ?? controlPlane?.spec;
  const networks = networkSpec === undefined ? [] : clusterNetworks(networkSpec);
  return [
    ...validateControlPlaneRef(spec),
    ...validateAddresses(machineAddresses(spec), { ...hostOptions, networks, others: [...theirs, ...others] }),
  ];
}

/** A spec with the name of its object. */
export interface NamedSpec<S> {
  readonly name: string;
  readonly spec: S;
}

/**
 * The addresses that a pool's spec names, with their places. References are left out: what they give is known later.
 *
 * @param object the pool as `Kind/name`, when addresses of several objects meet
 */
export function machineAddresses(spec: TalosControlPlaneSpec | TalosWorkerSpec, object?: string): readonly MachineAddress[] {
  return (spec.metalSpec?.machines ?? []).flatMap(({ address }, index) =>
    address === undefined ? [] : [{ field: `spec.metalSpec.machines[${index}].address`, address, ...(object !== undefined && { object }) }],
  );
}

function validateReplicas(count: number): Finding[] {
  const field = "spec.metalSpec.machines";
  const wrong = (message: string, remedy: string): Finding[] => [{ field, message, remedy, reason: "UnsupportedReplicas" }];
  if (count === 0) return wrong("it lists no control plane", "List 1, 3, 5 or 7 machines");
  if (count > MAX_CONTROL_PLANES) return wrong(`${count} control planes are more than ${MAX_CONTROL_PLANES}`, "List 1, 3, 5 or 7 machines");
  if (count % 2 === 1) return [];
  const lost = count === 2 ? "with one lost, etcd stops" : `etcd survives no more losses than with ${count - 1}`;
  return wrong(`${count} control planes are an even number: ${lost}`, `List ${count - 1} or ${count + 1} machines`);
}

function validateEndpoint(spec: TalosControlPlaneSpec, networks: NetworkSpec, options: HostOptions): readonly Finding[] {
  // The default is the first machine's address, which is checked as such.
  if (spec.endpoint === undefined) return [];
  const endpoint = parseEndpoint(spec.endpoint, "spec.endpoint", options);
  if (!("host" in endpoint)) return [endpoint];
  const { host } = endpoint;
  return clusterNetworks(networks)
    .filter((network) => holdsAddress(network, host))
    .map((hit) => ({
      field: "spec.endpoint",
      message: `${host} lies in ${hit.text}, the network of ${hit.use}`,
      remedy: `Use an address of the machines' network, or another ${hit.field}`,
      reason: "AddressInClusterRange" as const,
    }));
}

function validateClusterDomain(domain: string | undefined): readonly Finding[] {
  const host = domain === undefined ? undefined : parseHost(domain);
  return host === undefined || "kind" in host ? [] : [{ field: "spec.clusterDomain", ...host, reason: "InvalidNetwork" }];
}

function validateControlPlaneRef(spec: TalosWorkerSpec): Finding[] {
  if ((spec.controlPlaneRef?.name ?? "") !== "") return [];
  const remedy = "Write the name of a TalosControlPlane in the same namespace";
  return [{ field: "spec.controlPlaneRef.name", message: "it names no control plane to join", remedy, reason: "ControlPlaneNotFound" }];
}

function modeFinding(mode: string): Finding {
  return { field: "spec.mode", message: `mode ${mode} is not supported yet`, remedy: "Use metal", reason: "ModeNotSupported" };
}
