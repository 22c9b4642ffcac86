import { createHash } from "node:crypto";
import { configFactsOf } from "./config-facts.ts";
import type { ConfigFacts } from "./config-facts.ts";
import type { Machine } from "./machine.ts";

/** Facts of the configuration in force; `undefined` in maintenance. */
export function activeFacts(machine: Machine): ConfigFacts | undefined {
  if (machine.config.active === undefined) return undefined;
  const facts = configFactsOf(machine.config.active);
  return facts.isComplete ? facts : undefined;
}

/** Control plane by the configuration in force. */
export function isControlPlane(machine: Machine): boolean {
  return activeFacts(machine)?.machineType === "controlplane";
}

/**
 * Host name: from the config, else from the network settings in META, else the stable one that Talos makes from the machine's identity; in a container the
 * container's name.
 */
export function hostnameOf(machine: Machine): string {
  const configured = machine.config.active === undefined ? undefined : configFactsOf(machine.config.active).hostname;
  if (configured !== undefined) return configured;
  if (machine.hardware.platform === "container") return machine.hardware.name;
  const inMeta = /^\s*- hostname: "?([^"\s]+)"?\s*$/m.exec(machine.meta[metalNetwork] ?? "")?.[1];
  if (inMeta !== undefined) return inMeta;
  return namesOf(machine).hostname;
}

/** META key 0x0a. */
const metalNetwork = "10";

/** Name of the Kubernetes Node. */
export function nodenameOf(machine: Machine): string {
  return hostnameOf(machine)
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, "-");
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Talos node identity: random, kept on the STATE partition, new after a wipe. */
export function nodeIdOf(machine: Machine): string {
  return namesOf(machine).nodeId;
}

/** Names that follow from a machine's identity. */
interface Names {
  readonly nodeId: string;
  readonly hostname: string;
}

/** Machines whose names are remembered: all of a large datacenter. Every look at one asks. */
const MOST_REMEMBERED = 16_384;
const remembered = new Map<string, Names>();

function namesOf({ nonce, wipes }: Machine): Names {
  const key = `${nonce}/identity/${wipes}`;
  const known = remembered.get(key);
  if (known !== undefined) return known;
  const nodeId = base62Of(BigInt(`0x${createHash("sha256").update(key).digest("hex")}`));
  // Not from the UUID: clones share that, and would share the name of their etcd member.
  const digits = BigInt(`0x${createHash("sha256").update(nodeId).digest("hex").slice(0, 16)}`).toString(36);
  const names = { nodeId, hostname: `talos-${digits.slice(0, 3)}-${digits.slice(3, 6)}` };
  if (remembered.size >= MOST_REMEMBERED) remembered.clear();
  remembered.set(key, names);
  return names;
}

function base62Of(number: bigint): string {
  let rest = number;
  let text = "";
  while (rest > 0n) {
    text = base62.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}

/** SHA-256 of the cluster secret: lets machines compare it without carrying it around. */
export function secretFingerprint(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Same Talos cluster: id and secret agree. */
export function isSameCluster(a: ConfigFacts | undefined, b: ConfigFacts | undefined): boolean {
  return a !== undefined && b !== undefined && a.clusterId !== "" && a.clusterId === b.clusterId && a.clusterSecret === b.clusterSecret;
}

/**
 * True when etcd may use the machine's address. An address inside the pod or service range is taken for one of Kubernetes' own:
 * the node then never gets an etcd spec and etcd waits for ever.
 */
export function hasEtcdAddress(machine: Machine): boolean {
  const facts = activeFacts(machine);
  if (facts === undefined) return false;
  return ![...facts.podSubnets, ...facts.serviceSubnets].some((subnet) => contains(subnet, machine.hardware.address));
}

/** Why kube-apiserver ends as often as it is started here; `undefined` = it starts. Its first service network must be of the family of its address. */
export function apiServerRefusal(machine: Machine): string | undefined {
  const facts = activeFacts(machine);
  if (facts === undefined) return undefined;
  const { address, moreAddresses = [] } = machine.hardware;
  const subnet = facts.serviceSubnets[0] ?? "";
  const isOfFamily = (one: string): boolean => one.includes(":") === subnet.includes(":");
  if (subnet !== "" && ![address, ...moreAddresses].some(isOfFamily))
    return `service IP family "${subnet}" must match public address family "${address}"`;
  return facts.refusals.apiServer;
}

/** The address lies in the CIDR; false across address families and for unreadable input. */
function contains(cidr: string, address: string): boolean {
  const [network, bits] = cidr.split("/");
  const a = network === undefined ? undefined : addressBits(network);
  const b = addressBits(address);
  if (a === undefined || b === undefined || a.length !== b.length) return false;
  const prefix = Number(bits);
  return Number.isInteger(prefix) && a.slice(0, prefix) === b.slice(0, prefix);
}

/** The address as network bytes; `undefined` when it is none. */
export function addressBytes(address: string): Uint8Array | undefined {
  const bits = addressBits(address);
  if (bits === undefined) return undefined;
  return Uint8Array.from({ length: bits.length / 8 }, (_, index) => Number.parseInt(bits.slice(index * 8, index * 8 + 8), 2));
}

function addressBits(address: string): string | undefined {
  if (/^\d+\.\d+\.\d+\.\d+$/.test(address)) {
    const parts = address.split(".").map(Number);
    return parts.every((part) => part <= 255) ? parts.map((part) => part.toString(2).padStart(8, "0")).join("") : undefined;
  }
  if (!/^[0-9a-fA-F:]+$/.test(address)) return undefined;
  const [head = "", tail] = address.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const missing = 8 - left.length - right.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  return [...left, ...Array.from({ length: missing }, () => "0"), ...right]
    .map((part) => Number.parseInt(part, 16).toString(2).padStart(16, "0"))
    .join("");
}
