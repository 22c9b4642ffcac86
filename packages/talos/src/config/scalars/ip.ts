/** An address as a number with its family. IPv4 inside IPv6 (`::ffff:1.2.3.4`) stays IPv6, as in Talos. */
export interface Address {
  readonly family: 4 | 6;
  readonly value: bigint;
  /** Interface of a link-local IPv6 address, empty for none. */
  readonly zone: string;
}

/** A network: address and length, host bits kept. */
export interface Prefix {
  readonly address: Address;
  readonly length: number;
}

/** Reads an IPv4 or IPv6 address in its strict form (no leading zeros, no brackets); `undefined` for anything else. */
export function tryParseAddress(text: string): Address | undefined {
  return text.includes(":") ? parseIpv6(text) : parseIpv4(text);
}

/** Reads `10.0.0.0/8`; `undefined` for anything else. Zones are not allowed. */
export function tryParsePrefix(text: string): Prefix | undefined {
  const slash = text.lastIndexOf("/");
  const length = text.slice(slash + 1);
  if (slash < 0 || !/^(?:0|[1-9]\d{0,2})$/.test(length)) return undefined;
  const address = tryParseAddress(text.slice(0, slash));
  if (address === undefined || address.zone !== "" || Number(length) > (address.family === 4 ? 32 : 128)) return undefined;
  return { address, length: Number(length) };
}

/** The canonical text of an address: lower case, the longest run of zeros as `::`. */
export function formatAddress({ family, value, zone }: Address): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 0xffn)).join(".");
  const suffix = zone === "" ? "" : `%${zone}`;
  if (value >> 32n === 0xffffn) return `::ffff:${formatAddress({ family: 4, value: value & 0xffff_ffffn, zone: "" })}${suffix}`;
  const groups = Array.from({ length: 8 }, (_, index) => Number((value >> BigInt(112 - 16 * index)) & 0xffffn));
  const run = longestRunOfZeros(groups);
  const text = (from: number, to: number): string =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(":");
  return `${run === undefined ? text(0, 8) : `${text(0, run.start)}::${text(run.end, 8)}`}${suffix}`;
}

/** The canonical text of a network; host bits stay. */
export function formatPrefix({ address, length }: Prefix): string {
  return `${formatAddress(address)}/${length}`;
}

/** True when the network holds the address. */
function prefixContains({ address, length }: Prefix, other: Address): boolean {
  if (address.family !== other.family || other.zone !== "") return false;
  const shift = BigInt((address.family === 4 ? 32 : 128) - length);
  return address.value >> shift === other.value >> shift;
}

/**
 * Whether `cidr` holds the address `ip`. False also when either is not what it should be: check with {@link tryParsePrefix} where that matters.
 */
export function cidrContains(cidr: string, ip: string): boolean {
  const prefix = tryParsePrefix(cidr);
  const address = tryParseAddress(ip);
  return prefix !== undefined && address !== undefined && prefixContains(prefix, address);
}

/** Whether two networks share an address. False when either is not a network. */
export function cidrsOverlap(a: string, b: string): boolean {
  const left = tryParsePrefix(a);
  const right = tryParsePrefix(b);
  if (left === undefined || right === undefined) return false;
  return left.length <= right.length ? prefixContains(left, right.address) : prefixContains(right, left.address);
}

function parseIpv4(text: string): Address | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)) return undefined;
  return { family: 4, value: parts.reduce((sum, part) => (sum << 8n) | BigInt(part), 0n), zone: "" };
}

function parseIpv6(text: string): Address | undefined {
  const percent = text.indexOf("%");
  const zone = percent < 0 ? "" : text.slice(percent + 1);
  if (percent >= 0 && zone === "") return undefined;
  let body = percent < 0 ? text : text.slice(0, percent);
  const embedded = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(body);
  if (embedded !== null) {
    const inner = parseIpv4(embedded[2] as string);
    if (inner === undefined) return undefined;
    body = `${embedded[1]}${(inner.value >> 16n).toString(16)}:${(inner.value & 0xffffn).toString(16)}`;
  }
  const halves = body.split("::");
  if (halves.length > 2) return undefined;
  const groupsOf = (half: string | undefined): readonly string[] => (half === undefined || half === "" ? [] : half.split(":"));
  const head = groupsOf(halves[0]);
  const tail = groupsOf(halves[1]);
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => "0"), ...tail];
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  return { family: 6, value: groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n), zone };
}

function longestRunOfZeros(groups: readonly number[]): { start: number; end: number } | undefined {
  let best: { start: number; end: number } | undefined;
  for (let start = 0; start < groups.length; start++) {
    let end = start;
    while (groups[end] === 0) end++;
    if (end - start >= 2 && (best === undefined || end - start > best.end - best.start)) best = { start, end };
    if (end > start) start = end;
  }
  return best;
}
