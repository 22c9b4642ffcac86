import { restarts, rule, type EffectRule } from "./rule.ts";

const controlPlaneComponents = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];
const fromTheBundle = "it belongs to the secrets bundle: a rotation replaces it in steps, an edit cuts machines off";
const manifests = "bootstrap manifests are created when they are missing; objects that exist change with a Kubernetes upgrade";
const network = "Talos brings the network to the new state at once; an address or a link that goes takes its connections along";

/**
 * Classes of the fields of the v1alpha1 document.
 *
 * @see siderolabs/talos `internal/app/machined/pkg/runtime/v1alpha1/v1alpha1_runtime.go`, and the documentation of Talos 1.15, "Changes which might need a reboot"
 */
export const v1alpha1Rules: readonly EffectRule[] = [
  rule("version", "forbidden", "there is only this version of the document"),
  rule("debug", "live", "only the console log changes"),
  rule("persist", "live", "Talos keeps its config in any case"),
  rule("machine.type", "forbidden", "a machine keeps its role until it is reset"),
  rule("machine.token", "forbidden", fromTheBundle),
  rule("machine.ca", "forbidden", fromTheBundle),
  rule("machine.acceptedCAs", "live", "the Talos API reads them at each handshake"),
  rule("machine.certSANs", "live", "the certificate of the Talos API is issued anew"),
  restarts("machine.controlPlane.controllerManager", ["kube-controller-manager"], "its static pod comes or goes"),
  restarts("machine.controlPlane.scheduler", ["kube-scheduler"], "its static pod comes or goes"),
  restarts("machine.kubelet", ["kubelet"], "the kubelet starts again with the new settings"),
  rule("machine.pods", "live", "the kubelet starts and stops these pods"),
  rule("machine.network", "live", network),
  restarts("machine.network.hostname", ["kubelet"], "the machine registers under another Node name"),
  rule("machine.disks", "destroys-data", "a disk without partitions is partitioned and formatted at the next boot", { removed: "reboot" }),
  rule("machine.install", "reinstall", "it is read by an install or an upgrade only"),
  rule("machine.files", "reboot", "files are written at boot"),
  rule("machine.env", "reboot", "services that run keep the environment they were started with"),
  rule("machine.time", "live", "time is kept by the new servers from now on"),
  rule("machine.sysctls", "live", "kernel parameters are set at once"),
  rule("machine.sysfs", "live", "kernel parameters are set at once"),
  rule("machine.registries.mirrors", "live", "pulls from now on use them"),
  rule("machine.registries.config.*.tls", "live", "pulls from now on use it"),
  rule("machine.registries.config.*.auth", "reboot", "the container runtime reads credentials when it starts"),
  rule("machine.registries.config", "reboot", "the container runtime reads credentials when it starts"),
  rule("machine.systemDiskEncryption", "destroys-data", "a partition that exists keeps its encryption until it is wiped"),
  rule("machine.systemDiskEncryption.state.keys", "reboot", "keys are added and removed when the partition is unlocked by one that stays"),
  rule(
    "machine.systemDiskEncryption.ephemeral.keys",
    "reboot",
    "keys are added and removed when the partition is unlocked by one that stays",
  ),
  rule("machine.features.rbac", "live", "machines with a config enforce roles in any case"),
  rule("machine.features.stableHostname", "reboot", "the generated host name is chosen at boot"),
  rule("machine.features.kubernetesTalosAPIAccess", "live", "the service account of the Talos API comes or goes"),
  rule("machine.features.apidCheckExtKeyUsage", "reboot", "the Talos API reads it when it starts"),
  rule("machine.features.diskQuotaSupport", "reboot", "quotas are switched on when the file system is mounted"),
  rule("machine.features.kubePrism", "live", "the local load balancer is started or stopped"),
  rule("machine.features.hostDNS", "live", "the local resolver is started, stopped or reconfigured"),
  rule("machine.features.imageCache", "live", "the cache is used from now on"),
  rule("machine.features.nodeAddressSortAlgorithm", "live", "addresses are sorted anew"),
  rule("machine.udev", "live", "rules are loaded and events replayed"),
  rule("machine.logging", "live", "lines from now on go to the new destinations"),
  rule("machine.kernel.modules", "reboot", "a module that is loaded keeps its parameters and is never unloaded", { added: "live" }),
  rule("machine.seccompProfiles", "live", "profiles are written at once"),
  rule("machine.baseRuntimeSpecOverrides", "reboot", "the container runtime reads it when it starts"),
  rule("machine.nodeLabels", "live", "the Node object is changed"),
  rule("machine.nodeAnnotations", "live", "the Node object is changed"),
  rule("machine.nodeTaints", "live", "the Node object is changed"),

  rule("cluster.id", "forbidden", "it is the identity of the cluster"),
  rule("cluster.secret", "forbidden", fromTheBundle),
  rule("cluster.token", "forbidden", fromTheBundle),
  rule("cluster.aescbcEncryptionSecret", "forbidden", fromTheBundle),
  rule("cluster.secretboxEncryptionSecret", "forbidden", fromTheBundle),
  rule("cluster.ca", "forbidden", fromTheBundle),
  rule("cluster.aggregatorCA", "forbidden", fromTheBundle),
  rule("cluster.serviceAccount", "forbidden", fromTheBundle),
  restarts("cluster.acceptedCAs", ["kubelet", ...controlPlaneComponents], "they read the authorities when they start"),
  restarts("cluster.controlPlane.endpoint", ["kubelet", ...controlPlaneComponents], "they reach the cluster by the new endpoint"),
  restarts("cluster.controlPlane.localAPIServerPort", controlPlaneComponents, "they use the new port"),
  rule("cluster.clusterName", "live", "certificates and kubeconfigs from now on carry it"),
  rule("cluster.network.cni", "live", manifests),
  rule("cluster.network.dnsDomain", "forbidden", "pods and certificates that exist keep the old domain"),
  rule("cluster.network.podSubnets", "forbidden", "Nodes and pods that exist keep addresses of the old networks"),
  rule("cluster.network.serviceSubnets", "forbidden", "Services that exist keep addresses of the old networks"),
  restarts("cluster.apiServer", ["kube-apiserver"], "its static pod is replaced"),
  restarts("cluster.controllerManager", ["kube-controller-manager"], "its static pod is replaced"),
  restarts("cluster.scheduler", ["kube-scheduler"], "its static pod is replaced"),
  rule("cluster.proxy", "live", manifests),
  rule("cluster.discovery", "live", "members announce and find each other anew"),
  rule("cluster.etcd", "reboot", "etcd reads its settings when it starts, and Talos never restarts it by itself"),
  rule("cluster.etcd.ca", "forbidden", fromTheBundle),
  rule("cluster.coreDNS", "live", manifests),
  restarts("cluster.externalCloudProvider.enabled", ["kubelet", ...controlPlaneComponents], "they get or lose the flag of cloud providers"),
  rule("cluster.externalCloudProvider.manifests", "live", manifests),
  rule("cluster.extraManifests", "live", manifests),
  rule("cluster.extraManifestHeaders", "live", manifests),
  rule("cluster.inlineManifests", "live", manifests),
  rule("cluster.adminKubeconfig", "live", "kubeconfigs from now on live as long as it says"),
  rule("cluster.allowSchedulingOnMasters", "live", "the taint of control planes is removed or set"),
  rule("cluster.allowSchedulingOnControlPlanes", "live", "the taint of control planes is removed or set"),
];

/**
 * Parts of the v1alpha1 document that Talos 1.13 and older applies without a reboot, with the first minor that does. From 1.14 on no
 * change makes a machine reboot by itself.
 */
const appliedInPlace: readonly (readonly [path: string, sinceMinor: number])[] = [
  ["debug", 0],
  ["cluster", 0],
  ["machine.time", 0],
  ["machine.certSANs", 0],
  ["machine.install", 0],
  ["machine.network", 0],
  ["machine.sysfs", 0],
  ["machine.sysctls", 0],
  ["machine.logging", 0],
  ["machine.controlPlane", 0],
  ["machine.kubelet", 0],
  ["machine.kernel", 0],
  ["machine.registries", 0],
  ["machine.pods", 0],
  ["machine.seccompProfiles", 0],
  ["machine.nodeLabels", 0],
  ["machine.features.kubernetesTalosAPIAccess", 0],
  ["machine.features.kubePrism", 0],
  ["machine.nodeTaints", 6],
  ["machine.ca", 7],
  ["machine.acceptedCAs", 7],
  ["machine.features.hostDNS", 7],
  ["machine.nodeAnnotations", 8],
  ["machine.features.imageCache", 9],
  ["machine.features.nodeAddressSortAlgorithm", 9],
];

/** Whether a Talos of this minor reboots by itself when the part of the v1alpha1 document changes. */
export function rebootsForPath(path: string, minor: number): boolean {
  if (minor >= 14) return false;
  return !appliedInPlace.some(([allowed, since]) => minor >= since && (path === allowed || path.startsWith(`${allowed}.`)));
}
