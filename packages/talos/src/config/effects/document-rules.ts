import { restarts, rule, type EffectRule } from "./rule.ts";

const controlPlaneComponents = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];
const network = "Talos brings the network to the new state at once; an address or a link that goes takes its connections along";
const firewall = "the rules are in force at once and may cut connections";
const manifests = "bootstrap manifests are created when they are missing; objects that exist change with a Kubernetes upgrade";
const fromTheBundle = "it belongs to the secrets bundle: a rotation replaces it in steps, an edit cuts machines off";
const created = "a new one is made on free space, one that goes is unmounted and keeps its data";
const stays = "a volume that exists stays as it was made until it is wiped";

const live = (reason: string): readonly EffectRule[] => [rule("", "live", reason)];
const identity: readonly EffectRule[] = [rule("name", "live", "a new name is another document")];

/** How a volume is made, encrypted and mounted. */
const volume: readonly EffectRule[] = [
  rule("", "live", created),
  rule("volumeType", "destroys-data", stays, { added: "live", removed: "live" }),
  rule("provisioning", "destroys-data", stays),
  rule("provisioning.grow", "reboot", "a volume grows when it is mounted"),
  rule("provisioning.minSize", "live", "it counts when the volume is made"),
  rule("provisioning.maxSize", "reboot", "a volume grows when it is mounted, and never shrinks"),
  rule("filesystem", "destroys-data", stays),
  rule("encryption", "destroys-data", stays),
  rule("encryption.keys", "reboot", "keys are added and removed when the volume is unlocked by one that stays"),
  rule("encryption.options", "reboot", "options are read when the volume is unlocked"),
  rule("encryption.allowDiscards", "reboot", "options are read when the volume is unlocked"),
  rule("mount", "reboot", "options are read when the volume is mounted"),
  rule("trim", "live", "the schedule changes"),
  rule("scrub", "live", "the schedule changes"),
];

/** System volumes exist: their document coming or going changes them. */
const systemVolume: readonly EffectRule[] = [
  ...volume.filter(({ path }) => path !== ""),
  rule("", "unknown", "it depends on the volume and on what is on the disk"),
];

/** Classes of the fields of every document kind but v1alpha1. A rule with an empty path stands for the whole document. */
export const documentRules: ReadonlyMap<string, readonly EffectRule[]> = new Map<string, readonly EffectRule[]>(
  [
    ["BGPInstanceConfig", live(network)],
    ["BlackholeRouteConfig", live(network)],
    ["BondConfig", live(network)],
    ["BridgeConfig", live(network)],
    ["DHCPv4Config", live(network)],
    ["DHCPv6Config", live(network)],
    ["DummyLinkConfig", live(network)],
    ["EthernetConfig", live(network)],
    ["HCloudVIPConfig", live(network)],
    ["KubeSpanConfig", live(network)],
    ["KubeSpanEndpointsConfig", live("members learn the endpoints by discovery")],
    ["Layer2VIPConfig", live(network)],
    ["LinkAliasConfig", live(network)],
    ["LinkConfig", live(network)],
    ["ResolverConfig", live("names are resolved the new way from now on")],
    ["RoutingRuleConfig", live(network)],
    ["StaticHostConfig", live("names are resolved the new way from now on")],
    ["VethConfig", live(network)],
    ["VLANConfig", live(network)],
    ["VRFConfig", live(network)],
    ["WireguardConfig", live(network)],
    ["HTTPProbeConfig", live("the probe runs as it says from now on")],
    ["TCPProbeConfig", live("the probe runs as it says from now on")],
    ["NetworkDefaultActionConfig", live(firewall)],
    ["NetworkRuleConfig", live(firewall)],
    ["HostnameConfig", [restarts("", ["kubelet"], "the machine registers under another Node name")]],
    ["TimeSyncConfig", live("time is kept by the new servers from now on")],

    ["EnvironmentConfig", [rule("", "reboot", "services that run keep the environment they were started with")]],
    ["EtcFileConfig", live("the file is written at once")],
    ["EventSinkConfig", live("events from now on go to the new address")],
    ["KmsgLogConfig", live("lines from now on go to the new destination")],
    ["KernelModuleConfig", [rule("", "reboot", "a module that is loaded keeps its parameters and is never unloaded", { added: "live" })]],
    ["OOMConfig", live("the next decision follows it")],
    ["SecurityProfileConfig", [rule("", "reboot", "the service reads it when it starts")]],
    ["SideroLinkConfig", live("the tunnel is made anew, and calls through it break")],
    ["SysctlConfig", live("kernel parameters are set at once")],
    ["SysfsConfig", live("kernel parameters are set at once")],
    ["UdevRulesConfig", live("rules are loaded and events replayed")],
    ["UnattendedInstallConfig", [rule("", "reinstall", "it is read by an install or an upgrade only")]],
    ["WatchdogTimerConfig", live("the timer is set anew")],
    ["PCIDriverRebindConfig", [rule("", "unknown", "a device that is in use may keep its driver")]],
    ["ZswapConfig", live("kernel parameters are set at once")],
    ["ExtensionServiceConfig", [restarts("", ["ext-<name>"], "the extension starts again with the new settings")]],
    ["ContainerConfig", [restarts("", ["<name>"], "the container starts again with the new settings")]],

    ["CRIBaseRuntimeSpecConfig", [restarts("", ["cri"], "Talos starts the container runtime again")]],
    ["CRICustomizationConfig", [rule("", "unknown", "the container runtime reads it when it starts")]],
    ["ImageCacheConfig", live("the cache is used from now on")],
    ["ImageVerificationConfig", live("pulls from now on are checked so")],
    ["RegistryAuthConfig", [rule("", "reboot", "the container runtime reads credentials when it starts")]],
    ["RegistryMirrorConfig", live("pulls from now on use it")],
    ["RegistryTLSConfig", live("pulls from now on use it")],
    ["TrustedRootsConfig", [rule("", "unknown", "services that run may keep the roots they have read")]],

    ["ExistingVolumeConfig", [...volume, rule("discovery", "live", "the volume is looked for anew")]],
    ["ExternalVolumeConfig", [...volume, rule("filesystemType", "live", "the volume is mounted anew")]],
    ["RawVolumeConfig", volume],
    ["SwapVolumeConfig", volume],
    ["UserVolumeConfig", volume],
    ["VolumeConfig", systemVolume],
    ["FilesystemScrubConfig", live("the schedule changes")],
    ["FilesystemTrimConfig", live("the schedule changes")],
    ["LVMLogicalVolumeConfig", [rule("", "destroys-data", stays, { added: "live", removed: "live" })]],
    ["LVMVolumeGroupConfig", [rule("", "destroys-data", stays, { added: "live", removed: "live" })]],
    ["RAIDArrayConfig", [rule("", "destroys-data", stays, { added: "live", removed: "live" })]],

    ["DiscoveryIdentityConfig", [rule("", "forbidden", "it is the identity of the cluster")]],
    ["DiscoveryServiceConfig", live("members announce and find each other anew")],
    [
      "KubeAPIServerCAConfig",
      [
        rule("", "forbidden", fromTheBundle),
        restarts("acceptedCAs", ["kubelet", ...controlPlaneComponents], "they read the authorities when they start"),
      ],
    ],
    ["KubeAPIServerConfig", [restarts("", ["kube-apiserver"], "its static pod is replaced")]],
    ["KubeAdmissionControlConfig", [restarts("", ["kube-apiserver"], "its static pod is replaced")]],
    [
      "KubeAggregatorCAConfig",
      [rule("", "forbidden", fromTheBundle), restarts("acceptedCAs", ["kube-apiserver"], "it reads the authorities when it starts")],
    ],
    ["KubeAuditPolicyConfig", [restarts("", ["kube-apiserver"], "its static pod is replaced")]],
    ["KubeAuthenticationConfig", [restarts("", ["kube-apiserver"], "its static pod is replaced")]],
    ["KubeAuthorizerConfig", [restarts("", ["kube-apiserver"], "its static pod is replaced")]],
    [
      "KubeClusterConfig",
      [
        rule("clusterName", "live", "certificates and kubeconfigs from now on carry it"),
        restarts("", ["kubelet", ...controlPlaneComponents], "they reach the cluster by the new endpoint"),
      ],
    ],
    ["KubeControllerManagerConfig", [restarts("", ["kube-controller-manager"], "its static pod is replaced")]],
    ["KubeCoreDNSConfig", live(manifests)],
    ["KubeCredentialProviderConfig", [restarts("", ["kubelet"], "the kubelet starts again with the new settings")]],
    ["KubeEtcdEncryptionConfig", [rule("", "forbidden", fromTheBundle)]],
    ["KubeExternalManifestConfig", live(manifests)],
    ["KubeFlannelCNIConfig", live(manifests)],
    ["KubeInlineManifestConfig", live(manifests)],
    [
      "KubeNetworkConfig",
      [
        rule("", "forbidden", "Nodes, pods and Services that exist keep the old networks and the old domain"),
        restarts("nodeCIDRMaskSizeIPv4", ["kube-controller-manager"], "Nodes from now on get networks of that size"),
        restarts("nodeCIDRMaskSizeIPv6", ["kube-controller-manager"], "Nodes from now on get networks of that size"),
      ],
    ],
    [
      "KubeNodeConfig",
      [
        restarts("", ["kubelet"], "the kubelet starts again with the new settings"),
        rule("labels", "live", "the Node object is changed"),
        rule("annotations", "live", "the Node object is changed"),
        rule("taints", "live", "the Node object is changed"),
      ],
    ],
    ["KubePrismConfig", live("the local load balancer is started or stopped")],
    ["KubeProxyConfig", live(manifests)],
    ["KubeSchedulerConfig", [restarts("", ["kube-scheduler"], "its static pod is replaced")]],
    [
      "KubeServiceAccountConfig",
      [
        rule("issuer.privateKey", "forbidden", fromTheBundle),
        restarts("", ["kube-apiserver", "kube-controller-manager"], "they read the keys when they start"),
      ],
    ],
    ["KubeStaticPodConfig", live("the kubelet starts and stops the pod")],
    ["KubeTalosAPIAccessConfig", live("the service account of the Talos API comes or goes")],
    ["KubeletConfig", [restarts("", ["kubelet"], "the kubelet starts again with the new settings")]],
  ].map(([kind, rules]) => [kind as string, [...identity, ...(rules as readonly EffectRule[])]]),
);
