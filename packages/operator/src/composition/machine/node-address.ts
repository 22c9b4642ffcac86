import { canonicalAddress, parseHost } from "@talos-operator/api";

/** What a provider says of the addresses of a machine, in any of the places where providers write them. */
export interface AddressStatus {
  readonly publicIPAddresses?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly ipv6Addresses?: readonly string[];
  readonly privateIPAddresses?: readonly string[];
  readonly networkInterfaces?: readonly { readonly ipAddresses?: readonly string[]; readonly ipv6Addresses?: readonly string[] }[];
}

/**
 * The address under which a machine is called: the one it has, as long as the provider names it anywhere, else the first IPv4 and then the first IPv6
 * address, looked for first where existing operators look. A provider that changes the order, or adds addresses, changes nothing. Pure.
 *
 * @returns `undefined` while there is none
 */
export function nodeAddressOf(status: AddressStatus | undefined, current: string | undefined): string | undefined {
  const all = addressesIn(status);
  if (current !== undefined && all.includes(current)) return current;
  return all.find((address) => !address.includes(":")) ?? all[0];
}

/** Every usable IP address, in one spelling, in order of preference. Link-local ones lead nowhere from here, and are left out. */
function addressesIn(status: AddressStatus | undefined): readonly string[] {
  const lists = [
    status?.publicIPAddresses,
    status?.ipAddresses,
    status?.privateIPAddresses,
    status?.ipv6Addresses,
    ...(status?.networkInterfaces ?? []).flatMap(({ ipAddresses, ipv6Addresses }) => [ipAddresses, ipv6Addresses]),
  ];
  const found = lists.flatMap((list) => (Array.isArray(list) ? list : [])).flatMap((text: unknown) => usable(text));
  return [...new Set(found)];
}

function usable(text: unknown): readonly string[] {
  if (typeof text !== "string") return [];
  // Some providers write the prefix length with it.
  const [bare = ""] = text.trim().split("/", 1);
  const host = parseHost(bare);
  if (!("kind" in host) || host.kind !== "ip") return [];
  return /^(169\.254\.|fe[89ab][0-9a-f]:)/i.test(host.text) ? [] : [canonicalAddress(host.text)];
}
