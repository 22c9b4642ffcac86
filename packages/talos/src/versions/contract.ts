import { ConfigError } from "../config/errors.ts";

/** The Talos minor for which a config is written, for example `1.13`. A leading `v` and a patch number are accepted and dropped. */
export type Contract = string;

/** What a Talos minor can do, as far as generated configs differ by it. */
export interface ContractFeatures {
  readonly podSecurityAdmission: boolean;
  readonly stableHostname: boolean;
  readonly kubeletSeccompDefault: boolean;
  readonly allowSchedulingOnControlPlanes: boolean;
  readonly kubernetesDiscoveryDisabled: boolean;
  readonly alternateImageRegistries: boolean;
  readonly secretboxEncryption: boolean;
  readonly auditPolicy: boolean;
  readonly apidExtKeyUsageCheck: boolean;
  readonly kubeletManifestsDirectoryDisabled: boolean;
  readonly diskQuota: boolean;
  readonly kubePrism: boolean;
  readonly hostDns: boolean;
  readonly rsaServiceAccountKey: boolean;
  readonly hostDnsForwardsKubeDns: boolean;
  readonly excludeFromExternalLoadBalancers: boolean;
  readonly clusterNameForWorkers: boolean;
  readonly networkDocuments: boolean;
  readonly hideRbacAndKeyUsage: boolean;
  readonly hideDisablePodSecurityPolicy: boolean;
  readonly clusterSansFromEndpoint: boolean;
  readonly grubUseUkiCmdline: boolean;
  readonly kubeSpanDocument: boolean;
  /** Kubernetes, discovery, host DNS, sysctls and install live in documents of their own, outside v1alpha1. */
  readonly kubernetesDocuments: boolean;
}

/** The Talos minor that brought each feature; two go the other way. */
const since = {
  podSecurityAdmission: 1,
  stableHostname: 2,
  kubeletSeccompDefault: 2,
  allowSchedulingOnControlPlanes: 2,
  kubernetesDiscoveryDisabled: 2,
  secretboxEncryption: 3,
  auditPolicy: 3,
  apidExtKeyUsageCheck: 3,
  kubeletManifestsDirectoryDisabled: 3,
  diskQuota: 5,
  kubePrism: 6,
  hostDns: 7,
  rsaServiceAccountKey: 7,
  hostDnsForwardsKubeDns: 8,
  excludeFromExternalLoadBalancers: 8,
  clusterNameForWorkers: 8,
  networkDocuments: 12,
  hideRbacAndKeyUsage: 12,
  hideDisablePodSecurityPolicy: 12,
  grubUseUkiCmdline: 12,
  kubeSpanDocument: 13,
  kubernetesDocuments: 14,
} as const satisfies Partial<Record<keyof ContractFeatures, number>>;

const contractPattern = /^(\d+)\.(\d+)($|\.)/;

/**
 * Major and minor of a contract.
 *
 * @throws ConfigError `INVALID_VERSION`
 */
export function parseContract(text: string): { readonly major: number; readonly minor: number } {
  const match = contractPattern.exec(text.startsWith("v") ? text.slice(1) : text);
  if (match === null)
    throw new ConfigError("INVALID_VERSION", `error parsing version ${JSON.stringify(`v${text.replace(/^v/, "").slice(0, 64)}`)}`);
  return { major: Number(match[1]), minor: Number(match[2]) };
}

/**
 * The contract of a Talos version: `v1.13.2` gives `1.13`.
 *
 * @throws ConfigError `INVALID_VERSION`
 */
export function contractFor(talosVersion: string): Contract {
  const { major, minor } = parseContract(talosVersion);
  return `${major}.${minor}`;
}

/** Positive when contract `a` is newer than `b`. */
export function compareContracts(a: Contract, b: Contract): number {
  const left = parseContract(a);
  const right = parseContract(b);
  return left.major - right.major || left.minor - right.minor;
}

const known = new Map<string, ContractFeatures>();

/** The features of a contract. */
export function featuresOf(contract: Contract): ContractFeatures {
  const { major, minor } = parseContract(contract);
  // Every contract beyond those that differ has the features of the newest, so there are few.
  const name = major === 1 && minor <= newestContract ? `1.${minor}` : major < 1 ? "0" : "newest";
  const features = known.get(name) ?? readFeatures(major, minor);
  known.set(name, features);
  return features;
}

const newestContract = 64;

function readFeatures(major: number, minor: number): ContractFeatures {
  const has = (first: number): boolean => major > 1 || (major === 1 && minor >= first);
  const features = Object.fromEntries(Object.entries(since).map(([name, first]) => [name, has(first)])) as Record<
    keyof typeof since,
    boolean
  >;
  return { ...features, alternateImageRegistries: has(2) && !has(3), clusterSansFromEndpoint: !has(12) };
}
