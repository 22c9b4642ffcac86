import { isIP } from "node:net";

/** The four or sixteen bytes of an IP address. @throws TypeError for anything else */
export function ipBytes(address: string): Buffer {
  // The zone of a link-local address means something on one machine only.
  switch (address.includes("%") ? 0 : isIP(address)) {
    case 4:
      return Buffer.from(address.split(".").map(Number));
    case 6:
      return ipv6Bytes(address);
    default:
      throw new TypeError(`"${address}" is no IP address`);
  }
}

/** The URL parser writes every spelling as groups of hexadecimal digits, of which it leaves out one row of zeros. */
function ipv6Bytes(address: string): Buffer {
  const [before = "", after] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const groupsOf = (text: string): readonly string[] => (text === "" ? [] : text.split(":"));
  const [first, last] = [groupsOf(before), groupsOf(after ?? "")];
  const groups = [...first, ...Array.from({ length: 8 - first.length - last.length }, () => "0"), ...last];
  return Buffer.from(groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]));
}
