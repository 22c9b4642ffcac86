import type { ConfigDocument } from "../document/load.ts";
import type { ConfigMap } from "../document/value.ts";
import { isOn, isThere, mapAt, mapsAt, textAt } from "./access.ts";
import type { Report } from "./report.ts";
import type { RuleSet } from "./rule-set.ts";
import { parseUrl } from "./text/url.ts";
import { checkContainerDependencies } from "./container-dependencies.ts";
import { isControlPlane } from "./v1alpha1/check.ts";

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

/** What the documents of Talos 1.14 need of each other, v1alpha1 among them. */
export function checkTogether(
  documents: readonly ConfigDocument[],
  v1alpha1: ConfigMap | undefined,
  { mode }: RuleSet,
  report: Report,
): void {
  const first = (kind: string): ConfigMap | undefined => documents.find(({ shape }) => shape.kind === kind)?.members;
  const hostDns = hostDnsOf(first("ResolverConfig"), v1alpha1);
  if (mode === "container") checkContainer(hostDns, report);
  const servers = mapsAt(first("ResolverConfig"), "nameservers");
  report.errorIf(
    servers.some((server) => !["", "Do53"].includes(textAt(server, "protocol"))) && !isOn(hostDns, "enabled"),
    "hostDNS must be enabled when using non-default DNS protocols",
  );
  checkDiscovery(first, v1alpha1, report);
  checkContainerDependencies(
    documents.filter(({ shape }) => shape.kind === "ContainerConfig").map(({ members }) => members),
    report,
  );
  checkKubeSpan(first, v1alpha1, report);
  const isOnControlPlane = isControlPlane(v1alpha1);
  const runsApiServer =
    first("KubeAPIServerCAConfig") !== undefined || isThere(v1alpha1, "cluster", "ca") || isThere(v1alpha1, "cluster", "acceptedCAs");
  const hasEncryption =
    first("KubeEtcdEncryptionConfig") !== undefined ||
    textAt(v1alpha1, "cluster", "secretboxEncryptionSecret") !== "" ||
    textAt(v1alpha1, "cluster", "aescbcEncryptionSecret") !== "";
  report.errorIf(
    isOnControlPlane && runsApiServer && !hasEncryption,
    "etcd encryption config is required for control plane machines running kube-apiserver",
  );
  if (isOnControlPlane) return;
  const misplaced = [...new Set(documents.map(({ shape }) => shape.kind).filter((kind) => controlPlaneOnly.has(kind)))].toSorted();
  report.errorIf(misplaced.length > 0, `the following document kinds are only allowed on control plane machines: [${misplaced.join(" ")}]`);
}

/** The settings of the local resolver: of the document where that switches it on, else of v1alpha1. */
function hostDnsOf(resolver: ConfigMap | undefined, v1alpha1: ConfigMap | undefined): ConfigMap | undefined {
  return isOn(resolver, "hostDNS", "enabled") ? mapAt(resolver, "hostDNS") : mapAt(v1alpha1, "machine", "features", "hostDNS");
}

function checkContainer(hostDns: ConfigMap | undefined, report: Report): void {
  if (hostDns === undefined) return report.error("hostDNS config is required in container mode");
  report.errorIf(!isOn(hostDns, "enabled"), "hostDNS must be enabled in container mode");
  report.errorIf(!isOn(hostDns, "forwardKubeDNSToHost"), "forwardKubeDNSToHost must be enabled in container mode");
}

function checkKubeSpan(first: (kind: string) => ConfigMap | undefined, v1alpha1: ConfigMap | undefined, report: Report): void {
  const kubeSpan = first("KubeSpanConfig") ?? mapAt(v1alpha1, "machine", "network", "kubespan");
  report.errorIf(isOn(kubeSpan, "enabled") && !hasDiscovery(first, v1alpha1), "KubeSpan requires cluster discovery to be enabled");
}

/** A service whose address cannot be read is none. */
function hasDiscovery(first: (kind: string) => ConfigMap | undefined, v1alpha1: ConfigMap | undefined): boolean {
  if (first("DiscoveryServiceConfig") !== undefined) return true;
  const legacy = mapAt(v1alpha1, "cluster", "discovery");
  const endpoint = textAt(legacy, "registries", "service", "endpoint");
  return (
    isOn(legacy, "enabled") && !isOn(legacy, "registries", "service", "disabled") && (endpoint === "" || !("refusal" in parseUrl(endpoint)))
  );
}

function checkDiscovery(first: (kind: string) => ConfigMap | undefined, v1alpha1: ConfigMap | undefined, report: Report): void {
  if (!hasDiscovery(first, v1alpha1)) return;
  const identity = first("DiscoveryIdentityConfig");
  for (const [title, field, own] of [
    ["ID", "id", "clusterID"],
    ["secret", "secret", "clusterSecret"],
  ] as const) {
    report.errorIf(
      (textAt(identity, own) || textAt(v1alpha1, "cluster", field)) === "",
      `cluster ${title} (.cluster.${field} or DiscoveryIdentityConfig) should be set when cluster discovery (DiscoveryServiceConfig) is enabled`,
    );
  }
}
