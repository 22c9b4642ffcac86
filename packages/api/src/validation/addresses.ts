import type { Finding } from "./finding.ts";
import { canonicalAddress, deniedHost, parseHost, quote } from "./host.ts";
import type { HostOptions } from "./host.ts";
import { holdsAddress } from "./networks.ts";
import type { ClusterNetwork } from "./networks.ts";

/** An address with where it stands. */
export interface MachineAddress {
  /** Path of the field inside its object, for example `spec.metalSpec.machines[0].address`. Empty in an object that messages do not name. */
  readonly field: string;
  /** As written, or as the reference gave it. */
  readonly address: string;
  /** Object the field belongs to, for messages, for example `TalosWorker/demo`. Needed when several objects are checked together. */
  readonly object?: string;
}

/** What the addresses of a cluster's machines are checked against. */
export interface AddressOptions extends HostOptions {
  /** Networks of the cluster: no machine may be inside. Take them from `clusterNetworks` of the control plane. */
  readonly networks?: readonly ClusterNetwork[];
  /** Machines of other objects: compared with, but not reported on. */
  readonly others?: readonly MachineAddress[];
}

/** Places named for an address that is there twice or more: enough to find them, and bounded when a list repeats one a thousand times. */
const MAX_PLACES = 3;

/**
 * What is wrong with the addresses of machines: not understood, in a range no machine can have, inside the cluster's own networks,
 * or the same twice, also among `options.others`. Findings come in the order of the machines.
 */
export function validateAddresses(machines: readonly MachineAddress[], options: AddressOptions = {}): readonly Finding[] {
  const places = Map.groupBy([...machines, ...(options.others ?? [])], ({ address }) => canonicalAddress(address));
  return machines.flatMap((machine) => {
    const own = validateAddress(machine, options);
    const group = places.get(canonicalAddress(machine.address)) ?? [];
    if (group.length < 2) return own;
    const shown = group
      .slice(0, MAX_PLACES + 1)
      .filter((other) => other !== machine)
      .slice(0, MAX_PLACES);
    const unnamed = group.length - 1 - shown.length;
    const where = [...shown.map((other) => placeOf(other, machine)), ...(unnamed > 0 ? [`${unnamed} more places`] : [])].join(", ");
    return [
      ...own,
      {
        field: machine.field,
        message: `${quote(machine.address)} is also at ${where}`,
        remedy: "Give each machine its own address",
        reason: "DuplicateAddress" as const,
      },
    ];
  });
}

/** What is wrong with one address. To be asked again, with the IP address, about each answer of DNS. */
export function validateAddress({ field, address }: MachineAddress, options: AddressOptions = {}): readonly Finding[] {
  const host = parseHost(address);
  if (!("kind" in host)) return [{ field, ...host, reason: "InvalidAddress" }];
  const problem = deniedHost(host, options);
  if (problem !== undefined) return [{ field, ...problem, reason: "InvalidAddress" }];
  return (options.networks ?? [])
    .filter((network) => holdsAddress(network, host.text))
    .map((hit) => ({
      field,
      message: `${quote(address)} lies in ${hit.text}, the network of ${hit.use}: etcd would wait for an address outside it for ever`,
      remedy: hit.isDefault
        ? `Move the machine, or set ${hit.field} to a network apart from it: ${hit.text} is the default`
        : `Move the machine, or change ${hit.field} before the cluster is made`,
      reason: "AddressInClusterRange" as const,
    }));
}

function placeOf(other: MachineAddress, seenFrom: MachineAddress): string {
  if (other.object === undefined || other.object === seenFrom.object) return other.field;
  return other.field === "" ? other.object : `${other.object} ${other.field}`;
}
