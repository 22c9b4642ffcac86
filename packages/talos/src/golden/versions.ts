import { canonicalMachineConfig } from "../config/canonical.ts";
import { ConfigError } from "../config/errors.ts";
import { generateAdminKubeconfig } from "../kubeconfig/admin-kubeconfig.ts";
import { compareContracts, contractFor, featuresOf, parseContract, type ContractFeatures } from "../versions/contract.ts";
import {
  defaultClusterImages,
  imagesOfConfig,
  talosImages,
  type ClusterImages,
  type ImageOverrides,
  type TalosImages,
} from "../versions/component-images.ts";
import { kubernetesImages } from "../versions/images.ts";
import { defaultKubernetesFor, kubernetesUpgradePath, supportsKubernetes, supportsTalosUpgrade, type Verdict } from "../versions/matrix.ts";
import {
  compareRefusals,
  compareText,
  failed,
  notRun,
  passed,
  textOf,
  worstOf,
  type GoldenCase,
  type GoldenContext,
  type GoldenOutcome,
} from "./case.ts";

interface Row {
  readonly [key: string]: unknown;
  readonly error?: string | null;
}

/** The matrices of Talos and Kubernetes versions, and the admin kubeconfig. */
export function runKubernetes(golden: GoldenCase, context: GoldenContext): GoldenOutcome | Promise<GoldenOutcome> {
  const rows = (golden.expected["rows"] ?? []) as readonly Row[];
  switch (golden.input["op"]) {
    case "kubernetes-supported-with-talos":
      return worstOf(rows.map((row) => compareVerdict(() => supportsKubernetes(String(row["talos"]), String(row["kubernetes"])), row)));
    case "talos-upgradeable":
      return worstOf(rows.map((row) => compareVerdict(() => supportsTalosUpgrade(String(row["host"]), String(row["target"])), row)));
    case "upgrade-k8s-path":
      return worstOf(
        rows.map((row) => {
          const { path, isSupported } = kubernetesUpgradePath(String(row["from"]), String(row["to"]));
          return path === row["path"] && isSupported === row["supported"] ? passed : failed(`${path}: got ${isSupported}`);
        }),
      );
    case "summary":
      return runSummary(golden);
    case "admin-kubeconfig":
      return runKubeconfig(golden, context);
    default:
      return notRun(`no code for ${String(golden.input["op"])}`);
  }
}

function compareVerdict(judge: () => Verdict, row: Row): GoldenOutcome {
  const verdict = verdictOf(judge);
  // What a library says of a version that is none is its own.
  if (verdict === undefined)
    return typeof row.error === "string" && !/version|Talos/.test(row.error.replaceAll(/Version string|Short version/g, ""))
      ? passed
      : failed(`${JSON.stringify(row)}: got a refusal`);
  const got = verdict.ok ? null : verdict.reason;
  return got === row.error ? passed : failed(`${JSON.stringify(row)}: got ${JSON.stringify(got)}`);
}

/** `undefined` for a version that is none. */
function verdictOf(judge: () => Verdict): Verdict | undefined {
  try {
    return judge();
  } catch (error) {
    if (!(error instanceof ConfigError) || error.code !== "INVALID_VERSION") throw error;
    return undefined;
  }
}

/** The library of 1.13 does not know 1.14 yet; ours does. */
function runSummary(golden: GoldenCase): GoldenOutcome {
  const table = golden.expected["table"] as Readonly<
    Record<string, { supported: boolean; min_kubernetes?: string; max_kubernetes?: string; installable_from_host: readonly string[] }>
  >;
  return worstOf(
    Object.entries(table).flatMap(([talos, { supported, min_kubernetes: low, max_kubernetes: high, installable_from_host: hosts }]) => {
      if (!supported || low === undefined || high === undefined) return [];
      const accepts = (kubernetes: string, shift: number): boolean => {
        const [major, minor] = kubernetes.split(".").map(Number) as [number, number];
        return supportsKubernetes(`${talos}.0`, `${major}.${minor + shift}.0`).ok;
      };
      const isRange = accepts(low, 0) && !accepts(low, -1) && accepts(high, 0) && !accepts(high, 1);
      const isInstallable = hosts.every((host) => supportsTalosUpgrade(`${host}.0`, `${talos}.0`).ok);
      return isRange && isInstallable ? passed : failed(`Talos ${talos} differs`);
    }),
  );
}

async function runKubeconfig(golden: GoldenCase, context: GoldenContext): Promise<GoldenOutcome> {
  const { keys, now } = context;
  const refusal = golden.expected["load_error"] ?? golden.expected["error"];
  let text: string;
  try {
    const machineConfig = textOf(golden.input["config"], context);
    // The genuine tool reads the whole config before it looks for the authority.
    if (typeof golden.expected["load_error"] === "string")
      canonicalMachineConfig(machineConfig, { contract: contractOfSource(golden.source) });
    text = await generateAdminKubeconfig({ machineConfig, keys, now });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    if (typeof refusal !== "string") return failed(error.message);
    return error.code === "INVALID_INPUT" ? passed : compareRefusals(error.detail, refusal);
  }
  if (refusal !== undefined) return failed(`got a kubeconfig, want the refusal ${JSON.stringify(refusal)}`);
  const certificate = Buffer.from(/client-certificate-data: (\S+)/.exec(text)?.[1] ?? "", "base64").toString();
  const { organizations, commonName, notBefore, notAfter } = keys.describeCertificate(certificate);
  const wanted = golden.expected["client_certificate"] as { subject_o: readonly string[]; subject_cn: string; validity_hours: number };
  if (organizations.join() !== wanted.subject_o.join() || commonName !== wanted.subject_cn)
    return failed("the certificate has another subject");
  if (Math.abs((notAfter - notBefore) / 3_600_000 - wanted.validity_hours) > 0.01) return failed("the certificate has another validity");
  return compareText(
    text.replace(/(client-(?:certificate|key)-data): \S+/g, "$1: <random>"),
    textOf(golden.expected["kubeconfig"], context),
    "kubeconfig",
  );
}

function contractOfSource(source: string): string {
  return /^v(1\.\d+)/.exec(source)?.[1] ?? "1.15";
}

/** Names of our features, by those of the genuine contract. */
const featureNames: Readonly<Record<string, keyof ContractFeatures>> = {
  APIServerAuditPolicySupported: "auditPolicy",
  AddExcludeFromExternalLoadBalancer: "excludeFromExternalLoadBalancers",
  ApidExtKeyUsageCheckEnabled: "apidExtKeyUsageCheck",
  ClusterNameForWorkers: "clusterNameForWorkers",
  DiscoveryIdentityMultidocConfig: "kubernetesDocuments",
  DiscoveryServiceMultidocConfig: "kubernetesDocuments",
  DiskQuotaSupportEnabled: "diskQuota",
  FilesystemTrimEnabledByDefault: "kubernetesDocuments",
  GrubUseUKICmdlineDefault: "grubUseUkiCmdline",
  HideDisablePSP: "hideDisablePodSecurityPolicy",
  HideRBACAndKeyUsage: "hideRbacAndKeyUsage",
  HostDNSEnabled: "hostDns",
  HostDNSForwardKubeDNSToHost: "hostDnsForwardsKubeDns",
  HostDNSMultidocConfig: "kubernetesDocuments",
  KubePrismEnabled: "kubePrism",
  KubeSpanMultidocConfig: "kubeSpanDocument",
  KubeletDefaultRuntimeSeccompProfileEnabled: "kubeletSeccompDefault",
  KubeletManifestsDirectoryDisabled: "kubeletManifestsDirectoryDisabled",
  KubernetesAllowSchedulingOnControlPlanes: "allowSchedulingOnControlPlanes",
  KubernetesAlternateImageRegistries: "alternateImageRegistries",
  KubernetesDiscoveryBackendDisabled: "kubernetesDiscoveryDisabled",
  MultidocKubernetesConfigSupported: "kubernetesDocuments",
  MultidocNetworkConfigSupported: "networkDocuments",
  MultidocSysctlConfigSupported: "kubernetesDocuments",
  PodSecurityAdmissionEnabled: "podSecurityAdmission",
  PopulateClusterSANsFromEndpoint: "clusterSansFromEndpoint",
  SecretboxEncryptionSupported: "secretboxEncryption",
  StableHostnameEnabled: "stableHostname",
  UnattendedInstallConfig: "kubernetesDocuments",
  UseRSAServiceAccountKey: "rsaServiceAccountKey",
  WorkloadIsolationEnabledByDefault: "kubernetesDocuments",
};

/** The version contract: features per version, parsing and order. `current`, the absent contract, is not ours: ours is always given. */
export function runVersionContract(golden: GoldenCase): GoldenOutcome {
  switch (golden.input["op"]) {
    case "features": {
      const table = golden.expected_newer?.["table"] ?? golden.expected["table"];
      return worstOf(
        Object.entries(table as Readonly<Record<string, Readonly<Record<string, boolean>>>>).flatMap(([version, features]) =>
          version === "current" ? [] : compareFeatures(version, features),
        ),
      );
    }
    case "parse":
      return worstOf((golden.expected["results"] as readonly { in: string; string?: string; error: string | null }[]).map(compareParsed));
    case "greater":
      return worstOf(
        (golden.expected["results"] as readonly { a: string; b: string; a_greater_than_b: boolean }[]).flatMap(
          ({ a, b, a_greater_than_b: wanted }) => {
            if (a === "current" || b === "current") return [];
            return compareContracts(a, b) > 0 === wanted ? passed : failed(`${a} > ${b}`);
          },
        ),
      );
    default:
      return notRun(`no code for ${String(golden.input["op"])}`);
  }
}

function compareFeatures(version: string, wanted: Readonly<Record<string, boolean>>): readonly GoldenOutcome[] {
  const features = featuresOf(version);
  return Object.entries(featureNames).map(([name, ours]) => (features[ours] === wanted[name] ? passed : failed(`${version}: ${name}`)));
}

function compareParsed({
  in: text,
  string: wanted,
  error,
}: {
  readonly in: string;
  readonly string?: string;
  readonly error: string | null;
}): GoldenOutcome {
  try {
    parseContract(text);
    return `v${contractFor(text)}` === wanted ? passed : failed(`${JSON.stringify(text)} is v${contractFor(text)}`);
  } catch (caught) {
    if (!(caught instanceof ConfigError)) throw caught;
    return caught.detail === error ? passed : failed(`${JSON.stringify(text)}: got ${caught.detail}`);
  }
}

/** Default images and versions, and the images that a config uses. */
export function runImages(golden: GoldenCase, context: GoldenContext): GoldenOutcome {
  switch (golden.input["op"]) {
    case "constants":
      return runImageConstants(golden);
    case "talos-bundle":
      return compareImages(talosImages(String(golden.input["tag"])), talosImageNames, golden);
    case "images-of-config":
      return runImagesOfConfig(golden, context);
    default:
      return notRun(`no code for ${String(golden.input["op"])}`);
  }
}

/** Names of our images, by those of the cases. */
const clusterImageNames: Readonly<Record<string, keyof ClusterImages>> = {
  coredns: "coreDns",
  etcd: "etcd",
  flannel: "flannel",
  kube_apiserver: "apiServer",
  kube_controller_manager: "controllerManager",
  kube_network_policies: "kubeNetworkPolicies",
  kube_proxy: "proxy",
  kube_scheduler: "scheduler",
  kubelet: "kubelet",
  pause: "pause",
};

const talosImageNames: Readonly<Record<string, keyof TalosImages>> = {
  extensions: "extensions",
  imager: "imager",
  installer: "installer",
  installer_base: "installerBase",
  overlays: "overlays",
  talos: "talos",
  talosctl_all: "talosctlAll",
};

/** Names of our overrides, by those of the cases. */
const overrideNames: Readonly<Record<string, keyof ImageOverrides>> = {
  kubernetes: "kubernetes",
  coredns: "coreDns",
  etcd: "etcd",
  flannel: "flannel",
  pause: "pause",
  kube_network_policies: "kubeNetworkPolicies",
};

function runImagesOfConfig(golden: GoldenCase, context: GoldenContext): GoldenOutcome {
  const given = Object.entries((golden.input["overrides"] ?? {}) as Readonly<Record<string, string>>);
  const overrides = Object.fromEntries(given.map(([name, tag]) => [overrideNames[name] ?? name, tag])) as ImageOverrides;
  return compareImages(
    imagesOfConfig(textOf(golden.input["config"], context), releaseOf(golden.source), overrides),
    clusterImageNames,
    golden,
  );
}

function compareImages<T extends object>(images: T, names: Readonly<Record<string, keyof T>>, golden: GoldenCase): GoldenOutcome {
  const wanted = golden.expected["images"] as Readonly<Record<string, string>>;
  return worstOf(
    Object.entries(wanted).map(([name, want]) => {
      const own = names[name];
      const got = own === undefined ? undefined : images[own];
      return got === want ? passed : failed(`${name}: got ${String(got)}, want ${want}`);
    }),
  );
}

/** The release that a source stands for: its own, or the newest. */
function releaseOf(source: string): string {
  return source.startsWith("main") ? "v1.15.0" : source;
}

function runImageConstants(golden: GoldenCase): GoldenOutcome {
  const table = golden.expected["table"] as Readonly<Record<string, string>>;
  const version = releaseOf(String(golden.input["version"]));
  const images = kubernetesImages("1.0.0");
  const defaults = defaultClusterImages(version);
  const pairs: readonly (readonly [string, string | undefined])[] = [
    [defaultKubernetesFor(version), table["default_kubernetes_version"]],
    [images.kubelet, `${table["kubelet_image"]}:v1.0.0`],
    [images.apiServer, `${table["kube_apiserver_image"]}:v1.0.0`],
    [images.controllerManager, `${table["kube_controller_manager_image"]}:v1.0.0`],
    [images.scheduler, `${table["kube_scheduler_image"]}:v1.0.0`],
    [images.proxy, `${table["kube_proxy_image"]}:v1.0.0`],
    [defaults.coreDns, `${table["coredns_image"]}:${table["coredns_version"]}`],
    [defaults.etcd, `${table["etcd_image"]}:${table["etcd_version"]}`],
    [defaults.flannel, `ghcr.io/siderolabs/flannel:${table["flannel_version"]}`],
  ];
  return worstOf(pairs.map(([got, want]) => (got === want ? passed : failed(`got ${got}, want ${want}`))));
}
