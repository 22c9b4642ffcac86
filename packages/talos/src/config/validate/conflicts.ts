import type { ConfigDocument } from "../document/load.ts";
import type { ConfigMap } from "../document/value.ts";
import { tryParseAddress } from "../scalars/ip.ts";
import { integerAt, isOn, isThere, listAt, mapAt, textAt, textsAt } from "./access.ts";
import type { RuleSet } from "./rule-set.ts";

/** The first thing that a document and the v1alpha1 document both set; `undefined` when there is none. */
type ConflictRule = (v1alpha1: ConfigMap, members: ConfigMap) => string | undefined;

/** Documents against the v1alpha1 document, which must not set the same thing. */
export function checkConflictsWithV1alpha1(
  documents: readonly ConfigDocument[],
  v1alpha1: ConfigMap,
  { generation }: RuleSet,
): readonly string[] {
  return documents.flatMap(({ shape, members }) => {
    const rule = conflicts[shape.kind] ?? (generation === "1.14" ? newerConflicts[shape.kind] : undefined);
    return rule?.(v1alpha1, members) ?? [];
  });
}

const hostname: ConflictRule = (config) => {
  if (textAt(config, "machine", "network", "hostname") !== "") return "static hostname is already set in v1alpha1 config";
  return isOn(config, "machine", "features", "stableHostname") ? "stable hostname is already set in v1alpha1 config" : undefined;
};

const resolver: ConflictRule = (config, members) => {
  const network = mapAt(config, "machine", "network");
  if (isThere(network, "searchDomains")) return ".machine.network.searchDomains is already set in v1alpha1 config";
  if (textsAt(network, "nameservers").some((server) => tryParseAddress(server) !== undefined))
    return ".machine.network.nameservers is already set in v1alpha1 config";
  if (isOn(network, "disableSearchDomain")) return ".machine.network.disableSearchDomain is already set in v1alpha1 config";
  const hasHostDns = ["enabled", "forwardKubeDNSToHost", "resolveMemberNames"].some((field) => isThere(members, "hostDNS", field));
  return hasHostDns && isThere(config, "machine", "features", "hostDNS")
    ? ".machine.features.hostDNS is already set in v1alpha1 config"
    : undefined;
};

const timeSync: ConflictRule = (config) => {
  const time = mapAt(config, "machine", "time");
  if (isOn(time, "disabled")) return "time sync cannot be disabled in both v1alpha1 and new-style configuration";
  if (listAt(time, "servers").length > 0) return "time servers cannot be specified in both v1alpha1 and new-style configuration";
  return ["", "0s"].includes(textAt(time, "bootTimeout"))
    ? undefined
    : "boot timeout cannot be specified in both v1alpha1 and new-style configuration";
};

const volume: ConflictRule = (config, members) => {
  const name = textAt(members, "name");
  const isEncrypted = !["", "none"].includes(textAt(members, "encryption", "provider"));
  const isSystem = name === "STATE" || name === "EPHEMERAL";
  return isSystem && isEncrypted && isThere(config, "machine", "systemDiskEncryption", name.toLowerCase())
    ? `system disk encryption for "${name}" is configured in both v1alpha1.Config and VolumeConfig`
    : undefined;
};

const conflicts: Readonly<Record<string, ConflictRule>> = {
  HostnameConfig: hostname,
  KubeSpanConfig: whenThere(["machine", "network", "kubespan"], "kubespan is already configured in v1alpha1 machine.network.kubespan"),
  ResolverConfig: resolver,
  TimeSyncConfig: timeSync,
  VolumeConfig: volume,
};

/** A conflict by the presence of a part. */
function whenThere(path: readonly string[], text: string): ConflictRule {
  return (config) => (isThere(config, ...path) ? text : undefined);
}

/** The first conflict of several. */
function firstOf(...rules: readonly ConflictRule[]): ConflictRule {
  return (config, members) => {
    for (const rule of rules) {
      const found = rule(config, members);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

function replaced(path: readonly string[], shown: string, kind: string): ConflictRule {
  return whenThere(path, `${shown} can't be used with ${kind} document, please remove it to avoid conflicts`);
}

const clusterNetwork = "cluster network config in v1alpha1 config (.machine.cluster.network)";

const identity: ConflictRule = (config) =>
  textAt(config, "cluster", "id") !== "" || textAt(config, "cluster", "secret") !== ""
    ? "cluster identity is already configured in .cluster.id/.cluster.secret of the v1alpha1 config"
    : undefined;

const admission: ConflictRule = (config) =>
  listAt(config, "cluster", "apiServer", "admissionControl").length > 0
    ? "admission control plugin config is already set in v1alpha1 config"
    : undefined;

const etcdEncryption: ConflictRule = (config) =>
  textAt(config, "cluster", "secretboxEncryptionSecret") !== "" || textAt(config, "cluster", "aescbcEncryptionSecret") !== ""
    ? "etcd encryption config is already set in v1alpha1 config"
    : undefined;

const kubeCluster: ConflictRule = (config) => {
  const remedy = "Please remove it and use only the new KubeClusterConfig document to avoid conflicts";
  if (textAt(config, "cluster", "clusterName") !== "")
    return `cluster name is already set in the v1alpha1 config (.cluster.clusterName). ${remedy}`;
  return isThere(config, "cluster", "controlPlane", "endpoint")
    ? `cluster endpoint is already set in the v1alpha1 config (.cluster.controlPlane.endpoint). ${remedy}`
    : undefined;
};

const nodeFields: readonly (readonly string[])[] = [
  ["cluster", "allowSchedulingOnControlPlanes"],
  ["cluster", "allowSchedulingOnMasters"],
  ["machine", "kubelet", "skipNodeRegistration"],
  ["machine", "kubelet", "registerWithFQDN"],
  ["machine", "kubelet", "nodeIP"],
  ["machine", "nodeLabels"],
  ["machine", "nodeAnnotations"],
  ["machine", "nodeTaints"],
];

/** Documents that came with 1.14. */
const newerConflicts: Readonly<Record<string, ConflictRule>> = {
  CRIBaseRuntimeSpecConfig: whenThere(
    ["machine", "baseRuntimeSpecOverrides"],
    "base runtime spec overrides are already set in v1alpha1 config",
  ),
  DiscoveryIdentityConfig: identity,
  DiscoveryServiceConfig: whenThere(
    ["cluster", "discovery"],
    "discovery service is already configured in .cluster.discovery of the v1alpha1 config",
  ),
  ImageCacheConfig: whenThere(["machine", "features", "imageCache"], "image cache config is already set in v1alpha1 config"),
  KubeAPIServerCAConfig: whenThere(["cluster", "ca"], "kube-apiserver CA is already set in v1alpha1 config (.cluster.ca)"),
  KubeAPIServerConfig: firstOf(
    whenThere(["cluster", "apiServer"], "kube-apiserver config is already set in v1alpha1 config (.cluster.apiServer)"),
    (config) =>
      integerAt(config, "cluster", "controlPlane", "localAPIServerPort") === 0n
        ? undefined
        : "kube-apiserver API port is already set in v1alpha1 config (.cluster.controlPlane.localAPIServerPort)",
  ),
  KubeAdmissionControlConfig: admission,
  KubeAggregatorCAConfig: whenThere(
    ["cluster", "aggregatorCA"],
    "kube-apiserver aggregator CA is already set in v1alpha1 config (.cluster.aggregatorCA), please remove it and use the new KubeAggregatorCAConfig document instead",
  ),
  KubeAuditPolicyConfig: (config) =>
    (mapAt(config, "cluster", "apiServer", "auditPolicy")?.size ?? 0) > 0
      ? "audit policy config is already set in v1alpha1 config"
      : undefined,
  KubeAuthorizerConfig: admission,
  KubeClusterConfig: kubeCluster,
  KubeControllerManagerConfig: firstOf(
    whenThere(
      ["cluster", "controllerManager"],
      "kube-controller-manager config is already set in v1alpha1 config (.cluster.controllerManager)",
    ),
    whenThere(
      ["machine", "controlPlane", "controllerManager"],
      "kube-controller-manager config is already set in v1alpha1 config (.machine.controlplane.controllerManager)",
    ),
  ),
  KubeCoreDNSConfig: whenThere(["cluster", "coreDNS"], "CoreDNS config is already set in v1alpha1 config (.cluster.coreDNS)"),
  KubeCredentialProviderConfig: whenThere(
    ["machine", "kubelet"],
    "cannot use KubeCredentialProviderConfig with legacy kubelet configuration (.machine.kubelet)",
  ),
  KubeEtcdEncryptionConfig: etcdEncryption,
  KubeFlannelCNIConfig: replaced(["cluster", "network"], clusterNetwork, "KubeFlannelCNIConfig"),
  KubeNetworkConfig: whenThere(
    ["cluster", "network"],
    "cluster network config is already set in the v1alpha1 config (.machine.cluster.network). Please remove it and use only the new KubeNetworkConfig document to avoid conflicts",
  ),
  KubeNodeConfig: firstOf(...nodeFields.map((path) => whenThere(path, `.${path.join(".")} is already set in v1alpha1 config`))),
  KubePrismConfig: replaced(
    ["machine", "features", "kubePrism"],
    "KubePrism config in v1alpha1 config (.machine.features.kubePrism)",
    "KubePrismConfig",
  ),
  KubeProxyConfig: replaced(["cluster", "proxy"], "cluster proxy config in v1alpha1 config (.machine.cluster.proxy)", "KubeProxyConfig"),
  KubeSchedulerConfig: firstOf(
    whenThere(["cluster", "scheduler"], "kube-scheduler config is already set in v1alpha1 config (.cluster.scheduler)"),
    whenThere(
      ["machine", "controlPlane", "scheduler"],
      "kube-scheduler config is already set in v1alpha1 config (.machine.controlplane.scheduler)",
    ),
  ),
  KubeServiceAccountConfig: whenThere(
    ["cluster", "serviceAccount"],
    "service account is already set in v1alpha1 config (.cluster.serviceAccount)",
  ),
  KubeTalosAPIAccessConfig: whenThere(
    ["machine", "features", "kubernetesTalosAPIAccess"],
    ".machine.features.kubernetesTalosAPIAccess is already set in v1alpha1 config",
  ),
  KubeletConfig: whenThere(["machine", "kubelet"], "kubelet config is already set in v1alpha1 config (.machine.kubelet)"),
  UnattendedInstallConfig: whenThere(
    ["machine", "install"],
    "UnattendedInstallConfig config is incompatible with v1alpha1 config (.machine.install)",
  ),
};
