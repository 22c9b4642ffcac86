import { canonicalAddress, machineAddresses, parseEndpoint } from "@talos-operator/api";
import type { MachineAddress, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";

/** Addresses of a pool with the object they stand in. */
export function addressesOf(pool: TalosControlPlane | TalosWorker): readonly MachineAddress[] {
  return pool.spec === undefined ? [] : machineAddresses(pool.spec, `${pool.kind}/${pool.metadata.name}`);
}

/** The same of a pool of another cluster, which may be in another namespace. */
export function addressesElsewhere(pool: TalosControlPlane | TalosWorker): readonly MachineAddress[] {
  return pool.spec === undefined ? [] : machineAddresses(pool.spec, fullName(pool));
}

/** `TalosWorker namespace/name`, for messages. */
export function fullName({ kind, metadata }: TalosControlPlane | TalosWorker | TalosMachine): string {
  return `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
}

/** Where the Kubernetes API of a cluster is to be found, in one spelling, for finding clusters that name the same place. */
export function endpointPlaces({ spec }: TalosControlPlane): readonly string[] {
  const endpoint = spec?.endpoint === undefined ? undefined : parseEndpoint(spec.endpoint);
  return endpoint === undefined || !("host" in endpoint) ? [] : [JSON.stringify([endpoint.host, endpoint.port])];
}

/** The addresses of a pool in their one spelling, for finding pools that share one. */
export function canonicalAddressesOf(pool: TalosControlPlane | TalosWorker): readonly string[] {
  const known = canonicalAddresses.get(pool);
  if (known !== undefined) return known;
  const addresses = addressesOf(pool).map(({ address }) => canonicalAddress(address));
  canonicalAddresses.set(pool, addresses);
  return addresses;
}

const canonicalAddresses = new WeakMap<TalosControlPlane | TalosWorker, readonly string[]>();
