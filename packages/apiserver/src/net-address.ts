// `node:net` is reserved for adapters (it opens sockets), so addresses are parsed here.

/** True for an IPv4 address in dotted decimal without leading zeros. */
export function isIPv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/u.test(part) && Number(part) <= 255);
}

/** True for an IPv6 address without zone. */
export function isIPv6(text: string): boolean {
  return parseIPv6(text) !== undefined;
}

/** True for an address of either family. */
export function isIP(text: string): boolean {
  return isIPv4(text) || isIPv6(text);
}

/** The address as a number with its width, or undefined. IPv4 has 32 bits, IPv6 128. */
export function parseIP(text: string): { readonly bits: 32 | 128; readonly value: bigint } | undefined {
  if (isIPv4(text)) return { bits: 32, value: text.split(".").reduce((sum, part) => sum * 256n + BigInt(part), 0n) };
  const groups = parseIPv6(text);
  return groups === undefined ? undefined : { bits: 128, value: groups.reduce((sum, group) => sum * 65_536n + BigInt(group), 0n) };
}

function parseIPv6(text: string): number[] | undefined {
  if (!/^[0-9a-fA-F:.]+$/u.test(text)) return undefined;
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half, index) => parseGroups(half, index === halves.length - 1));
  if (head === undefined) return undefined;
  if (halves.length === 1) return head.length === 8 ? head : undefined;
  if (tail === undefined || head.length + tail.length > 7) return undefined;
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

function parseGroups(text: string, isLast: boolean): number[] | undefined {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    if (isLast && index === parts.length - 1 && part.includes(".")) {
      if (!isIPv4(part)) return undefined;
      const [a = 0, b = 0, c = 0, d = 0] = part.split(".").map(Number);
      groups.push(a * 256 + b, c * 256 + d);
    } else if (/^[0-9a-fA-F]{1,4}$/u.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}
