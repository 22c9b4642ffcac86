import { parseHost, quote } from "@talos-operator/api";
import type { Finding, MachineMeta } from "@talos-operator/api";

/**
 * The text of META key 0x0a for one machine: static network settings that Talos reads on bare metal before it has any configuration, and follows at once when
 * they change.
 *
 * The address is the one that the machine is known by. A machine that is known by a name in DNS gets host name and resolvers only.
 *
 * @returns `undefined` when the settings say nothing
 * @see https://docs.siderolabs.com Metal Network Configuration; siderolabs/talos `internal/app/machined/pkg/runtime/v1alpha1/platform/metal`
 */
export function metaNetworkText(meta: MachineMeta | undefined, address: string): string | undefined {
  if (meta === undefined) return undefined;
  const lines = [
    ...(hasAddress(meta, address) ? addressLines(meta, address) : []),
    ...(isSet(meta.hostname)
      ? ["hostnames:", `    - hostname: ${word(meta.hostname)}`, '      domainname: ""', "      layer: platform"]
      : []),
    ...((meta.dnsServers ?? []).length === 0
      ? []
      : ["resolvers:", "    - dnsServers:", ...(meta.dnsServers ?? []).map((one) => `        - ${word(one)}`), "      layer: platform"]),
  ];
  return lines.length === 0 ? undefined : `${lines.join("\n")}\n`;
}

/** The host name in such a text; `undefined` = it has none. */
export function hostnameInMeta(text: string | undefined): string | undefined {
  return /^\s*- hostname: "?([^"\s]+)"?\s*$/m.exec(text ?? "")?.[1];
}

/** Settings that need a numeric address, and a machine that is known by a name. */
export function hasUnusedAddressSettings(meta: MachineMeta | undefined, address: string): boolean {
  if (meta === undefined || ipOf(address) !== undefined) return false;
  return isSet(meta.interface) || meta.subnet !== undefined || isSet(meta.gateway);
}

/** Linux takes any name of up to 15 bytes without a slash, white space or colon. */
const INTERFACE = /^[^\s/:]{1,15}$/u;

const HOSTNAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** Most resolvers that are taken; the resolver library reads no more than three, Talos forwards to all. */
const MOST_RESOLVERS = 16;

/**
 * What is wrong with static network settings: a machine that took them would be cut off, with nobody there to correct them.
 *
 * @param field where they stand, for example `spec.metalSpec.machineSpec.meta`
 * @param addresses of the machines that would get them
 */
export function metaProblems(meta: MachineMeta | undefined, field: string, addresses: readonly string[]): readonly Finding[] {
  if (meta === undefined) return [];
  const found: Finding[] = [];
  const wrong = (key: string, message: string, remedy: string): void => {
    found.push({ field: `${field}.${key}`, message, remedy, reason: "InvalidConfig" });
  };
  if (isSet(meta.hostname) && (meta.hostname.length > 253 || !HOSTNAME.test(meta.hostname)))
    wrong("hostname", `${quote(meta.hostname)} is no host name`, "Use lower-case letters, digits and dashes");
  const addressed = addresses.flatMap((address) => ipOf(address) ?? []);
  const asksForAddress = isSet(meta.interface) || meta.subnet !== undefined || isSet(meta.gateway);
  if (asksForAddress) {
    if (!isSet(meta.interface)) wrong("interface", "it is missing, and subnet or gateway are given", "Name the network interface");
    else if (!INTERFACE.test(meta.interface) || meta.interface === "." || meta.interface === "..")
      wrong(
        "interface",
        `${quote(meta.interface)} is no name of a network interface`,
        "Write it as the machine lists it, for example eth0",
      );
    if (meta.subnet === undefined)
      wrong("subnet", "it is missing, and an interface is given", "Write the length of the prefix, for example 24");
    else {
      const longest = addressed.some((ip) => ip.family === 6) ? 128 : 32;
      if (!Number.isInteger(meta.subnet) || meta.subnet < 1 || meta.subnet > longest)
        wrong("subnet", `${meta.subnet} is no length of a prefix`, `Write a number from 1 to ${longest}, for example 24`);
      else for (const problem of gatewayProblems(meta, meta.subnet, addressed)) wrong("gateway", ...problem);
    }
  }
  const resolvers = meta.dnsServers ?? [];
  if (resolvers.length > MOST_RESOLVERS)
    wrong("dnsServers", `${resolvers.length} resolvers are too many`, `Name at most ${MOST_RESOLVERS}`);
  resolvers.slice(0, MOST_RESOLVERS).forEach((one, index) => {
    if (ipOf(one) === undefined) wrong(`dnsServers[${index}]`, `${quote(one)} is no IP address`, "Write the address of a resolver");
  });
  return found;
}

function gatewayProblems(meta: MachineMeta, subnet: number, addresses: readonly Ip[]): readonly (readonly [string, string])[] {
  if (!isSet(meta.gateway)) return [];
  const gateway = ipOf(meta.gateway);
  if (gateway === undefined) return [[`${quote(meta.gateway)} is no IP address`, "Write the address of the default gateway"]];
  const far = addresses.find((ip) => ip.family !== gateway.family || (!isLinkLocal(gateway) && !isNear(ip, gateway, subnet)));
  return far === undefined
    ? []
    : [[`${meta.gateway} is not in the network of ${far.text}/${subnet}: the machine would reach nobody`, "Correct gateway or subnet"]];
}

interface Ip {
  readonly family: 4 | 6;
  readonly value: bigint;
  readonly text: string;
}

function ipOf(address: string): Ip | undefined {
  const host = parseHost(address);
  return "kind" in host && host.kind === "ip" ? { family: host.ip.family, value: host.ip.value, text: host.text } : undefined;
}

/** Routers announce themselves by addresses that are valid on one link only. */
function isLinkLocal({ family, value }: Ip): boolean {
  return family === 6 && value >> 118n === 0xfe80n >> 6n;
}

function isNear(a: Ip, b: Ip, subnet: number): boolean {
  const rest = BigInt((a.family === 6 ? 128 : 32) - subnet);
  return a.value >> rest === b.value >> rest;
}

function hasAddress(meta: MachineMeta, address: string): boolean {
  return isSet(meta.interface) && meta.subnet !== undefined && ipOf(address) !== undefined;
}

function addressLines(meta: MachineMeta, address: string): readonly string[] {
  const ip = ipOf(address);
  const link = word(meta.interface ?? "");
  const family = ip?.family === 6 ? "inet6" : "inet4";
  return [
    "addresses:",
    `    - address: ${word(`${ip?.text ?? ""}/${meta.subnet ?? 0}`)}`,
    `      linkName: ${link}`,
    `      family: ${family}`,
    "      scope: global",
    "      flags: permanent",
    "      layer: platform",
    "links:",
    `    - name: ${link}`,
    "      logical: false",
    "      up: true",
    "      mtu: 0",
    '      kind: ""',
    "      type: ether",
    "      layer: platform",
    ...(isSet(meta.gateway)
      ? [
          "routes:",
          `    - family: ${family}`,
          '      dst: ""',
          '      src: ""',
          `      gateway: ${word(meta.gateway)}`,
          `      outLinkName: ${link}`,
          "      table: main",
          "      priority: 1024",
          "      scope: global",
          "      type: unicast",
          '      flags: ""',
          "      protocol: static",
          "      layer: platform",
        ]
      : []),
  ];
}

/** A scalar that means itself, whatever characters are in it. */
function word(text: string): string {
  return JSON.stringify(text);
}

function isSet(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}
