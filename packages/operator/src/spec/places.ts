import { canonicalAddress, machineAddresses, parseEndpoint } from "@talos-operator/api";
import type { MachineAddress, TalosControlPlane, TalosWorker } from "@talos-operator/api";

/** Addresses of a pool with the object they stand in. */
export function addressesOf(pool: TalosControlPlane | TalosWorker): readonly MachineAddress[] {
  return pool.spec === undefined ? [] : machineAddresses(pool.spec, `${pool.kind}/${pool.metadata.name}`);
}

/** The same of a pool of another cluster, as messages of `namespace` may have them: of a pool of another namespace nothing is named but its kind. */
export function addressesElsewhere(pool: TalosControlPlane | TalosWorker, namespace: string | undefined): readonly MachineAddress[] {
  if (pool.spec === undefined) return [];
  const addresses = machineAddresses(pool.spec, nameFor(namespace, pool));
  return isIn(namespace, pool) ? addresses : addresses.map((one) => ({ ...one, field: "" }));
}

/** An object as messages name it. */
interface Named {
  readonly kind: string;
  readonly metadata: { readonly namespace?: string; readonly name: string };
}

/** How messages of `namespace` name an object: its readers may have no right to read other namespaces. */
export function nameFor(namespace: string | undefined, object: Named): string {
  return isIn(namespace, object) ? fullName(object) : `a ${object.kind} in another namespace`;
}

/** Whether an object is in the namespace whose messages are written. */
export function isIn(namespace: string | undefined, { metadata }: Named): boolean {
  return (metadata.namespace ?? "") === (namespace ?? "");
}

/** `TalosWorker namespace/name`, for messages. */
export function fullName({ kind, metadata }: Named): string {
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
