import type { ConfigMap } from "../../document/value.ts";
import { sortedByBytes } from "../../yaml/key-order.ts";
import { formatPrefix, tryParsePrefix, type Prefix } from "../../scalars/ip.ts";
import { at, integerAt, isThere, mapAt, textAt, textsAt } from "../access.ts";
import { listOf, type Report } from "../report.ts";
import { isSubnetOrAddress } from "../text/address.ts";
import { whyNotCertificate, whyNotKey, whyNotPair, whyNotPem } from "../text/pem.ts";
import { quoted } from "../text/quote.ts";
import { parseUrl, refusalOfEndpoint } from "../text/url.ts";
import { isRole } from "../v1alpha1/check.ts";
import { authorizerTypes, checkPodResources } from "../v1alpha1/components.ts";
import { protectedKubeletFields } from "../v1alpha1/kubelet.ts";
import { checkAnnotations, checkDomain, checkLabels, checkTaints } from "../v1alpha1/labels.ts";
import { hasNoHostBits } from "./bgp.ts";
import type { DocumentRule } from "./rule.ts";

/** A subnet must hold this many bits of addresses. */
const fewestHostBits = 4;
/** The API server takes no larger range of service addresses. */
const mostServiceHostBits = 20;
/** The controller manager cuts a pod subnet into no more than 2^16 subnets of machines. */
const mostNodeBits = 16;

function checkResources(members: ConfigMap, report: Report): void {
  const refusal = checkPodResources(mapAt(members, "resources"));
  if (refusal !== undefined) report.error(refusal);
}

/** A component that can be switched off; then nothing else of it counts. */
function component(title: string): DocumentRule {
  return (members, report) => {
    if (at(members, "enabled") === false) return;
    report.errorIf(textAt(members, "image") === "", `${title} image cannot be empty`);
    checkResources(members, report);
  };
}

/** Arguments that other documents set. */
const deniedArguments: readonly (readonly [prefix: string, remedy: string])[] = [
  ["anonymous-auth", "use KubeAuthenticationConfig"],
  ["authentication-config", "use KubeAuthenticationConfig"],
  ["authorization-config", "use KubeAuthorizationConfig"],
  ["authorization-mode", "use KubeAuthorizationConfig"],
  ["authorization-webhook-", "use KubeAuthorizationConfig"],
  ["oidc-", "use KubeAuthenticationConfig"],
];

const apiServer: DocumentRule = (members, report) => {
  report.errorIf(textAt(members, "image") === "", "kube-apiserver image cannot be empty");
  const names = [...sortedByBytes(mapAt(members, "extraArgs") ?? new Map()).keys()];
  for (const [prefix, remedy] of deniedArguments) {
    for (const name of names.filter((item) => item.startsWith(prefix))) {
      report.error(`kube-apiserver extra argument ${quoted(name)} is not allowed: ${remedy}`);
    }
  }
  checkResources(members, report);
};

const proxy: DocumentRule = (members, report) => {
  if (at(members, "enabled") === false) return;
  const mode = textAt(members, "mode");
  report.errorIf(textAt(members, "image") === "", "proxy image cannot be empty");
  if (mode === "iptables" || mode === "ipvs")
    report.warning(`proxy mode ${quoted(mode)} is not recommended, please switch to nftables if possible`);
  report.errorIf(
    !["", "nftables", "iptables", "ipvs"].includes(mode),
    `invalid proxy mode ${quoted(mode)}: supported modes are iptables, ipvs and nftables`,
  );
  if ((mapAt(members, "extraArgs")?.size ?? 0) > 0)
    report.warning("extra arguments for kube-proxy may not work as expected, please use configuration instead");
  checkResources(members, report);
};

const kubelet: DocumentRule = (members, report) => {
  report.errorIf(textAt(members, "image") === "", "kubelet image cannot be empty");
  const config = mapAt(members, "config");
  for (const field of protectedKubeletFields) {
    report.errorIf(config?.has(field) === true, `kubelet configuration field ${quoted(field)} can't be overridden`);
  }
};

const node: DocumentRule = (members, report) => {
  for (const subnet of textsAt(members, "nodeIP", "validSubnets").map((text) => text.replace(/^!/, ""))) {
    report.errorIf(!isSubnetOrAddress(subnet), `nodeIP subnet is not valid: ${quoted(subnet)}`);
  }
  for (const [title, errors] of [
    ["labels", checkLabels(mapAt(members, "labels"))],
    ["annotations", checkAnnotations(mapAt(members, "annotations"))],
    ["taints", checkTaints(mapAt(members, "taints"))],
  ] as const) {
    report.errorIf(errors.length > 0, `invalid node ${title}: ${listOf(errors)}`);
  }
};

/** How large the pod subnet of one machine is, by address family: as said, or as Talos takes it. */
const nodeMasks = [
  { field: "nodeCIDRMaskSizeIPv4", family: 4, longest: 32n, byDefault: 24n },
  { field: "nodeCIDRMaskSizeIPv6", family: 6, longest: 128n, byDefault: 64n },
] as const;

const network: DocumentRule = (members, report) => {
  const pods = textsAt(members, "podSubnets");
  const services = textsAt(members, "serviceSubnets");
  const masks = new Map<number, number>();
  for (const { field, family, longest, byDefault } of nodeMasks) {
    const given = integerAt(members, field);
    if (given < 0n || given > longest) report.error(`${field} must be between 1 and ${longest}`);
    else masks.set(family, Number(given === 0n ? byDefault : given));
  }
  for (const [title, subnets, whyNotSize] of [
    ["pod", pods, (prefix: Prefix): string | undefined => whyNotForPods(prefix, masks.get(prefix.address.family))],
    ["service", services, whyNotForServices],
  ] as const) {
    const refusal = whyNotSubnets(subnets, whyNotSize);
    if (refusal !== undefined) report.error(`${title} subnets: ${refusal}`);
  }
  report.errorIf(pods.length !== services.length, "the number of pod subnets must match the number of service subnets");
};

/** Nothing is said of a family whose mask is wrong by itself. */
function whyNotForPods(prefix: Prefix, mask: number | undefined): string | undefined {
  if (mask === undefined) return undefined;
  const subnet = formatPrefix(prefix);
  if (prefix.length > mask) return `${subnet} is smaller than the per-node pod CIDR mask size /${mask}`;
  return mask - prefix.length > mostNodeBits
    ? `${subnet} is too large for the per-node pod CIDR mask size /${mask}, the difference must be at most ${mostNodeBits} bits`
    : undefined;
}

function whyNotForServices(prefix: Prefix): string | undefined {
  const shortest = bitsOf(prefix) - mostServiceHostBits;
  return prefix.length < shortest
    ? `${formatPrefix(prefix)} is too large, it must be at least /${shortest} (at most ${mostServiceHostBits} host identifier bits)`
    : undefined;
}

function bitsOf({ address }: Prefix): number {
  return address.family === 4 ? 32 : 128;
}

function whyNotSubnets(subnets: readonly string[], whyNotSize: (prefix: Prefix) => string | undefined): string | undefined {
  if (subnets.length === 0) return "at least one subnet must be specified";
  if (subnets.length > 2) return "at most two subnets can be specified for dual-stack clusters";
  const families: number[] = [];
  for (const text of subnets) {
    const prefix = tryParsePrefix(text);
    if (prefix === undefined) return "invalid subnet: invalid Prefix";
    if (!hasNoHostBits(prefix)) return `invalid subnet: ${text} is not a valid CIDR`;
    if (bitsOf(prefix) - prefix.length < fewestHostBits)
      return `invalid subnet: /${prefix.length} is too small, it must be larger than /${prefix.length - fewestHostBits}`;
    const refusal = whyNotSize(prefix);
    if (refusal !== undefined) return `invalid subnet: ${refusal}`;
    families.push(prefix.address.family);
  }
  return new Set(families).size < families.length
    ? "at most one IPv4 and one IPv6 subnet can be specified for dual-stack clusters"
    : undefined;
}

function checkAuthority(members: ConfigMap, report: Report): void {
  const issuing = mapAt(members, "issuingCA");
  const refusal = issuing === undefined ? undefined : (whyNotPair(issuing) ?? whyNotReadable(issuing));
  if (refusal !== undefined) report.error(`issuing CA: ${refusal}`);
  textsAt(members, "acceptedCAs").forEach((certificate, index) => {
    const why = whyNotPem(certificate, "CERTIFICATE");
    if (why !== undefined) report.error(`accepted CA #${index}: ${why}`);
  });
}

/** What Talos says of a certificate and its key when it loads them. */
function whyNotReadable(pair: ConfigMap): string | undefined {
  const bad = whyNotCertificate(textAt(pair, "cert"));
  if (bad !== undefined) return `certificate is invalid: ${bad}`;
  const badKey = whyNotKey(textAt(pair, "key"));
  return badKey === undefined ? undefined : `key is invalid: ${badKey}`;
}

const aggregatorAuthority: DocumentRule = (members, report) => {
  report.errorIf(!isThere(members, "issuingCA"), "issuing CA is not set");
  checkAuthority(members, report);
};

const serviceAccount: DocumentRule = (members, report) => {
  const key = textAt(members, "issuer", "privateKey");
  const refusal = key === "" ? undefined : whyNotKey(key);
  report.errorIf(key === "", "service issuer private key is required");
  if (refusal !== undefined) report.error(`service issuer private key is invalid: ${refusal}`);
  report.errorIf(!isThere(members, "issuer", "issuerURL"), "service issuer URL is required");
};

const cluster: DocumentRule = (members, report) => {
  report.errorIf(textAt(members, "clusterName") === "", "clusterName must be specified");
  if (!isThere(members, "endpoint")) return report.error("endpoint must be specified");
  const refusal = refusalOfEndpoint(textAt(members, "endpoint"));
  if (refusal !== undefined) report.error(`cluster endpoint is invalid: ${refusal}`);
};

const prism: DocumentRule = (members, report) => {
  const port = integerAt(members, "port");
  report.errorIf(port <= 0n || port > 65_535n, `invalid port ${port}: must be in range 1-65535`);
};

const authorizer: DocumentRule = (members, report) => {
  const type = textAt(members, "type");
  const hasWebhook = (mapAt(members, "webhook")?.size ?? 0) > 0;
  report.errorIf(textAt(members, "name") === "", "authorizer name is required");
  report.errorIf(type === "", "authorizer type is required");
  report.errorIf(
    !authorizerTypes.includes(type),
    `authorizer type ${type} is not allowed, allowed types are [${authorizerTypes.join(" ")}]`,
  );
  report.errorIf(type === "Webhook" && !hasWebhook, "authorizer webhook configuration is required for Webhook authorizer type");
  if (type !== "Webhook" && hasWebhook) report.warning("authorizer webhook configuration is not allowed non-Webhook authorizer types");
};

function checkManifestName(members: ConfigMap, title: string, report: Report): void {
  const name = textAt(members, "name");
  const refusal = name === "" ? undefined : checkDomain(name);
  report.errorIf(name === "", `${title} name is required`);
  if (refusal !== undefined) report.error(`${title} name is invalid: ${refusal}`);
}

const externalManifest: DocumentRule = (members, report) => {
  checkManifestName(members, "manifest", report);
  const parsed = textAt(members, "url") === "" ? undefined : parseUrl(textAt(members, "url"));
  if (parsed === undefined || "refusal" in parsed) return report.error("manifest URL is required");
  const { scheme } = parsed.url;
  report.errorIf(!["http", "https"].includes(scheme), `manifest URL scheme must be http or https: ${quoted(scheme)}`);
};

const staticPod: DocumentRule = (members, report) => {
  checkManifestName(members, "static pod", report);
  report.errorIf((mapAt(members, "pod")?.size ?? 0) === 0, "static pod spec is required");
};

/** Kubernetes: components, networks, authorities, manifests. */
export const kubernetesRules: Readonly<Record<string, DocumentRule>> = {
  KubeAPIServerCAConfig: checkAuthority,
  KubeAPIServerConfig: apiServer,
  KubeAdmissionControlConfig: (members, report) =>
    report.errorIf(textAt(members, "name") === "", "admission control plugin name is required"),
  KubeAggregatorCAConfig: aggregatorAuthority,
  KubeAuthorizerConfig: authorizer,
  KubeClusterConfig: cluster,
  KubeControllerManagerConfig: component("kube-controller-manager"),
  KubeEtcdEncryptionConfig: (members, report) =>
    report.errorIf((mapAt(members, "config")?.size ?? 0) === 0, "etcd encryption config is required"),
  KubeExternalManifestConfig: externalManifest,
  KubeFlannelCNIConfig: (members, report) => {
    report.errorIf(textAt(members, "backendType") === "", "flannel backend type must be specified");
    checkResources(members, report);
  },
  KubeInlineManifestConfig: (members, report) => checkManifestName(members, "manifest", report),
  KubeNetworkConfig: network,
  KubeNodeConfig: node,
  KubePrismConfig: prism,
  KubeProxyConfig: proxy,
  KubeSchedulerConfig: component("scheduler"),
  KubeServiceAccountConfig: serviceAccount,
  KubeStaticPodConfig: staticPod,
  KubeTalosAPIAccessConfig: (members, report) => {
    for (const role of textsAt(members, "allowedRoles")) {
      report.errorIf(!isRole(role), `invalid role ${quoted(role)} in .allowedRoles`);
    }
  },
  KubeletConfig: kubelet,
};
