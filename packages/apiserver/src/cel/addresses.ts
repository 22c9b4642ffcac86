import { parseIP } from "../net-address.ts";

/** An address value of CEL's `ip()`. */
export class IpAddress {
  readonly bits: 32 | 128;
  readonly value: bigint;

  constructor(bits: 32 | 128, value: bigint) {
    this.bits = bits;
    this.value = value;
  }

  /** True when the address lies in the block `prefix/length` of the same family. */
  isIn(prefix: string, length: number): boolean {
    const block = parseIP(prefix);
    return (
      block !== undefined &&
      block.bits === this.bits &&
      this.value >> BigInt(this.bits - length) === block.value >> BigInt(this.bits - length)
    );
  }

  toString(): string {
    if (this.bits === 32) return [24n, 16n, 8n, 0n].map((shift) => String((this.value >> shift) & 255n)).join(".");
    return printIPv6(this.value);
  }
}

/** A block value of CEL's `cidr()`. */
export class CidrBlock {
  readonly address: IpAddress;
  readonly length: number;

  constructor(address: IpAddress, length: number) {
    this.address = address;
    this.length = length;
  }

  contains(other: IpAddress): boolean {
    const shift = BigInt(this.address.bits - this.length);
    return other.bits === this.address.bits && other.value >> shift === this.address.value >> shift;
  }

  masked(): CidrBlock {
    const shift = BigInt(this.address.bits - this.length);
    return new CidrBlock(new IpAddress(this.address.bits, (this.address.value >> shift) << shift), this.length);
  }

  toString(): string {
    return `${this.address.toString()}/${this.length}`;
  }
}

/** Parses an address; IPv4-mapped IPv6 and zones are refused, as Kubernetes' CEL does. */
export function tryParseAddress(text: string): IpAddress | undefined {
  const parsed = parseIP(text);
  if (parsed === undefined || (parsed.bits === 128 && parsed.value >> 32n === 0xffffn)) return undefined;
  return new IpAddress(parsed.bits, parsed.value);
}

/** Why a text is no address, in the words of Go's `netip.ParseAddr` for what looks like none. */
export function addressError(text: string): string {
  const quoted = JSON.stringify(text);
  return `IP Address ${quoted} parse error during conversion from string: ParseAddr(${quoted}): ${addressProblem(text)}`;
}

function addressProblem(text: string): string {
  if (!/^[0-9]+(\.[0-9]+)*$/u.test(text) || !text.includes(".")) return "unable to parse IP";
  const fields = text.split(".");
  const bad = fields.find((field) => (field.length > 1 && field.startsWith("0")) || Number(field) > 255);
  if (bad !== undefined) return bad.startsWith("0") ? "IPv4 field has octet with leading zero" : "IPv4 field has value >255";
  return fields.length < 4 ? "IPv4 address too short" : "IPv4 address too long";
}

/** Parses `address/length`. */
export function tryParseBlock(text: string): CidrBlock | undefined {
  const parts = /^(.+)\/(0|[1-9]\d{0,2})$/u.exec(text);
  const address = parts === null ? undefined : tryParseAddress(parts[1] ?? "");
  const length = Number(parts?.[2]);
  return address === undefined || length > address.bits ? undefined : new CidrBlock(address, length);
}

/** Why a text is no block, in the words of Go's `netip.ParsePrefix`. */
export function blockError(text: string): string {
  const quoted = JSON.stringify(text);
  const said = `network address parse error during conversion from string: netip.ParsePrefix(${quoted}):`;
  const slash = text.lastIndexOf("/");
  if (slash === -1) return `${said} no '/'`;
  const [address, length] = [text.slice(0, slash), text.slice(slash + 1)];
  const parsed = parseIP(address);
  if (parsed === undefined) return `${said} ParseAddr(${JSON.stringify(address)}): unable to parse IP`;
  if (!/^(0|[1-9]\d*)$/u.test(length)) return `${said} bad bits after slash: ${JSON.stringify(length)}`;
  return Number(length) > parsed.bits ? `${said} prefix length out of range` : quoted;
}

function printIPv6(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) => Number((value >> BigInt(112 - 16 * index)) & 0xffffn));
  let [from, length] = [-1, 1];
  for (let start = 0; start < 8; start++) {
    let run = 0;
    while (start + run < 8 && groups[start + run] === 0) run++;
    if (run > length) [from, length] = [start, run];
  }
  const hex = groups.map((group) => group.toString(16));
  return from < 0 ? hex.join(":") : `${hex.slice(0, from).join(":")}::${hex.slice(from + length).join(":")}`;
}
