import type { Finding } from "./finding.ts";
import { quote } from "./host.ts";
import { doNetworksOverlap, isInNetwork, tryParseIp, tryParseNetwork } from "./ip.ts";

/** Networks of pods when `podCIDR` is absent or empty; what Talos generates. */
export const DEFAULT_POD_NETWORKS: readonly string[] = ["10.244.0.0/16"];

/** Networks of services when `serviceCIDR` is absent or empty; what Talos generates. */
export const DEFAULT_SERVICE_NETWORKS: readonly string[] = ["10.96.0.0/12"];

/** One of the networks of a cluster, with where it stands in the spec. */
export interface ClusterNetwork {
  readonly field: string;
  readonly text: string;
  readonly use: "pods" | "services";
  /** True when the spec does not name it. */
  readonly isDefault: boolean;
}

/** The networks of a cluster as its control plane, or the config rendered from it, names them. */
export interface NetworkSpec {
  readonly podCIDR?: readonly string[];
  readonly serviceCIDR?: readonly string[];
}

/** Networks of the cluster, defaults filled in; entries that are no networks are left out. */
export function clusterNetworks(spec: NetworkSpec, prefix = "spec"): readonly ClusterNetwork[] {
  return entries(spec, prefix).filter(({ text }) => tryParseNetwork(text) !== undefined);
}

/** True when the text is an IP address inside the network; a DNS name is in none. */
export function holdsAddress({ text }: ClusterNetwork, address: string): boolean {
  const network = tryParseNetwork(text);
  const ip = tryParseIp(address);
  return network !== undefined && ip !== undefined && isInNetwork(network, ip);
}

/**
 * What is wrong with `podCIDR` and `serviceCIDR`: no network, two of one family in a list, a size Kubernetes refuses, overlap.
 *
 * @see kubernetes/kubernetes `cmd/kube-apiserver/app/options/validation.go`, `pkg/controller/nodeipam/ipam/cidrset/cidr_set.go`
 */
export function validateNetworks(spec: NetworkSpec, prefix = "spec"): readonly Finding[] {
  const findings: Finding[] = [];
  const wrong = (field: string, message: string, remedy: string) => findings.push({ field, message, remedy, reason: "InvalidNetwork" });
  const networks = entries(spec, prefix).flatMap((entry) => {
    const network = tryParseNetwork(entry.text);
    return network === undefined ? [] : [{ ...entry, network }];
  });
  for (const { field, text } of entries(spec, prefix))
    if (tryParseNetwork(text) === undefined) wrong(field, `${quote(text)} is no network`, "Write it as 10.244.0.0/16");
  for (const { field, text, network, use } of networks) {
    if (use === "services" && network.family === 4 && network.prefix < 12)
      wrong(field, `${text} is larger than Kubernetes takes for services`, "Use a prefix of 12 to 30");
    if (use === "services" && network.prefix > (network.family === 4 ? 30 : 126))
      wrong(field, `${text} has no room for services`, "Use a prefix of 12 to 24");
    if (use === "services" && network.family === 6 && network.prefix < 108)
      wrong(field, `${text} is larger than Kubernetes takes for services`, "Use a prefix of 108 to 120, usually 112");
    if (use === "pods" && network.family === 6 && (network.prefix < 48 || network.prefix > 64))
      wrong(field, `${text} cannot be cut into a /64 for each node`, "Use a prefix of 48 to 64, usually 56");
    if (use === "pods" && network.family === 4 && (network.prefix < 8 || network.prefix > 24))
      wrong(field, `${text} cannot be cut into a /24 for each node`, "Use a prefix of 8 to 24, usually 16");
  }
  for (const [index, one] of networks.entries()) {
    for (const other of networks.slice(index + 1)) {
      if (one.use === other.use && one.network.family === other.network.family)
        wrong(
          other.field,
          `${other.text} is a second IPv${other.network.family} network for ${other.use}`,
          "Kubernetes takes one of each family: keep one",
        );
      else if (doNetworksOverlap(one.network, other.network))
        wrong(
          other.isDefault ? one.field : other.field,
          `${one.text} of ${one.use} and ${other.text} of ${other.use} overlap`,
          overlapRemedy(one, other),
        );
    }
  }
  for (const family of [4, 6] as const) {
    const of = (use: ClusterNetwork["use"]) => networks.find((entry) => entry.use === use && entry.network.family === family);
    const [pods, services] = [of("pods"), of("services")];
    const lonely = pods === undefined ? services : services === undefined ? pods : undefined;
    if (lonely === undefined) continue;
    const other = lonely.use === "pods" ? "serviceCIDR" : "podCIDR";
    // A default that nobody wrote is not what is wrong.
    if (!lonely.isDefault)
      wrong(
        lonely.field,
        `${lonely.text} is an IPv${family} network, and ${prefix}.${other} has none`,
        `Name one of IPv${family} in ${prefix}.${other}`,
      );
  }
  // The third network of a family is one too many beside the first, and beside the second: that is one thing to say.
  return [...new Map(findings.map((finding) => [`${finding.field} ${finding.message}`, finding])).values()];
}

function overlapRemedy(one: ClusterNetwork, other: ClusterNetwork): string {
  const unnamed = [one, other].find(({ isDefault }) => isDefault);
  return unnamed === undefined
    ? "Choose networks apart from each other"
    : `Choose another, or name ${unnamed.field} too: its default is ${unnamed.text}`;
}

function entries(spec: NetworkSpec, prefix: string): ClusterNetwork[] {
  const list = (key: "podCIDR" | "serviceCIDR", use: ClusterNetwork["use"], defaults: readonly string[]) => {
    const named = spec[key] ?? [];
    const isDefault = named.length === 0;
    return (isDefault ? defaults : named).map((text, index) => ({
      field: isDefault ? `${prefix}.${key}` : `${prefix}.${key}[${index}]`,
      text,
      use,
      isDefault,
    }));
  };
  return [...list("podCIDR", "pods", DEFAULT_POD_NETWORKS), ...list("serviceCIDR", "services", DEFAULT_SERVICE_NETWORKS)];
}
