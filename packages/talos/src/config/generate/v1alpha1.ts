import type { KeyPair } from "@talos-operator/ports";
import { featuresOf, type ContractFeatures } from "../../versions/contract.ts";
import type { YamlMapping } from "../yaml/emit.ts";
import { sortedByKey } from "../yaml/key-order.ts";
import { formatDiskSize } from "../scalars/bytes.ts";
import type { Endpoint } from "./check-input.ts";
import {
  alternateRegistryMirror,
  auditPolicy,
  componentImage,
  excludeFromLoadBalancers,
  kubePrismPortOf,
  podSecurityConfiguration,
  subnetsOf,
  unlessBlank,
  unlessEmpty,
} from "./defaults.ts";
import type { MachineConfigInput, NetworkInput, NetworkInterfaceInput } from "./input.ts";

interface Context {
  readonly input: MachineConfigInput;
  readonly features: ContractFeatures;
  readonly endpoint: Endpoint;
  readonly isControlPlane: boolean;
}

/** The v1alpha1 document. From contract 1.14 on it holds little more than identity; the rest is in documents of its own. */
export function v1alpha1Document(input: MachineConfigInput, endpoint: Endpoint): YamlMapping {
  const features = featuresOf(input.contract);
  const context: Context = { input, features, endpoint, isControlPlane: input.role !== "worker" };
  return {
    version: "v1alpha1",
    debug: input.debug ?? false,
    persist: true,
    machine: machineSection(context),
    cluster: features.kubernetesDocuments ? slimClusterSection(context) : clusterSection(context),
  };
}

function machineSection(context: Context): YamlMapping {
  const { input, features, isControlPlane } = context;
  const identity = {
    type: input.role,
    token: input.secrets.trustdInfo.token,
    ca: authority(input.secrets.certs.os, isControlPlane),
    certSANs: input.additionalSans ?? [],
  };
  if (features.kubernetesDocuments) return { ...identity, features: { diskQuotaSupport: true } };
  const sysctls = Object.keys(input.sysctls ?? {}).length === 0 ? undefined : sortedByKey(input.sysctls ?? {});
  return {
    ...identity,
    kubelet: {
      image: componentImage(input, "kubelet"),
      defaultRuntimeSeccompProfileEnabled: features.kubeletSeccompDefault ? true : undefined,
      disableManifestsDirectory: features.kubeletManifestsDirectoryDisabled ? true : undefined,
    },
    network: networkSection(context),
    disks: disksSection(context),
    install: input.platform === "container" ? undefined : installSection(context),
    time: input.timeSync === false && !features.networkDocuments ? { disabled: true } : undefined,
    sysctls,
    registries: features.networkDocuments ? undefined : registriesSection(context),
    features: featuresSection(context),
    nodeLabels: isControlPlane && features.excludeFromExternalLoadBalancers ? { [excludeFromLoadBalancers]: "" } : undefined,
  };
}

function networkSection({ input, features, isControlPlane }: Context): YamlMapping | undefined {
  const interfaces = unlessEmpty(interfacesOf(input.network, isControlPlane));
  const nameservers = unlessEmpty(input.network?.nameservers);
  const inside = features.kubeSpanDocument ? undefined : input.kubeSpan;
  const enabled = inside ?? (input.network?.kubeSpan === true ? true : undefined);
  const kubespan = enabled === undefined ? undefined : { enabled };
  const isEmpty = interfaces === undefined && nameservers === undefined && kubespan === undefined;
  return isEmpty && features.kubeSpanDocument && input.network === undefined ? undefined : { interfaces, nameservers, kubespan };
}

function interfacesOf(network: NetworkInput | undefined, isControlPlane: boolean): YamlMapping[] {
  // A shared address is nothing for a worker, and an interface of which nothing else is said neither.
  const isSaid = ({ vip, ...rest }: NetworkInterfaceInput): boolean => isControlPlane || vip === undefined || Object.keys(rest).length > 1;
  return (network?.interfaces ?? []).filter(isSaid).map((link) => ({
    interface: link.name,
    addresses: unlessEmpty(link.addresses),
    mtu: link.mtu === 0 ? undefined : link.mtu,
    dhcp: link.dhcp,
    ignore: link.ignore,
    dhcpOptions:
      link.dhcpv4 === undefined && link.dhcpv6 === undefined ? undefined : { routeMetric: 0, ipv4: link.dhcpv4, ipv6: link.dhcpv6 },
    vip: link.vip === undefined || !isControlPlane ? undefined : { ip: link.vip },
  }));
}

function disksSection({ input }: Context): YamlMapping[] | undefined {
  if (input.userDisks === undefined || input.userDisks.length === 0) return undefined;
  return input.userDisks.map(({ device, partitions }) => ({
    device,
    partitions: unlessEmpty(
      partitions.map(({ mountpoint, sizeBytes }) => ({
        size: sizeBytes === undefined || sizeBytes === 0 ? undefined : formatDiskSize(sizeBytes),
        mountpoint,
      })),
    ),
  }));
}

function installSection({ input, features }: Context): YamlMapping {
  const install = input.install ?? {};
  return {
    disk: unlessBlank(install.disk),
    extraKernelArgs: unlessEmpty(install.extraKernelArgs),
    image: unlessBlank(install.image),
    wipe: install.wipe ?? false,
    grubUseUKICmdline: features.grubUseUkiCmdline ? true : undefined,
  };
}

function registriesSection({ input, features }: Context): YamlMapping | undefined {
  const mirrors = new Map(Object.entries(input.registryMirrors ?? {}));
  if (features.alternateImageRegistries && !mirrors.has(alternateRegistryMirror[0])) mirrors.set(...alternateRegistryMirror);
  const tls = Object.entries(input.registryTls ?? {});
  if (mirrors.size === 0 && tls.length === 0) return undefined;
  return {
    mirrors: mirrors.size === 0 ? undefined : sortedByKey(new Map([...mirrors].map(([host, endpoints]) => [host, { endpoints }]))),
    config:
      tls.length === 0
        ? undefined
        : sortedByKey(
            new Map(
              tls.map(([host, { ca, insecureSkipVerify }]) => [
                host,
                { tls: { ca: ca === undefined ? undefined : base64(ca), insecureSkipVerify } },
              ]),
            ),
          ),
  };
}

function featuresSection({ input, features }: Context): YamlMapping {
  const kubePrismPort = kubePrismPortOf(input, features.kubePrism);
  const forwards = input.forwardKubeDnsToHost ?? (features.hostDnsForwardsKubeDns || (input.platform === "container" && features.hostDns));
  return {
    rbac: features.hideRbacAndKeyUsage ? undefined : true,
    stableHostname: features.stableHostname && !features.networkDocuments ? true : undefined,
    apidCheckExtKeyUsage: features.apidExtKeyUsageCheck && !features.hideRbacAndKeyUsage ? true : undefined,
    diskQuotaSupport: features.diskQuota ? true : undefined,
    kubePrism: kubePrismPort === 0 ? undefined : { enabled: true, port: kubePrismPort },
    hostDNS: features.hostDns ? { enabled: true, forwardKubeDNSToHost: forwards ? true : undefined } : undefined,
  };
}

function clusterSection(context: Context): YamlMapping {
  const { input, features, endpoint, isControlPlane } = context;
  const { secrets } = input;
  const { podSubnets, serviceSubnets } = subnetsOf(input, false);
  const common = {
    id: secrets.cluster.id,
    secret: secrets.cluster.secret,
    controlPlane: { endpoint: endpoint.url, localAPIServerPort: isControlPlane ? nonZero(input.localApiServerPort) : undefined },
    clusterName: isControlPlane || features.clusterNameForWorkers ? input.clusterName : undefined,
    network: {
      cni:
        input.cni === undefined
          ? undefined
          : {
              name: input.cni.name,
              urls: unlessEmpty(input.cni.urls),
              flannel: input.cni.flannel === undefined ? undefined : { extraArgs: unlessEmpty(input.cni.flannel.extraArgs) },
            },
      dnsDomain: input.dnsDomain ?? "cluster.local",
      podSubnets,
      serviceSubnets,
    },
    token: secrets.secrets.bootstrapToken,
  };
  const discovery = {
    enabled: input.discovery ?? true,
    registries: { kubernetes: features.kubernetesDiscoveryDisabled ? { disabled: true } : {}, service: {} },
  };
  const mayBeScheduled = input.allowSchedulingOnControlPlanes === true;
  if (!isControlPlane) return { ...common, ca: authority(secrets.certs.k8s, false), discovery };
  return {
    ...common,
    aescbcEncryptionSecret:
      !features.secretboxEncryption || input.keepAesCbcSecret === true ? secrets.secrets.aescbcEncryptionSecret : undefined,
    secretboxEncryptionSecret: features.secretboxEncryption ? secrets.secrets.secretboxEncryptionSecret : undefined,
    ca: authority(secrets.certs.k8s, true),
    aggregatorCA: authority(secrets.certs.k8sAggregator, true),
    serviceAccount: { key: base64(secrets.certs.k8sServiceAccount.key) },
    apiServer: apiServerSection(context),
    controllerManager: { image: componentImage(input, "kube-controller-manager") },
    proxy: { image: componentImage(input, "kube-proxy") },
    scheduler: { image: componentImage(input, "kube-scheduler") },
    discovery,
    etcd: { ca: authority(secrets.certs.etcd, true) },
    allowSchedulingOnControlPlanes: mayBeScheduled && features.allowSchedulingOnControlPlanes ? true : undefined,
    allowSchedulingOnMasters: mayBeScheduled && !features.allowSchedulingOnControlPlanes ? true : undefined,
  };
}

function apiServerSection({ input, features, endpoint }: Context): YamlMapping {
  const sans = [...(features.clusterSansFromEndpoint ? [endpoint.host] : []), ...(input.additionalSans ?? [])];
  return {
    image: componentImage(input, "kube-apiserver"),
    certSANs: unlessEmpty(sans),
    disablePodSecurityPolicy: features.hideDisablePodSecurityPolicy ? undefined : true,
    admissionControl: features.podSecurityAdmission ? [{ name: "PodSecurity", configuration: podSecurityConfiguration }] : undefined,
    auditPolicy: features.auditPolicy ? auditPolicy : undefined,
  };
}

function slimClusterSection({ input, isControlPlane }: Context): YamlMapping {
  if (input.withoutKubernetes === true && isControlPlane) return {};
  return {
    token: input.secrets.secrets.bootstrapToken,
    etcd: isControlPlane ? { ca: authority(input.secrets.certs.etcd, true) } : undefined,
  };
}

/** Workers get the certificate alone; Talos writes their key as an empty string. */
function authority({ certificate, key }: KeyPair, withKey: boolean): YamlMapping {
  return { crt: base64(certificate), key: withKey ? base64(key) : "" };
}

function nonZero(port: number | undefined): number | undefined {
  return port === 0 ? undefined : port;
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
