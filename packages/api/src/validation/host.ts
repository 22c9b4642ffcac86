import { isInNetwork, mappedIpv4, printIp, tryParseIp, tryParseNetwork } from "./ip.ts";
import type { IpAddress, IpNetwork } from "./ip.ts";

/** A host as written, understood: an IP address or a DNS name, in its one spelling. */
export type Host =
  { readonly kind: "ip"; readonly text: string; readonly ip: IpAddress } | { readonly kind: "name"; readonly text: string };

/** Why a host cannot be used, and what to write instead. */
export interface HostProblem {
  readonly message: string;
  readonly remedy: string;
}

/** What a check of hosts may let through or must refuse beyond the built-in ranges. */
export interface HostOptions {
  /** Opens 127.0.0.0/8, ::1 and localhost. Default: false. */
  readonly allowLoopback?: boolean;
  /** Networks no machine can be in, each with words for it, for example the management cluster's own. */
  readonly forbiddenNetworks?: readonly { readonly network: string; readonly what: string }[];
}

/** Ranges no machine or endpoint can have; the first match names the reason. */
const deniedRanges: readonly { readonly network: IpNetwork; readonly what: string; readonly isLoopback?: true }[] = [
  denied("0.0.0.0/8", "stands for no machine"),
  { ...denied("127.0.0.0/8", "is the operator's own host"), isLoopback: true },
  // Only then: a host with this address hands cloud credentials to whoever asks.
  denied("169.254.169.254/32", "is a cloud's metadata service"),
  denied("169.254.0.0/16", "is link-local"),
  denied("100.100.100.200/32", "is a cloud's metadata service"),
  denied("224.0.0.0/4", "is multicast"),
  denied("240.0.0.0/4", "is reserved"),
  denied("::/128", "stands for no machine"),
  { ...denied("::1/128", "is the operator's own host"), isLoopback: true },
  denied("fd00:ec2::254/128", "is a cloud's metadata service"),
  denied("fe80::/10", "is link-local"),
  denied("ff00::/8", "is multicast"),
];

const deniedNames: readonly { readonly pattern: RegExp; readonly what: string; readonly isLoopback?: true }[] = [
  { pattern: /(^|\.)localhost$/, what: "is the operator's own host", isLoopback: true },
  { pattern: /^metadata(\.google\.internal)?$/, what: "is a cloud's metadata service" },
];

/**
 * Understands a host: an IP address in its usual form, or a DNS name. Ports, zones, brackets, trailing dots, letters beyond
 * ASCII and numbers in disguise are problems, never guessed at.
 */
export function parseHost(text: string): Host | HostProblem {
  const ip = tryParseIp(text);
  if (ip !== undefined) {
    const four = mappedIpv4(ip);
    if (four !== undefined) return { message: `${quote(text)} is an IPv4 address in IPv6 clothes`, remedy: `Write ${printIp(four)}` };
    return { kind: "ip", text: printIp(ip), ip };
  }
  const name = text.toLowerCase();
  // RegExp without the u flag: \d and [a-z] are ASCII alone, so digits and letters of other scripts fall through to here.
  if (!/^[a-z0-9.-]+$/.test(name)) return { message: `${quote(text)} is no IP address and no DNS name`, remedy: plainRemedy };
  const withoutDot = name.replace(/\.$/, "");
  if (withoutDot !== name && !withoutDot.endsWith(".") && withoutDot !== "")
    return { message: `${quote(text)} ends in a dot`, remedy: `Write ${withoutDot}` };
  const labels = name.split(".");
  if (/^(\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? ""))
    return { message: `${quote(text)} looks like a number and is no IP address`, remedy: plainRemedy };
  if (name.length > 253 || !labels.every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label)))
    return {
      message: `${quote(text)} is no DNS name`,
      remedy: "Write labels of at most 63 letters, digits and dashes, 253 characters in all",
    };
  return { kind: "name", text: name };
}

const plainRemedy = "Write an IP address such as 10.0.0.11 or a DNS name, without port, zone or brackets";

/** The one spelling of an address, for comparing and for names; what cannot be understood comes back as written. */
export function canonicalAddress(text: string): string {
  const host = parseHost(text);
  return "kind" in host ? host.text : text;
}

/** Why no machine or endpoint can be at the host, or `undefined`. To be asked again about each address a name resolves to. */
export function deniedHost(host: Host, { allowLoopback = false, forbiddenNetworks = [] }: HostOptions = {}): HostProblem | undefined {
  const remedy = "Write the address the machine has on its network";
  if (host.kind === "name") {
    const hit = deniedNames.find(({ pattern, isLoopback }) => pattern.test(host.text) && !(allowLoopback && isLoopback));
    return hit && { message: `${quote(host.text)} ${hit.what}`, remedy };
  }
  const hit = deniedRanges.find(({ network, isLoopback }) => isInNetwork(network, host.ip) && !(allowLoopback && isLoopback));
  if (hit !== undefined) return { message: `${quote(host.text)} ${hit.what}`, remedy };
  for (const { network, what } of forbiddenNetworks) {
    const parsed = tryParseNetwork(network);
    if (parsed && isInNetwork(parsed, host.ip)) return { message: `${quote(host.text)} lies in ${network}, ${what}`, remedy };
  }
  return undefined;
}

/** A value as it stands in a message: quoted, invisible and directional characters escaped, cut to 80 characters. */
export function quote(text: string): string {
  const shown = text.length > 80 ? `${text.slice(0, 77)}...` : text;
  return JSON.stringify(shown).replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function denied(network: string, what: string): { readonly network: IpNetwork; readonly what: string } {
  const parsed = tryParseNetwork(network);
  if (parsed === undefined) throw new TypeError(`${network} is no network`);
  return { network: parsed, what };
}
