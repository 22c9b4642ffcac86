import { describeMachineConfig } from "@talos-operator/talos";
import type { KeyPair } from "@talos-operator/ports";
import { loadAll } from "js-yaml";
import { volumeKeysOf, type VolumeKeys } from "./disk-encryption.ts";
import { kubeRefusalsOf, type KubeRefusals } from "./kube-refusals.ts";

/** What a machine reads from its configuration; absent texts are empty. */
export interface ConfigFacts {
  /** A v1alpha1 document is there: complete for boot. */
  readonly isComplete: boolean;
  readonly machineType: "controlplane" | "worker" | undefined;
  readonly clusterId: string;
  readonly clusterSecret: string;
  readonly clusterName: string;
  readonly endpoint: string;
  readonly podSubnets: readonly string[];
  readonly serviceSubnets: readonly string[];
  readonly dnsDomain: string;
  /** `v1.36.1` */
  readonly kubernetesVersion: string;
  readonly kubeletImage: string;
  /** Empty when the configuration names none. */
  readonly etcdImage: string;
  /** Keys are empty on workers. */
  readonly osCa: KeyPair;
  readonly kubernetesCa: KeyPair;
  /** Certificates that sign client certificates: the issuing CA and the further accepted ones. */
  readonly acceptedOsCas: readonly string[];
  /** `cluster.etcd` is there: only control planes may have it. */
  readonly hasEtcdSection: boolean;
  /** Arguments of etcd that the configuration adds, by name without dashes. */
  readonly etcdArguments: Readonly<Record<string, readonly string[]>>;
  readonly hostname: string | undefined;
  readonly certSans: readonly string[];
  readonly apiServerCertSans: readonly string[];
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly nodeTaints: Readonly<Record<string, string>>;
  readonly allowsSchedulingOnControlPlane: boolean;
  readonly hasDiscovery: boolean;
  /** Talos or its manifests bring a network plugin; false: somebody installs one. What a control plane says counts: workers apply no manifests. */
  readonly bringsNetwork: boolean;
  /** Disk to install to; empty when the configuration names none. */
  readonly installDisk: string;
  /** Installer; empty as above. */
  readonly installImage: string;
  /** Kernel arguments that GRUB gets by an installation; `undefined` = those of the image. */
  readonly kernelArguments: readonly string[] | undefined;
  readonly machineToken: string;
  /** The kubelet asks its cluster for a serving certificate, and serves its own until it is approved. */
  readonly rotatesServerCertificates: boolean;
  /** Its firewall lets nobody in at the port of the Talos API. */
  readonly blocksApi: boolean;
  /** What components of Kubernetes refuse of it. */
  readonly refusals: KubeRefusals;
  readonly volumeKeys: VolumeKeys;
}

/** Texts whose facts are remembered: all machines of a large datacenter. The machines hold the texts themselves. */
const MOST_REMEMBERED = 4_096;
const remembered = new Map<string, ConfigFacts>();

/**
 * Reads a configuration that was accepted before.
 *
 * The last texts are remembered, since every step of a machine asks again.
 *
 * @throws ConfigError for text that is no configuration at all
 */
export function configFactsOf(text: string): ConfigFacts {
  const known = remembered.get(text);
  if (known !== undefined) return known;
  const facts = readFacts(text);
  if (remembered.size >= MOST_REMEMBERED) remembered.clear();
  remembered.set(text, facts);
  return facts;
}

function readFacts(text: string): ConfigFacts {
  const facts = describeMachineConfig(text);
  const pair = (authority: typeof facts.osCa): KeyPair => ({ certificate: authority?.certificate ?? "", key: authority?.key ?? "" });
  const osCa = pair(facts.osCa);
  const kubernetesCa = pair(facts.kubernetesCa);
  return {
    isComplete: facts.isComplete,
    machineType: facts.machineType === "init" ? "controlplane" : facts.machineType,
    clusterId: facts.clusterId ?? "",
    clusterSecret: facts.clusterSecret ?? "",
    clusterName: facts.clusterName ?? "",
    endpoint: facts.endpoint ?? "",
    podSubnets: facts.podSubnets,
    serviceSubnets: facts.serviceSubnets,
    dnsDomain: facts.dnsDomain ?? "cluster.local",
    kubernetesVersion: facts.kubernetesVersion === undefined ? "" : `v${facts.kubernetesVersion}`,
    kubeletImage: facts.images.kubelet ?? "",
    etcdImage: facts.images.etcd ?? "",
    osCa,
    kubernetesCa: { ...kubernetesCa, certificate: kubernetesCa.certificate || (facts.kubernetesAcceptedCas[0] ?? "") },
    acceptedOsCas: [osCa.certificate, ...facts.osAcceptedCas].filter((certificate) => certificate !== ""),
    hasEtcdSection: facts.etcdCa !== undefined,
    etcdArguments: facts.etcdArguments,
    hostname: facts.hostname,
    certSans: facts.certSans,
    apiServerCertSans: facts.apiServerCertSans,
    nodeLabels: facts.nodeLabels,
    nodeTaints: facts.nodeTaints,
    allowsSchedulingOnControlPlane: facts.allowSchedulingOnControlPlanes,
    hasDiscovery: facts.discovery,
    bringsNetwork: facts.bringsNetwork,
    installDisk: facts.install.disk ?? "",
    installImage: facts.install.image ?? "",
    kernelArguments: facts.install.usesArgumentsOfImage ? undefined : facts.install.kernelArguments,
    machineToken: facts.machineToken ?? "",
    rotatesServerCertificates: facts.rotatesServerCertificates,
    blocksApi: facts.documents.includes("v1alpha1/NetworkDefaultActionConfig/") && blocksApi(text),
    refusals: kubeRefusalsOf(text, facts.machineType !== "worker"),
    volumeKeys: volumeKeysOf(text),
  };
}

const apiPort = 50_000;

/** Ingress is blocked by default, and no rule opens the port of the Talos API. */
function blocksApi(text: string): boolean {
  const documents = loadAll(text) as readonly FirewallDocument[];
  const isBlocked = documents.some((document) => document?.kind === "NetworkDefaultActionConfig" && document.ingress === "block");
  const rules = documents.filter((document) => document?.kind === "NetworkRuleConfig");
  return isBlocked && !rules.some((rule) => (rule?.portSelector?.ports ?? []).some((ports) => holdsPort(String(ports), apiPort)));
}

type FirewallDocument =
  | { readonly kind?: string; readonly ingress?: string; readonly portSelector?: { readonly ports?: readonly (string | number)[] } }
  | null
  | undefined;

/** `50000` or `50000-50001`. */
function holdsPort(range: string, port: number): boolean {
  const [first = "", last = first] = range.split("-");
  return Number(first) <= port && port <= Number(last);
}
