/** An IP address as a number. IPv4 addresses mapped into IPv6 stay IPv6 here. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly value: bigint;
}

/** An IP network: every address whose first `prefix` bits are those of `base`. */
export interface IpNetwork {
  readonly family: 4 | 6;
  /** First address; bits beyond the prefix are zero. */
  readonly base: bigint;
  readonly prefix: number;
}

/**
 * Reads an IP address in its usual form, or gives `undefined`.
 *
 * IPv4 is four decimal numbers without leading zeros and nothing else: the forms that some resolvers also read
 * (`0x7f.1`, `2130706433`, `010.0.0.1`) mean different machines to different programs. No zone, no port, no brackets.
 *
 * @see RFC 4291 section 2.2, RFC 6943 section 3.1.1
 */
export function tryParseIp(text: string): IpAddress | undefined {
  if (kept.has(text)) return kept.get(text);
  const ip = parseIp(text);
  // Nobody's long nonsense is kept.
  if (text.length > LONGEST_KEPT) return ip;
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(text, ip);
  return ip;
}

/** Texts that were read last: every pass asks for the same addresses again. */
const MOST_KEPT = 20_000;
const LONGEST_KEPT = 45;
const kept = new Map<string, IpAddress | undefined>();

function parseIp(text: string): IpAddress | undefined {
  const four = tryParseIpv4(text);
  if (four !== undefined) return { family: 4, value: four };
  const six = tryParseIpv6(text);
  return six === undefined ? undefined : { family: 6, value: six };
}

/** Reads `address/prefix`; bits beyond the prefix are dropped, as Kubernetes does. `undefined` when it is no network. */
export function tryParseNetwork(text: string): IpNetwork | undefined {
  const [addressText = "", prefixText = "", ...rest] = text.split("/");
  const address = tryParseIp(addressText);
  if (address === undefined || rest.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(prefixText)) return undefined;
  const prefix = Number(prefixText);
  const bits = bitsOf(address.family);
  if (prefix > bits) return undefined;
  const hostBits = BigInt(bits - prefix);
  return { family: address.family, prefix, base: (address.value >> hostBits) << hostBits };
}

/** True when the address lies in the network. Families never mix. */
export function isInNetwork(network: IpNetwork, address: IpAddress): boolean {
  if (network.family !== address.family) return false;
  const hostBits = BigInt(bitsOf(network.family) - network.prefix);
  return address.value >> hostBits === network.base >> hostBits;
}

/** True when the two networks share an address. */
export function doNetworksOverlap(a: IpNetwork, b: IpNetwork): boolean {
  const [wide, narrow] = a.prefix <= b.prefix ? [a, b] : [b, a];
  return isInNetwork(wide, { family: narrow.family, value: narrow.base });
}

/** The one spelling of an address: dotted decimal, or RFC 5952 for IPv6. */
export function printIp({ family, value }: IpAddress): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => Number((value >> BigInt(16 * (7 - index))) & 0xffffn));
  const { start, length } = longestZeroRun(groups);
  const hex = (part: readonly number[]) => part.map((group) => group.toString(16)).join(":");
  return length < 2 ? hex(groups) : `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`;
}

/** The IPv4 address inside `::ffff:a.b.c.d`, else `undefined`. */
export function mappedIpv4({ family, value }: IpAddress): IpAddress | undefined {
  return family === 6 && value >> 32n === 0xffffn ? { family: 4, value: value & 0xffffffffn } : undefined;
}

function tryParseIpv4(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9][0-9]{0,2})$/.test(part) && Number(part) <= 255)) return undefined;
  return parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

function tryParseIpv6(text: string): bigint | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head = [], tail = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const groups: number[] = [];
  const parts = [...head, ...tail];
  let fillAt = -1;
  for (const [index, part] of parts.entries()) {
    if (halves.length === 2 && index === head.length) fillAt = groups.length;
    const four = index === parts.length - 1 && text.endsWith(part) ? tryParseIpv4(part) : undefined;
    if (four !== undefined) groups.push(Number(four >> 16n), Number(four & 0xffffn));
    else if (/^[0-9A-Fa-f]{1,4}$/.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  if (halves.length === 2) {
    if (groups.length > 7) return undefined;
    groups.splice(fillAt === -1 ? groups.length : fillAt, 0, ...Array.from({ length: 8 - groups.length }, () => 0));
  }
  return groups.length === 8 ? groups.reduce((value, group) => (value << 16n) | BigInt(group), 0n) : undefined;
}

function longestZeroRun(groups: readonly number[]): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (const [index, group] of groups.entries()) {
    if (group !== 0) start = index + 1;
    else if (index + 1 - start > best.length) best = { start, length: index + 1 - start };
  }
  return best;
}

function bitsOf(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}
