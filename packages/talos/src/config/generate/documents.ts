import { featuresOf } from "../../versions/contract.ts";
import type { YamlMapping, YamlValue } from "../yaml/emit.ts";
import { sortedByBytes, sortedByKey } from "../yaml/key-order.ts";
import type { Endpoint } from "./check-input.ts";
import {
  auditPolicy,
  componentImage,
  excludeFromLoadBalancers,
  kubePrismPortOf,
  podSecurityConfiguration,
  subnetsOf,
  unlessBlank,
  unlessEmpty,
} from "./defaults.ts";
import type { MachineConfigInput } from "./input.ts";

/** The documents after v1alpha1, in the order in which Talos writes them. */
export function documentsAfterV1alpha1(input: MachineConfigInput, endpoint: Endpoint): readonly YamlMapping[] {
  const features = featuresOf(input.contract);
  const withKubernetes = features.kubernetesDocuments && input.withoutKubernetes !== true;
  return [
    ...(features.kubernetesDocuments ? machineDocuments(input) : []),
    ...(features.networkDocuments
      ? [...registryDocuments(input), document("HostnameConfig", { auto: "stable" }), ...timeDocuments(input)]
      : []),
    ...(features.kubeSpanDocument && input.kubeSpan !== undefined ? [document("KubeSpanConfig", { enabled: input.kubeSpan })] : []),
    ...(withKubernetes ? kubernetesDocuments(input, endpoint) : []),
    ...(withKubernetes && input.role !== "worker" ? controlPlaneDocuments(input, endpoint) : []),
  ];
}

function document(kind: string, fields: { readonly [key: string]: YamlValue | undefined }): YamlMapping {
  return { apiVersion: "v1alpha1", kind, ...fields };
}

function machineDocuments(input: MachineConfigInput): readonly YamlMapping[] {
  const { secrets, install } = input;
  const sysctls = input.sysctls ?? {};
  return [
    ...((input.discovery ?? true)
      ? [document("DiscoveryServiceConfig", { name: "default", endpoint: "https://discovery.talos.dev/" })]
      : []),
    document("DiscoveryIdentityConfig", { clusterID: secrets.cluster.id, clusterSecret: secrets.cluster.secret }),
    ...(install?.disk === undefined || install.disk === "" || install.unattended === false || input.platform === "container"
      ? []
      : [
          document("UnattendedInstallConfig", {
            installer: { image: unlessBlank(install.image) },
            provisioning: { diskSelector: { match: `disk.dev_path == ${JSON.stringify(install.disk)}` }, wipe: install.wipe ?? false },
          }),
        ]),
    document("ResolverConfig", { hostDNS: { enabled: true, forwardKubeDNSToHost: input.forwardKubeDnsToHost ?? true } }),
    ...(Object.keys(sysctls).length === 0 ? [] : [document("SysctlConfig", { params: sortedByKey(sysctls) })]),
    document("VolumeConfig", { name: "EPHEMERAL", mount: { secure: true } }),
    document("FilesystemTrimConfig", { interval: "168h0m0s" }),
    document("SecurityProfileConfig", { workloadIsolation: true }),
  ];
}

function registryDocuments(input: MachineConfigInput): readonly YamlMapping[] {
  const mirrors = [...sortedByBytes(input.registryMirrors ?? {})];
  const tls = [...sortedByBytes(input.registryTls ?? {})];
  return [
    ...mirrors.map(([name, endpoints]) => document("RegistryMirrorConfig", { name, endpoints: endpoints.map((url) => ({ url })) })),
    ...tls.map(([name, { ca, insecureSkipVerify }]) => document("RegistryTLSConfig", { name, ca, insecureSkipVerify })),
  ];
}

function timeDocuments(input: MachineConfigInput): readonly YamlMapping[] {
  return input.timeSync === false ? [document("TimeSyncConfig", { enabled: false })] : [];
}

function kubernetesDocuments(input: MachineConfigInput, endpoint: Endpoint): readonly YamlMapping[] {
  const isControlPlane = input.role !== "worker";
  const { k8s } = input.secrets.certs;
  const kubePrismPort = kubePrismPortOf(input, true);
  return [
    document("KubeClusterConfig", { clusterName: input.clusterName, endpoint: endpoint.url }),
    document("KubeNodeConfig", {
      nodeIP: {},
      labels: isControlPlane ? { "node-role.kubernetes.io/control-plane": "", [excludeFromLoadBalancers]: "" } : undefined,
      taints:
        isControlPlane && input.allowSchedulingOnControlPlanes !== true
          ? { "node-role.kubernetes.io/control-plane": "NoSchedule" }
          : undefined,
    }),
    document("KubeletConfig", { image: componentImage(input, "kubelet"), config: {}, defaultRuntimeSeccompProfileEnabled: true }),
    document("KubeNetworkConfig", { dnsDomain: input.dnsDomain ?? "cluster.local", ...subnetsOf(input, false) }),
    document(
      "KubeAPIServerCAConfig",
      isControlPlane ? { issuingCA: { cert: k8s.certificate, key: k8s.key } } : { acceptedCAs: [k8s.certificate] },
    ),
    ...(kubePrismPort === 0 ? [] : [document("KubePrismConfig", { port: kubePrismPort })]),
  ];
}

function controlPlaneDocuments(input: MachineConfigInput, endpoint: Endpoint): readonly YamlMapping[] {
  const { certs } = input.secrets;
  const port = input.localApiServerPort;
  return [
    document("KubeAggregatorCAConfig", { issuingCA: { cert: certs.k8sAggregator.certificate, key: certs.k8sAggregator.key } }),
    document("KubeAdmissionControlConfig", { name: "PodSecurity", configuration: podSecurityConfiguration }),
    document("KubeAuditPolicyConfig", { configuration: auditPolicy }),
    document("KubeAuthenticationConfig", {
      configuration: { anonymous: { conditions: [{ path: "/livez" }, { path: "/readyz" }, { path: "/healthz" }], enabled: true }, jwt: [] },
    }),
    document("KubeAuthorizerConfig", { name: "node", type: "Node" }),
    document("KubeAuthorizerConfig", { name: "rbac", type: "RBAC" }),
    encryptionDocument(input),
    document("KubeServiceAccountConfig", { issuer: { privateKey: certs.k8sServiceAccount.key, issuerURL: endpoint.url } }),
    document("KubeAPIServerConfig", {
      image: componentImage(input, "kube-apiserver"),
      apiPort: port === 0 ? undefined : port,
      certExtraSANs: unlessEmpty(input.additionalSans),
    }),
    document("KubeControllerManagerConfig", { image: componentImage(input, "kube-controller-manager") }),
    document("KubeSchedulerConfig", { image: componentImage(input, "kube-scheduler"), config: {} }),
    document("KubeProxyConfig", { image: componentImage(input, "kube-proxy"), config: {} }),
    ...networkPluginDocuments(input),
    document("KubeCoreDNSConfig", { enabled: true }),
    ...customManifestDocuments(input),
  ];
}

/**
 * Names and order are those that machines before contract 1.14 give the two secrets: what is stored in etcd names its key, and under another name nobody reads it.
 * A bundle from before contract 1.3 holds an AES-CBC secret. Talos's own generator writes it under `secretbox`, and beside a secretbox secret not at all.
 *
 * @see https://github.com/siderolabs/talos/issues/13885
 */
function encryptionDocument(input: MachineConfigInput): YamlMapping {
  const { secretboxEncryptionSecret: secretbox, aescbcEncryptionSecret: aescbc } = input.secrets.secrets;
  const isKept = input.keepAesCbcSecret === true;
  const provider = (kind: "secretbox" | "aescbc", name: string, secret: string | undefined) => ({ [kind]: { keys: [{ name, secret }] } });
  const providers = [
    ...(secretbox === undefined ? [] : [provider("secretbox", "key2", secretbox)]),
    ...(secretbox === undefined || (isKept && aescbc !== undefined) ? [provider(isKept ? "aescbc" : "secretbox", "key1", aescbc)] : []),
  ];
  return document("KubeEtcdEncryptionConfig", { config: { resources: [{ providers, resources: ["secrets"] }] } });
}

function networkPluginDocuments({ cni }: MachineConfigInput): readonly YamlMapping[] {
  if (cni !== undefined && cni.name !== "flannel") return [];
  return [document("KubeFlannelCNIConfig", { backendType: "vxlan", backendPort: 4789, extraArgs: unlessEmpty(cni?.flannel?.extraArgs) })];
}

function customManifestDocuments({ cni }: MachineConfigInput): readonly YamlMapping[] {
  const urls = cni?.name === "custom" ? (cni.urls ?? []) : [];
  return urls.map((url, index) =>
    document("KubeExternalManifestConfig", { name: index === 0 ? "custom-cni" : `custom-cni-${index}`, url }),
  );
}
