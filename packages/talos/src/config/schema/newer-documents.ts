/**
 * Documents and fields that came with Talos 1.14, in the notation of `notation.ts`; a line replaces the line of the same name in
 * `gen/talos-1.13.ts`. Written from the published JSON schema of the documents; once that machinery is released it becomes a generated file.
 */
export const newerDocuments = `
doc BGPInstanceConfig network.BGPInstanceConfigV1Alpha1 named
doc CRIBaseRuntimeSpecConfig cri.BaseRuntimeSpecConfigV1Alpha1
doc CRICustomizationConfig cri.CustomizationConfigV1Alpha1 named
doc ContainerConfig container.ContainerConfigV1Alpha1 named
doc DiscoveryIdentityConfig cluster.DiscoveryIdentityConfigV1Alpha1
doc DiscoveryServiceConfig cluster.DiscoveryServiceConfigV1Alpha1 named
doc EtcFileConfig runtime.EtcFileConfigV1Alpha1 named
doc FilesystemScrubConfig block.FilesystemScrubConfigV1Alpha1
doc FilesystemTrimConfig block.FilesystemTrimConfigV1Alpha1
doc HTTPProbeConfig network.HTTPProbeConfigV1Alpha1 named
doc ImageCacheConfig cri.ImageCacheConfigV1Alpha1
doc KernelModuleConfig runtime.KernelModuleConfigV1Alpha1 named
doc KubeAPIServerCAConfig k8s.KubeAPIServerCAConfigV1Alpha1
doc KubeAPIServerConfig k8s.KubeAPIServerConfigV1Alpha1
doc KubeAdmissionControlConfig k8s.KubeAdmissionControlConfigV1Alpha1 named
doc KubeAggregatorCAConfig k8s.KubeAggregatorCAConfigV1Alpha1
doc KubeAuditPolicyConfig k8s.KubeAuditPolicyConfigV1Alpha1
doc KubeAuthenticationConfig k8s.KubeAuthenticationConfigV1Alpha1
doc KubeAuthorizerConfig k8s.KubeAuthorizerConfigV1Alpha1 named
doc KubeClusterConfig k8s.KubeClusterConfigV1Alpha1
doc KubeControllerManagerConfig k8s.KubeControllerManagerConfigV1Alpha1
doc KubeCoreDNSConfig k8s.KubeCoreDNSConfigV1Alpha1
doc KubeCredentialProviderConfig k8s.KubeCredentialProviderConfigV1Alpha1
doc KubeEtcdEncryptionConfig k8s.KubeEtcdEncryptionConfigV1Alpha1
doc KubeExternalManifestConfig k8s.KubeExternalManifestConfigV1Alpha1 named
doc KubeFlannelCNIConfig k8s.KubeFlannelCNIConfigV1Alpha1
doc KubeInlineManifestConfig k8s.KubeInlineManifestConfigV1Alpha1 named
doc KubeNetworkConfig k8s.KubeNetworkConfigV1Alpha1
doc KubeNodeConfig k8s.KubeNodeConfigV1Alpha1
doc KubePrismConfig k8s.KubePrismConfigV1Alpha1
doc KubeProxyConfig k8s.KubeProxyConfigV1Alpha1
doc KubeSchedulerConfig k8s.KubeSchedulerConfigV1Alpha1
doc KubeServiceAccountConfig k8s.KubeServiceAccountConfigV1Alpha1
doc KubeStaticPodConfig k8s.KubeStaticPodConfigV1Alpha1 named
doc KubeTalosAPIAccessConfig k8s.KubeTalosAPIAccessConfigV1Alpha1
doc KubeletConfig k8s.KubeletConfigV1Alpha1
doc LVMLogicalVolumeConfig storage.LVMLogicalVolumeConfigV1Alpha1 named
doc LVMVolumeGroupConfig storage.LVMVolumeGroupConfigV1Alpha1 named
doc RAIDArrayConfig storage.RAIDArrayConfigV1Alpha1 named
doc SecurityProfileConfig security.SecurityProfileConfigV1Alpha1
doc SysctlConfig runtime.SysctlConfigV1Alpha1
doc SysfsConfig runtime.SysfsConfigV1Alpha1
doc UdevRulesConfig runtime.UdevRulesConfigV1Alpha1
doc UnattendedInstallConfig runtime.UnattendedInstallConfigV1Alpha1
doc VethConfig network.VethConfigV1Alpha1 named
enum nethelpers.DNSProtocol: Do53|DoT|DoH
enum block.FilesystemType: none|xfs|vfat|ext4|iso9660|swapi|virtiofs|btrfs
enum storage.LVMLogicalVolumeType: linear|raid1|raid0|raid10
enum storage.RAIDLevel: raid1
enum storage.RAIDMetadata: 1.0|1.2
type block.EncryptionSpec: provider:block.EncryptionProviderType keys:[]block.EncryptionKey cipher:string? keySize:uint? blockSize:uint64? options:[]string? allowDiscards:*bool?
type block.ExistingVolumeConfigV1Alpha1: apiVersion:string? kind:string name:string discovery:block.VolumeDiscoverySpec? mount:block.ExistingMountSpec? trim:*block.TrimConfig? scrub:*block.ScrubConfig?
type block.FilesystemScrubConfigV1Alpha1: apiVersion:string? kind:string interval:time.Duration?
type block.FilesystemSpec: type:block.FilesystemType? projectQuotaSupport:*bool? xfs:*block.XFSSpec?
type block.FilesystemTrimConfigV1Alpha1: apiVersion:string? kind:string interval:time.Duration?
type block.MountSpec: secure:*bool? disableAccessTime:*bool?
type block.ScrubConfig: enabled:*bool? interval:time.Duration?
type block.SystemVolumeFilesystemSpec: xfs:*block.XFSSpec?
type block.TrimConfig: enabled:*bool? interval:time.Duration?
type block.UserVolumeConfigV1Alpha1: apiVersion:string? kind:string name:string volumeType:*block.VolumeType? provisioning:block.ProvisioningSpec? filesystem:block.FilesystemSpec? encryption:block.EncryptionSpec? mount:block.UserMountSpec? trim:*block.TrimConfig? scrub:*block.ScrubConfig?
type block.VolumeConfigV1Alpha1: apiVersion:string? kind:string name:string provisioning:block.ProvisioningSpec? filesystem:block.SystemVolumeFilesystemSpec? encryption:block.EncryptionSpec? mount:block.MountSpec? trim:*block.TrimConfig? scrub:*block.ScrubConfig?
type block.XFSSpec: minAllocationGroupSize:block.ByteSize?
type cluster.DiscoveryIdentityConfigV1Alpha1: apiVersion:string? kind:string clusterID:string clusterSecret:string
type cluster.DiscoveryServiceConfigV1Alpha1: apiVersion:string? kind:string name:string endpoint:meta.URL
type container.ContainerCapabilities: add:[]string? drop:[]string?
type container.ContainerConfigV1Alpha1: apiVersion:string? kind:string name:string image:string entrypoint:[]string? args:[]string? workingDir:string? runAs:*container.ContainerRunAs? environment:[]string? mounts:[]container.ContainerMount? security:*container.ContainerSecurity? network:*container.ContainerNetwork? resources:*container.ContainerResources? dependsOn:*container.ContainerDependsOn?
type container.ContainerDependsOn: paths:[]string? networks:[]string? time:*bool? containers:[]string?
type container.ContainerMount: userVolume:*container.UserVolumeMount? tmpfs:*container.TmpfsMount? hostPath:*container.HostPathMount?
type container.ContainerNetwork: mode:string?
type container.ContainerResourceLimits: cpu:string? memory:string?
type container.ContainerResources: limits:*container.ContainerResourceLimits?
type container.ContainerRunAs: uid:*int32? gid:*int32?
type container.ContainerSecurity: profile:string? capabilities:*container.ContainerCapabilities?
type container.HostPathMount: source:string destination:string options:[]string?
type container.TmpfsMount: destination:string size:string? options:[]string?
type container.UserVolumeMount: name:string destination:string options:[]string?
type cri.BaseRuntimeSpecConfigV1Alpha1: apiVersion:string? kind:string overrides:v1alpha1.Unstructured?!
type cri.CustomizationConfigV1Alpha1: apiVersion:string? kind:string name:string content:string
type cri.ImageCacheConfigV1Alpha1: apiVersion:string? kind:string local:cri.LocalImageCacheConfig
type cri.LocalImageCacheConfig: enabled:*bool?
type k8s.AcceptedServiceAccountConfig: publicKeys:[]string? issuers:[]meta.URL? audiences:[]string?
type k8s.IssuerServiceAccountConfig: privateKey:string issuerURL:meta.URL
type k8s.KubeAPIServerCAConfigV1Alpha1: apiVersion:string? kind:string issuingCA:*meta.CertificateAndKey? acceptedCAs:[]string?
type k8s.KubeAPIServerConfigV1Alpha1: apiVersion:string? kind:string image:string extraArgs:v1alpha1.Args? env:map:string? resources:k8s.ResourcesConfig? apiPort:*int? certExtraSANs:[]string? startupProbes:*bool?
type k8s.KubeAdmissionControlConfigV1Alpha1: apiVersion:string? kind:string name:string configuration:v1alpha1.Unstructured
type k8s.KubeAggregatorCAConfigV1Alpha1: apiVersion:string? kind:string issuingCA:*meta.CertificateAndKey? acceptedCAs:[]string?
type k8s.KubeAuditPolicyConfigV1Alpha1: apiVersion:string? kind:string configuration:v1alpha1.Unstructured!
type k8s.KubeAuthenticationConfigV1Alpha1: apiVersion:string? kind:string configuration:v1alpha1.Unstructured!
type k8s.KubeAuthorizerConfigV1Alpha1: apiVersion:string? kind:string name:string type:string webhook:v1alpha1.Unstructured?
type k8s.KubeClusterConfigV1Alpha1: apiVersion:string? kind:string clusterName:string endpoint:meta.URL
type k8s.KubeControllerManagerConfigV1Alpha1: apiVersion:string? kind:string enabled:*bool? image:string extraArgs:v1alpha1.Args? env:map:string? resources:k8s.ResourcesConfig?
type k8s.KubeCoreDNSConfigV1Alpha1: apiVersion:string? kind:string enabled:*bool? image:string?
type k8s.KubeCredentialProviderConfigV1Alpha1: apiVersion:string? kind:string configuration:v1alpha1.Unstructured!
type k8s.KubeEtcdEncryptionConfigV1Alpha1: apiVersion:string? kind:string config:v1alpha1.Unstructured
type k8s.KubeExternalManifestConfigV1Alpha1: apiVersion:string? kind:string name:string headers:map:string? url:meta.URL
type k8s.KubeFlannelCNIConfigV1Alpha1: apiVersion:string? kind:string backendType:string backendPort:uint16? backendMTU:uint32? backendExtraConfig:v1alpha1.Unstructured? resources:k8s.ResourcesConfig? extraArgs:[]string? kubeNetworkPoliciesEnabled:*bool?
type k8s.KubeInlineManifestConfigV1Alpha1: apiVersion:string? kind:string name:string manifest:string
type k8s.KubeNetworkConfigV1Alpha1: apiVersion:string? kind:string dnsDomain:string podSubnets:[]netip.Prefix! serviceSubnets:[]netip.Prefix! nodeCIDRMaskSizeIPv4:int? nodeCIDRMaskSizeIPv6:int?
type k8s.KubeNodeConfigV1Alpha1: apiVersion:string? kind:string skipNodeRegistration:*bool? registerWithFQDN:*bool? nodeIP:k8s.NodeIPConfig labels:map:string? annotations:map:string? taints:map:string?
type k8s.KubePrismConfigV1Alpha1: apiVersion:string? kind:string port:int tlsServerName:string?
type k8s.KubeProxyConfigV1Alpha1: apiVersion:string? kind:string enabled:*bool? image:string? mode:string? config:v1alpha1.Unstructured extraArgs:v1alpha1.Args? resources:k8s.ResourcesConfig?
type k8s.KubeSchedulerConfigV1Alpha1: apiVersion:string? kind:string enabled:*bool? image:string config:v1alpha1.Unstructured extraArgs:v1alpha1.Args? env:map:string? resources:k8s.ResourcesConfig?
type k8s.KubeServiceAccountConfigV1Alpha1: apiVersion:string? kind:string issuer:k8s.IssuerServiceAccountConfig accepted:k8s.AcceptedServiceAccountConfig?
type k8s.KubeStaticPodConfigV1Alpha1: apiVersion:string? kind:string name:string pod:v1alpha1.Unstructured!
type k8s.KubeTalosAPIAccessConfigV1Alpha1: apiVersion:string? kind:string allowedRoles:[]string? allowedKubernetesNamespaces:[]string?
type k8s.KubeletConfigV1Alpha1: apiVersion:string? kind:string image:string config:v1alpha1.Unstructured extraArgs:v1alpha1.Args? clusterDNS:[]string? defaultRuntimeSeccompProfileEnabled:*bool?
type k8s.NodeIPConfig: validSubnets:[]string?
type k8s.ResourcesConfig: requests:v1alpha1.Unstructured? limits:v1alpha1.Unstructured?
type network.BGPBFDConfig: transmitInterval:time.Duration? receiveInterval:time.Duration? detectMultiplier:uint8?
type network.BGPImportRoute: bgpInstance:string prefixes:[]netip.Prefix
type network.BGPInstanceConfigV1Alpha1: apiVersion:string? kind:string name:string vrf:string? localASN:uint32 routerID:network.Addr? routeSource:network.Addr? advertise:[]string?! multipath:*bool? maxPaths:uint8? installRoutes:*bool? importRoutes:[]network.BGPImportRoute?! neighbors:[]network.BGPNeighborConfig?!
type network.BGPNeighborConfig: address:network.Addr? link:string? peerASN:uint32? localASN:uint32? passive:bool? holdTime:time.Duration? bfd:*network.BGPBFDConfig?
type network.BondConfigV1Alpha1: apiVersion:string? kind:string name:string hardwareAddr:nethelpers.HardwareAddr? links:[]string? bondMode:*nethelpers.BondMode? miimon:*uint32? updelay:*uint32? downdelay:*uint32? useCarrier:*bool? xmitHashPolicy:*nethelpers.BondXmitHashPolicy? arpInterval:*uint32? arpIpTargets:[]netip.Addr? nsIp6Targets:[]netip.Addr? arpValidate:*nethelpers.ARPValidate? arpAllTargets:*nethelpers.ARPAllTargets? lacpRate:*nethelpers.LACPRate? failOverMac:*nethelpers.FailOverMAC? adSelect:*nethelpers.ADSelect? adActorSysPrio:*uint16? adUserPortKey:*uint16? adLACPActive:*nethelpers.ADLACPActive? primary:*string? primaryReselect:*nethelpers.PrimaryReselect? resendIGMP:*uint32? minLinks:*uint32? lpInterval:*uint32? packetsPerSlave:*uint32? numPeerNotif:*uint8? tlbLogicalLb:*uint8? allSlavesActive:*uint8? peerNotifDelay:*uint32? missedMax:*uint8? up:*bool? mtu:uint32? addresses:[]network.AddressConfig? routes:[]network.RouteConfig? multicast:*bool?
type network.DHCPv4ConfigV1Alpha1: apiVersion:string? kind:string name:string routeMetric:uint32? ignoreHostname:*bool? ignoreRoutes:*bool? clientIdentifier:*nethelpers.ClientIdentifier? duidRaw:nethelpers.HardwareAddr?
type network.HTTPProbeConfigV1Alpha1: apiVersion:string? kind:string name:string interval:time.Duration? failureThreshold:int? url:meta.URL timeout:time.Duration?
type network.HostDNSConfig: enabled:*bool? forwardKubeDNSToHost:*bool? resolveMemberNames:*bool?
type network.NTPConfig: servers:[]string? useNTS:*bool?
type network.NameserverConfig: address:network.Addr protocol:nethelpers.DNSProtocol? tlsServerName:string?
type network.ResolverConfigV1Alpha1: apiVersion:string? kind:string nameservers:[]network.NameserverConfig? searchDomains:network.SearchDomainsConfig? hostDNS:network.HostDNSConfig?
type network.VethConfigV1Alpha1: apiVersion:string? kind:string name:string peer:network.VethPeerConfig up:*bool? mtu:uint32? addresses:[]network.AddressConfig? routes:[]network.RouteConfig? multicast:*bool?
type network.VethPeerConfig: name:string up:*bool? mtu:uint32? addresses:[]network.AddressConfig? routes:[]network.RouteConfig? multicast:*bool?
type runtime.DiskSelectorSpec: match:cel.Expression?
type runtime.EtcFileConfigV1Alpha1: apiVersion:string? kind:string name:string mode:v1alpha1.FileMode contents:string
type runtime.InstallerSpec: image:string?
type runtime.KernelModuleConfigV1Alpha1: apiVersion:string? kind:string name:string parameters:[]string?
type runtime.ProvisioningSpec: diskSelector:runtime.DiskSelectorSpec? wipe:*bool?
type runtime.SysctlConfigV1Alpha1: apiVersion:string? kind:string params:map:string
type runtime.SysfsConfigV1Alpha1: apiVersion:string? kind:string params:map:string
type runtime.UdevRulesConfigV1Alpha1: apiVersion:string? kind:string rules:[]string?
type runtime.UnattendedInstallConfigV1Alpha1: apiVersion:string? kind:string reboot:*bool? installer:runtime.InstallerSpec provisioning:runtime.ProvisioningSpec
type security.SecurityProfileConfigV1Alpha1: apiVersion:string? kind:string workloadIsolation:*bool?
type storage.LVMLogicalVolumeConfigV1Alpha1: apiVersion:string? kind:string name:string type:storage.LVMLogicalVolumeType mirrors:*uint32? stripes:*uint32? provisioning:storage.LVMLogicalVolumeProvisioningSpec
type storage.LVMLogicalVolumeProvisioningSpec: volumeGroup:string minSize:block.ByteSize? maxSize:block.Size?
type storage.LVMVolumeGroupConfigV1Alpha1: apiVersion:string? kind:string name:string provisioning:storage.ProvisioningSpec
type storage.LVMVolumeSelectorSpec: match:cel.Expression?
type storage.ProvisioningSpec: volumeSelector:storage.LVMVolumeSelectorSpec?
type storage.RAIDArrayConfigV1Alpha1: apiVersion:string? kind:string name:string level:storage.RAIDLevel metadata:storage.RAIDMetadata? provisioning:storage.RAIDProvisioningSpec
type storage.RAIDProvisioningSpec: volumeSelector:storage.RAIDVolumeSelector
type storage.RAIDVolumeSelector: match:cel.Expression?
type v1alpha1.ClusterConfig: id:string? secret:string? controlPlane:*v1alpha1.ControlPlaneConfig? clusterName:string? network:*v1alpha1.ClusterNetworkConfig? token:string? aescbcEncryptionSecret:string? secretboxEncryptionSecret:string? ca:*x509.PEMEncodedCertificateAndKey? acceptedCAs:[]*x509.PEMEncodedCertificate? aggregatorCA:*x509.PEMEncodedCertificateAndKey? serviceAccount:*x509.PEMEncodedKey? apiServer:*v1alpha1.APIServerConfig? controllerManager:*v1alpha1.ControllerManagerConfig? proxy:*v1alpha1.ProxyConfig? scheduler:*v1alpha1.SchedulerConfig? discovery:*v1alpha1.ClusterDiscoveryConfig? etcd:*v1alpha1.EtcdConfig? coreDNS:*v1alpha1.CoreDNS? externalCloudProvider:*v1alpha1.ExternalCloudProviderConfig? extraManifests:[]string?@ extraManifestHeaders:map:string? inlineManifests:v1alpha1.ClusterInlineManifests?@ adminKubeconfig:*v1alpha1.AdminKubeconfigConfig? allowSchedulingOnMasters:*bool? allowSchedulingOnControlPlanes:*bool?
`;
