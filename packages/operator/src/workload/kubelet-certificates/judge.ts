import { canonicalAddress, deniedHost, parseHost, quote } from "@talos-operator/api";
import type { CertificateRequestFacts } from "@talos-operator/ports";
import { isNodeOf } from "../seen-node.ts";
import { NODE_USER, SERVING_SIGNER } from "./requests.ts";
import type { NodeOwner, SeenNode } from "../../model/workload.ts";

/** A request for a certificate, with what it asks for. */
export interface AskedCertificate {
  readonly signerName: string;
  /** Who asks, as the API server says. */
  readonly username: string;
  readonly groups: readonly string[];
  readonly usages: readonly string[];
  /** `undefined` = it cannot be read, or is not signed with its own key. */
  readonly asks: CertificateRequestFacts | undefined;
}

/** A machine of the cluster that runs, and has proved so. */
export interface CertificateMachine extends NodeOwner {
  readonly machine: string;
  /** The name of its Node, as the machine itself tells it over the Talos API. */
  readonly nodeName: string;
}

/** What a request is held against. */
export interface Around {
  readonly machines: readonly CertificateMachine[];
  readonly nodes: readonly SeenNode[];
  /** Addresses and names that no kubelet may have: of the endpoint, and of machines that are not asked about. Canonical. */
  readonly reserved: readonly string[];
  /** Networks of pods and Services: no machine is there. */
  readonly networks: readonly string[];
}

/** Either whose certificate it is, or why it is never approved, in words. */
export type Verdict =
  | { readonly kind: "approve"; readonly machine: string }
  | { readonly kind: "refuse"; readonly machine: string | undefined; readonly why: string };

const group = "system:nodes";
const allowedUsages: ReadonlySet<string> = new Set(["digital signature", "key encipherment", "server auth"]);

/**
 * Whether the certificate that a kubelet asks for may be given to it: only for a Node that is one of our machines, and only for names and addresses which are
 * that Node's and nobody else's. Whoever holds such a certificate is believed to be what stands in it, by everybody who trusts the cluster's authority. Pure.
 *
 * @see k8s.io/api/certificates/v1 `KubeletServingSignerName`, whose own rules the signer checks again
 */
export function judgeRequest(asked: AskedCertificate, around: Around): Verdict {
  const refuse = (why: string, machine?: string): Verdict => ({ kind: "refuse", machine, why });
  const formal = refuseForm(asked);
  if (formal !== undefined) return refuse(formal);
  const { asks } = asked;
  if (asks === undefined) return refuse("it cannot be read, or is not signed with its own key");
  const subject = refuseSubject(asked.username, asks);
  if (subject !== undefined) return refuse(subject);
  const name = asked.username.slice(NODE_USER.length);
  const node = around.nodes.find((one) => one.name === name);
  if (node === undefined) return refuse(`there is no Node ${quote(name)}`);
  const owner = ownerOf(node, around);
  if (typeof owner === "string") return refuse(owner);
  const names = refuseNames(asks, node, owner, around);
  return names === undefined ? { kind: "approve", machine: owner.machine } : refuse(names, owner.machine);
}

function refuseForm({ signerName, username, groups, usages }: AskedCertificate): string | undefined {
  if (signerName !== SERVING_SIGNER) return `its signer is ${quote(signerName)}`;
  if (!username.startsWith(NODE_USER) || username === NODE_USER) return `${quote(username)} is no kubelet`;
  if (!groups.includes(group)) return `${quote(username)} is not in the group ${group}`;
  const other = usages.find((usage) => !allowedUsages.has(usage));
  if (other !== undefined) return `it asks for the usage ${quote(other)}`;
  return usages.includes("server auth") ? undefined : "it is not for serving";
}

function refuseSubject(username: string, { commonName, organizations }: CertificateRequestFacts): string | undefined {
  if (commonName !== username)
    return `its common name is ${commonName === undefined ? "not given" : quote(commonName)}, not ${quote(username)}`;
  return organizations.length === 1 && organizations[0] === group
    ? undefined
    : `its organizations are ${quote(organizations.join(", "))}, not ${group}`;
}

/** The one machine that says of itself that it is this Node, and whose UUID the Node tells; else why there is none. */
function ownerOf(node: SeenNode, { machines, nodes }: Around): CertificateMachine | string {
  const [owner, ...more] = machines.filter(({ nodeName }) => nodeName === node.name);
  if (owner === undefined) return `no machine of this cluster that answers says that it is the Node ${node.name}`;
  if (more.length > 0) return `${[owner, ...more].map(({ machine }) => machine).join(" and ")} say that they are the Node ${node.name}`;
  if (!isNodeOf(node, owner)) return `the Node ${node.name} reports another UUID or address than ${owner.machine} has`;
  const twin = nodes.find((other) => other.name !== node.name && isNodeOf(other, owner));
  return twin === undefined ? owner : `the Node ${twin.name} reports the UUID or address of ${owner.machine} as well`;
}

function refuseNames(asks: CertificateRequestFacts, node: SeenNode, owner: CertificateMachine, around: Around): string | undefined {
  const { dnsNames, ipAddresses, otherNames } = asks;
  if (otherNames.length > 0) return `it asks for ${quote(otherNames.join(", "))}, which is neither a name nor an address`;
  if (dnsNames.length + ipAddresses.length === 0) return "it asks for no name and no address";
  const name = dnsNames.find((one) => !isNameOf(one, node, around));
  if (name !== undefined) return `it asks for the name ${quote(name)}, which is not the Node's`;
  const address = ipAddresses.find((one) => !isAddressOf(canonicalAddress(one), node, owner, around));
  return address === undefined
    ? undefined
    : `it asks for the address ${quote(address)}, which is not known as that of ${owner.machine} alone`;
}

/** The Node's name, or the host name that its name begins with. A kubelet writes the host name itself: any other would let it choose. */
function isNameOf(name: string, node: SeenNode, { reserved }: Around): boolean {
  const isHost = node.addresses.includes(name) && node.name.startsWith(`${name}.`);
  return (name === node.name || isHost) && !reserved.includes(name);
}

/** The machine's own, or one that its Node tells and nobody else has. A kubelet writes its Node's addresses itself: those of others are not believed. */
function isAddressOf(address: string, node: SeenNode, owner: CertificateMachine, around: Around): boolean {
  const { machines, nodes, reserved, networks } = around;
  if (address === canonicalAddress(owner.address)) return true;
  if (!node.addresses.includes(address) || isNobodys(address, networks) || reserved.includes(address)) return false;
  const isAnothers =
    nodes.some((other) => other.name !== node.name && other.addresses.includes(address)) ||
    machines.some((other) => other.machine !== owner.machine && canonicalAddress(other.address) === address);
  return !isAnothers;
}

/** Loopback and the like, which every host has, and what Kubernetes gives out itself. */
function isNobodys(address: string, networks: readonly string[]): boolean {
  const host = parseHost(address);
  const forbiddenNetworks = networks.map((network) => ({ network, what: "a network of the cluster" }));
  return !("kind" in host) || host.kind === "name" || deniedHost(host, { forbiddenNetworks }) !== undefined;
}
