import { shownAs } from "../shown-as.ts";
import { identityOf, legacyKind } from "./document-identity.ts";
import { flagAt, nodeAt, textAt, textMapAt, textsAt } from "./yaml/navigate.ts";
import type { YamlNode } from "./yaml/node.ts";
import { readYaml } from "./yaml/read.ts";

/** A certificate with its key; workers have none. PEM texts, or value tokens in simulation. */
export interface AuthorityFacts {
  readonly certificate: string;
  readonly key: string | undefined;
}

/**
 * What a machine config says, wherever it says it: inside v1alpha1 (Talos 1.13 and older) or in documents of its own (1.14 and newer).
 * `undefined` and empty lists mean that the config does not say it.
 *
 * It holds keys and tokens: `JSON.stringify` and `console.log` show none of it.
 */
export interface MachineConfigFacts {
  /** True when there is a v1alpha1 document: without one a machine stays in maintenance. */
  readonly isComplete: boolean;
  readonly machineType: "controlplane" | "worker" | "init" | undefined;
  readonly clusterId: string | undefined;
  readonly clusterSecret: string | undefined;
  readonly clusterName: string | undefined;
  readonly endpoint: string | undefined;
  readonly dnsDomain: string | undefined;
  readonly podSubnets: readonly string[];
  readonly serviceSubnets: readonly string[];
  /** From the tag of the kubelet image, without `v`. */
  readonly kubernetesVersion: string | undefined;
  readonly images: {
    readonly kubelet: string | undefined;
    readonly apiServer: string | undefined;
    readonly controllerManager: string | undefined;
    readonly scheduler: string | undefined;
    readonly proxy: string | undefined;
    readonly etcd: string | undefined;
  };
  /** Join token of the Talos API. */
  readonly machineToken: string | undefined;
  /** Kubernetes bootstrap token. */
  readonly bootstrapToken: string | undefined;
  readonly osCa: AuthorityFacts | undefined;
  readonly osAcceptedCas: readonly string[];
  readonly kubernetesCa: AuthorityFacts | undefined;
  readonly kubernetesAcceptedCas: readonly string[];
  readonly aggregatorCa: AuthorityFacts | undefined;
  readonly etcdCa: AuthorityFacts | undefined;
  readonly serviceAccountKey: string | undefined;
  readonly secretboxEncryptionSecret: string | undefined;
  readonly aescbcEncryptionSecret: string | undefined;
  /** A fixed hostname. */
  readonly hostname: string | undefined;
  /** Name of the Kubernetes Node that the config fixes: that of the kubelet, else of the host. */
  readonly nodeName: string | undefined;
  /** Names and addresses for the certificate of the Talos API. */
  readonly certSans: readonly string[];
  readonly apiServerCertSans: readonly string[];
  readonly install: {
    readonly disk: string | undefined;
    readonly image: string | undefined;
    readonly wipe: boolean;
    readonly kernelArguments: readonly string[];
    /** With GRUB, too, an installation takes the kernel arguments of the image; without GRUB it takes no others anyway. */
    readonly usesArgumentsOfImage: boolean;
  };
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly nodeTaints: Readonly<Record<string, string>>;
  readonly allowSchedulingOnControlPlanes: boolean;
  readonly cniName: string | undefined;
  /**
   * Talos, or manifests that the configuration names, bring the cluster a network plugin; false: somebody else installs one. Of a control plane: workers apply no
   * manifests, and with documents of Talos 1.14 their configuration says nothing of it.
   */
  readonly bringsNetwork: boolean;
  /** `cluster.etcd.extraArgs`, by name. An argument that is given once has one value. */
  readonly etcdArguments: Readonly<Record<string, readonly string[]>>;
  /** True when a discovery service is configured and on. */
  readonly discovery: boolean;
  readonly apiServerPort: number;
  /**
   * The kubelet asks its cluster for the certificate of its own port (`--rotate-server-certificates`, or `serverTLSBootstrap` in its configuration), and
   * somebody must approve it.
   */
  readonly rotatesServerCertificates: boolean;
  /** Identities of all documents, `apiVersion/kind/name`. */
  readonly documents: readonly string[];
}

/**
 * Reads the facts of a config without checking it. Unknown fields and kinds are passed over, so configs of newer Talos can be read.
 *
 * @throws ConfigError for text that is not YAML, or not a set of mappings
 */
export function describeMachineConfig(text: string): MachineConfigFacts {
  const documents = new Documents(text);
  const legacy = documents.first(legacyKind);
  const machine = nodeAt(legacy, "machine");
  const cluster = nodeAt(legacy, "cluster");
  const kubelet = documents.first("KubeletConfig");
  const network = documents.first("KubeNetworkConfig");
  const kubeCluster = documents.first("KubeClusterConfig");
  const node = documents.first("KubeNodeConfig");
  const apiServer = documents.first("KubeAPIServerConfig");
  const caDocument = documents.first("KubeAPIServerCAConfig");
  const identity = documents.first("DiscoveryIdentityConfig");
  const installDocument = documents.first("UnattendedInstallConfig");
  const encryption = encryptionKeys(documents.first("KubeEtcdEncryptionConfig"));
  const kubeletImage = textAt(kubelet, "image") ?? textAt(machine, "kubelet", "image");
  const nodeTaints = { ...textMapAt(machine, "nodeTaints"), ...textMapAt(node, "taints") };
  const machineType = textAt(machine, "type");
  const cniName = textAt(cluster, "network", "cni", "name");
  return hideContents({
    isComplete: legacy !== undefined,
    machineType: machineType === "controlplane" || machineType === "worker" || machineType === "init" ? machineType : undefined,
    clusterId: textAt(identity, "clusterID") ?? textAt(cluster, "id"),
    clusterSecret: textAt(identity, "clusterSecret") ?? textAt(cluster, "secret"),
    clusterName: textAt(kubeCluster, "clusterName") ?? textAt(cluster, "clusterName"),
    endpoint: textAt(kubeCluster, "endpoint") ?? textAt(cluster, "controlPlane", "endpoint"),
    dnsDomain: textAt(network, "dnsDomain") ?? textAt(cluster, "network", "dnsDomain"),
    podSubnets: firstFilled(textsAt(network, "podSubnets"), textsAt(cluster, "network", "podSubnets")),
    serviceSubnets: firstFilled(textsAt(network, "serviceSubnets"), textsAt(cluster, "network", "serviceSubnets")),
    kubernetesVersion: versionOfImage(kubeletImage),
    images: {
      kubelet: kubeletImage,
      apiServer: textAt(apiServer, "image") ?? textAt(cluster, "apiServer", "image"),
      controllerManager: textAt(documents.first("KubeControllerManagerConfig"), "image") ?? textAt(cluster, "controllerManager", "image"),
      scheduler: textAt(documents.first("KubeSchedulerConfig"), "image") ?? textAt(cluster, "scheduler", "image"),
      proxy: textAt(documents.first("KubeProxyConfig"), "image") ?? textAt(cluster, "proxy", "image"),
      etcd: textAt(cluster, "etcd", "image"),
    },
    machineToken: textAt(machine, "token"),
    bootstrapToken: textAt(cluster, "token"),
    osCa: encodedAuthority(nodeAt(machine, "ca")),
    osAcceptedCas: encodedList(nodeAt(machine, "acceptedCAs")),
    kubernetesCa: plainAuthority(caDocument) ?? encodedAuthority(nodeAt(cluster, "ca")),
    kubernetesAcceptedCas: firstFilled(textsAt(caDocument, "acceptedCAs"), encodedList(nodeAt(cluster, "acceptedCAs"))),
    aggregatorCa: plainAuthority(documents.first("KubeAggregatorCAConfig")) ?? encodedAuthority(nodeAt(cluster, "aggregatorCA")),
    etcdCa: encodedAuthority(nodeAt(cluster, "etcd", "ca")),
    serviceAccountKey:
      textAt(documents.first("KubeServiceAccountConfig"), "issuer", "privateKey") ?? decoded(textAt(cluster, "serviceAccount", "key")),
    secretboxEncryptionSecret: encryption.secretbox ?? textAt(cluster, "secretboxEncryptionSecret"),
    aescbcEncryptionSecret: encryption.aescbc ?? textAt(cluster, "aescbcEncryptionSecret"),
    hostname: fixedHostname(documents, machine),
    nodeName: fixedNodeName(documents, machine),
    certSans: textsAt(machine, "certSANs"),
    apiServerCertSans: firstFilled(textsAt(apiServer, "certExtraSANs"), textsAt(cluster, "apiServer", "certSANs")),
    install: {
      disk: diskOfSelector(textAt(installDocument, "provisioning", "diskSelector", "match")) ?? textAt(machine, "install", "disk"),
      image: textAt(installDocument, "installer", "image") ?? textAt(machine, "install", "image"),
      wipe: flagAt(installDocument, "provisioning", "wipe") ?? flagAt(machine, "install", "wipe") ?? false,
      kernelArguments: textsAt(nodeAt(machine, "install"), "extraKernelArgs"),
      usesArgumentsOfImage: installDocument !== undefined || flagAt(machine, "install", "grubUseUKICmdline") === true,
    },
    nodeLabels: { ...textMapAt(machine, "nodeLabels"), ...textMapAt(node, "labels") },
    nodeTaints,
    allowSchedulingOnControlPlanes:
      node === undefined
        ? (flagAt(cluster, "allowSchedulingOnControlPlanes") ?? flagAt(cluster, "allowSchedulingOnMasters") ?? false)
        : nodeTaints["node-role.kubernetes.io/control-plane"] === undefined,
    cniName: cniName ?? (documents.first("KubeFlannelCNIConfig") === undefined ? undefined : "flannel"),
    bringsNetwork: cniName === undefined ? documentsBringNetwork(documents, machineType) : cniName !== "none",
    etcdArguments: argumentsAt(nodeAt(cluster, "etcd", "extraArgs")),
    discovery: documents.first("DiscoveryServiceConfig") !== undefined || (flagAt(cluster, "discovery", "enabled") ?? false),
    apiServerPort: Number(textAt(apiServer, "apiPort") ?? textAt(cluster, "controlPlane", "localAPIServerPort") ?? 6443),
    rotatesServerCertificates:
      rotatesServerCertificates(kubelet, "config") || rotatesServerCertificates(nodeAt(machine, "kubelet"), "extraConfig"),
    documents: documents.identities,
  });
}

function fixedHostname(documents: Documents, machine: YamlNode | undefined): string | undefined {
  return textAt(documents.first("HostnameConfig"), "hostname") ?? textAt(machine, "network", "hostname");
}

/** The kubelet registers the host name without its domain, unless it is asked for the whole. */
function fixedNodeName(documents: Documents, machine: YamlNode | undefined): string | undefined {
  const kubelet = documents.first("KubeletConfig");
  const argument = ["extraArgs", "hostname-override"];
  const override = [kubelet, nodeAt(machine, "kubelet")].flatMap((node) => textAt(node, ...argument) ?? textsAt(node, ...argument)).at(-1);
  if (override !== undefined && override !== "") return override.toLowerCase();
  const hostname = fixedHostname(documents, machine);
  if (hostname === undefined || hostname === "") return undefined;
  const isWhole = flagAt(documents.first("KubeNodeConfig"), "registerWithFQDN") ?? flagAt(machine, "kubelet", "registerWithFQDN") ?? false;
  return (isWhole ? hostname : (hostname.split(".")[0] ?? hostname)).toLowerCase();
}

/** An argument beats the configuration, as for the kubelet itself. An argument given several times counts as its last. */
function rotatesServerCertificates(kubelet: YamlNode | undefined, config: string): boolean {
  const argument = ["extraArgs", "rotate-server-certificates"];
  const given = textAt(kubelet, ...argument) ?? textsAt(kubelet, ...argument).at(-1);
  return given === undefined ? flagAt(kubelet, config, "serverTLSBootstrap") === true : ["1", "t", "true"].includes(given.toLowerCase());
}

/** Values of arguments, each one text or a list of them. */
function argumentsAt(node: YamlNode | undefined): Readonly<Record<string, readonly string[]>> {
  const given = node?.type === "mapping" ? node.entries : [];
  return Object.fromEntries(
    given.flatMap(({ key, value }) => {
      const values = value.type === "scalar" ? [value.text] : textsAt(value);
      return values.length === 0 ? [] : [[key, values] as const];
    }),
  );
}

/** A control plane that is configured in documents names a network plugin, or manifests, or leaves it to somebody else. */
function documentsBringNetwork(documents: Documents, machineType: string | undefined): boolean {
  const has = (kind: string): boolean => documents.first(kind) !== undefined;
  return machineType === "worker" || !has("KubeNetworkConfig") || has("KubeFlannelCNIConfig") || has("KubeExternalManifestConfig");
}

class Documents {
  readonly identities: readonly string[];
  readonly #byKind = new Map<string, YamlNode>();

  constructor(text: string) {
    const identities: string[] = [];
    for (const { root } of readYaml(text)) {
      const identity = root === undefined ? undefined : identityOf(root);
      if (root === undefined || identity === undefined) continue;
      identities.push(`${identity.apiVersion}/${identity.kind}/${identity.name}`);
      if (!this.#byKind.has(identity.kind)) this.#byKind.set(identity.kind, root);
    }
    this.identities = identities;
  }

  first(kind: string): YamlNode | undefined {
    return this.#byKind.get(kind);
  }
}

function encodedAuthority(node: YamlNode | undefined): AuthorityFacts | undefined {
  const certificate = decoded(textAt(node, "crt"));
  return certificate === undefined ? undefined : hiddenAuthority(certificate, decoded(textAt(node, "key")));
}

/** Documents of their own hold PEM text; a worker knows the authority only as an accepted one. */
function plainAuthority(node: YamlNode | undefined): AuthorityFacts | undefined {
  const certificate = textAt(node, "issuingCA", "cert") ?? textsAt(node, "acceptedCAs")[0];
  return certificate === undefined ? undefined : hiddenAuthority(certificate, textAt(node, "issuingCA", "key"));
}

function encodedList(node: YamlNode | undefined): readonly string[] {
  return node?.type !== "sequence" ? [] : node.items.flatMap((item) => decoded(textAt(item, "crt")) ?? []);
}

function decoded(base64: string | undefined): string | undefined {
  return base64 === undefined ? undefined : Buffer.from(base64, "base64").toString("utf8");
}

/**
 * The key of the first provider for Secrets. The genuine tool looks at secretbox alone, so it is preferred; its generator writes the key of
 * older clusters under that name too.
 */
function encryptionKeys(document: YamlNode | undefined): { secretbox: string | undefined; aescbc: string | undefined } {
  const firstProviders = itemsAt(document, "config", "resources").flatMap((resource) =>
    textsAt(resource, "resources").includes("secrets") ? itemsAt(resource, "providers").slice(0, 1) : [],
  );
  const secretOf = (provider: string): string | undefined =>
    firstProviders.flatMap((item) => itemsAt(item, provider, "keys").map((key) => textAt(key, "secret")))[0];
  const secretbox = secretOf("secretbox");
  return { secretbox, aescbc: secretbox === undefined ? secretOf("aescbc") : undefined };
}

function itemsAt(node: YamlNode | undefined, ...path: readonly string[]): readonly YamlNode[] {
  const list = nodeAt(node, ...path);
  return list?.type === "sequence" ? list.items : [];
}

function versionOfImage(image: string | undefined): string | undefined {
  return image === undefined ? undefined : /:v?(\d+\.\d+\.\d+(?:-(?:alpha|beta|rc)\.\d+)?)/.exec(image)?.[1];
}

/** The device of a selector that names exactly one, as the generator writes it. */
function diskOfSelector(match: string | undefined): string | undefined {
  return match === undefined ? undefined : /^disk\.dev_path == "([^"\\]+)"$/.exec(match)?.[1];
}

function firstFilled(...lists: readonly (readonly string[])[]): readonly string[] {
  return lists.find((list) => list.length > 0) ?? [];
}

function hideContents(facts: MachineConfigFacts): MachineConfigFacts {
  return shownAs(facts, "[machine config facts]");
}

function hiddenAuthority(certificate: string, key: string | undefined): AuthorityFacts {
  return shownAs({ certificate, key }, { certificate, key: key === undefined ? undefined : "[private key]" });
}
