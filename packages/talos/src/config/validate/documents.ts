import { identityOfDocument, type ConfigDocument } from "../document/load.ts";
import type { ConfigMap } from "../document/value.ts";
import { at, listAt, mapAt, textAt } from "./access.ts";
import type { RuntimeMode } from "./validate.ts";

/** Kinds that only control planes may have. */
const controlPlaneOnly: ReadonlySet<string> = new Set([
  "KubeAPIServerConfig",
  "KubeAdmissionControlConfig",
  "KubeAggregatorCAConfig",
  "KubeAuditPolicyConfig",
  "KubeAuthenticationConfig",
  "KubeAuthorizerConfig",
  "KubeControllerManagerConfig",
  "KubeCoreDNSConfig",
  "KubeEtcdEncryptionConfig",
  "KubeFlannelCNIConfig",
  "KubeProxyConfig",
  "KubeSchedulerConfig",
  "KubeServiceAccountConfig",
  "KubeTalosAPIAccessConfig",
]);

/** Documents by themselves, each finding with the document's title before it. */
export function checkEachDocument(documents: readonly ConfigDocument[]): readonly string[] {
  return documents.flatMap((document) => {
    const { kind, name } = identityOfDocument(document);
    const title = name === "" ? kind : `${kind}/${name}`;
    return (ownRules.get(kind) ?? (() => []))(document.members).map((finding) => `${title}: ${finding}`);
  });
}

const ownRules: ReadonlyMap<string, (members: ConfigMap) => readonly string[]> = new Map([
  [
    "HostnameConfig",
    (members) => {
      const auto = textAt(members, "auto");
      const hostname = textAt(members, "hostname");
      if (auto !== "" && auto !== "off" && hostname !== "") return ["'auto' and 'hostname' cannot be set at the same time"];
      return [];
    },
  ],
  [
    "SideroLinkConfig",
    (members) => (/^(?:https|grpc):\/\//.test(textAt(members, "apiUrl")) ? [] : ["apiUrl scheme must be https:// or grpc://"]),
  ],
  ["KmsgLogConfig", (members) => (/^(?:tcp|udp):\/\//.test(textAt(members, "url")) ? [] : ["url scheme must be tcp:// or udp://"])],
]);

/** Documents against the v1alpha1 document, which must not set the same thing. */
export function checkAgainstV1alpha1(documents: readonly ConfigDocument[], v1alpha1: ConfigMap): readonly string[] {
  return documents.flatMap(({ shape, members }) => {
    switch (shape.kind) {
      case "HostnameConfig":
        if (textAt(v1alpha1, "machine", "network", "hostname") !== "") return ["static hostname is already set in v1alpha1 config"];
        if (at(v1alpha1, "machine", "features", "stableHostname") === true && textAt(members, "auto") !== "")
          return ["stableHostname is already set in v1alpha1 config"];
        return [];
      case "ResolverConfig":
        return listAt(v1alpha1, "machine", "network", "nameservers").length > 0 && listAt(members, "nameservers").length > 0
          ? [".machine.network.nameservers is already set in v1alpha1 config"]
          : [];
      case "TimeSyncConfig":
        return listAt(v1alpha1, "machine", "time", "servers").length > 0 && mapAt(members, "ntp") !== undefined
          ? ["time servers cannot be specified in both v1alpha1 and new-style configuration"]
          : [];
      case "KubeSpanConfig":
        return mapAt(v1alpha1, "machine", "network", "kubespan") === undefined
          ? []
          : ["kubespan is already configured in v1alpha1 machine.network.kubespan"];
      case "UnattendedInstallConfig":
        return mapAt(v1alpha1, "machine", "install") === undefined
          ? []
          : ["UnattendedInstallConfig config is incompatible with v1alpha1 config (.machine.install)"];
      case "KubeletConfig":
        return mapAt(v1alpha1, "machine", "kubelet") === undefined ? [] : [".machine.kubelet is already set in v1alpha1 config"];
      case "DiscoveryIdentityConfig":
        return textAt(v1alpha1, "cluster", "id") === "" ? [] : [".cluster.id is already set in v1alpha1 config"];
      default:
        return [];
    }
  });
}

/** What the documents of Talos 1.14 need of each other. */
export function checkTogether(documents: readonly ConfigDocument[], v1alpha1: ConfigMap | undefined, mode: RuntimeMode): readonly string[] {
  const first = (kind: string): ConfigMap | undefined => documents.find(({ shape }) => shape.kind === kind)?.members;
  const type = textAt(v1alpha1, "machine", "type");
  const isControlPlane = type === "controlplane" || type === "init";
  const misplaced = isControlPlane
    ? []
    : [...new Set(documents.map(({ shape }) => shape.kind).filter((kind) => controlPlaneOnly.has(kind)))];
  const identity = first("DiscoveryIdentityConfig");
  const hasDiscovery = first("DiscoveryServiceConfig") !== undefined || at(v1alpha1, "cluster", "discovery", "enabled") === true;
  const needs = (text: string, name: string): readonly string[] =>
    hasDiscovery && text === ""
      ? [
          `cluster ${name} (.cluster.${name === "ID" ? "id" : name} or DiscoveryIdentityConfig) should be set when cluster discovery (DiscoveryServiceConfig) is enabled`,
        ]
      : [];
  const hasKubernetesCa = textAt(first("KubeAPIServerCAConfig"), "issuingCA", "key") !== "";
  const hasEncryption =
    first("KubeEtcdEncryptionConfig") !== undefined ||
    textAt(v1alpha1, "cluster", "secretboxEncryptionSecret") !== "" ||
    textAt(v1alpha1, "cluster", "aescbcEncryptionSecret") !== "";
  const hasHostDns =
    at(first("ResolverConfig"), "hostDNS", "enabled") === true || at(v1alpha1, "machine", "features", "hostDNS", "enabled") === true;
  return [
    ...(misplaced.length === 0
      ? []
      : [`the following document kinds are only allowed on control plane machines: [${misplaced.join(" ")}]`]),
    ...needs(textAt(identity, "clusterID") || textAt(v1alpha1, "cluster", "id"), "ID"),
    ...needs(textAt(identity, "clusterSecret") || textAt(v1alpha1, "cluster", "secret"), "secret"),
    ...(isControlPlane && hasKubernetesCa && !hasEncryption
      ? ["etcd encryption config is required for control plane machines running kube-apiserver"]
      : []),
    ...(mode === "container" && !hasHostDns ? ["hostDNS config is required in container mode"] : []),
  ];
}
