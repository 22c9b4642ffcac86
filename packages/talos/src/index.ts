// Machine API client.
export { machineApiFacts } from "./client/api-facts.ts";
export { createTalosClient } from "./client/client.ts";
export { ClientConfiguration } from "./client/client-configuration.ts";
export { isIdentityFailure, isTalosError, isUnanswered, TALOS_ERROR_CODES, TalosError } from "./client/errors.ts";
export { parseMemberId, printMemberId } from "./client/etcd.ts";
export { META_KEYS } from "./client/meta.ts";
export { createTalosSession } from "./session/session.ts";
export { createTalosSessions } from "./session/sessions.ts";
export { ConfigText } from "./resources/config-text.ts";
export { resourceKinds, untypedKind } from "./resources/kinds.ts";

export type { MachineApiFacts } from "./client/api-facts.ts";
export type { CallOptions } from "./client/call.ts";
export type { TalosClient } from "./client/client.ts";
export type { ApplyConfigurationInput, ApplyConfigurationResult, ApplyMode } from "./client/configuration.ts";
export type { ContainerFacts, ContainerNamespace, ContainerUsageFacts } from "./client/containers.ts";
export type { DiskFacts, WipeTarget } from "./client/disks.ts";
export type { TalosErrorCode, TalosErrorFacts, TalosRetry } from "./client/errors.ts";
export type { EtcdMemberFacts, EtcdMemberId, EtcdStatusFacts } from "./client/etcd.ts";
export type { EtcdAlarmFacts } from "./client/etcd-maintenance.ts";
export type { EventsInput, MachineEvent } from "./client/events.ts";
export type { DiskUsageFacts, DiskUsageInput, DmesgInput, FileFacts, ListInput, LogsInput } from "./client/files.ts";
export type { HealthInput } from "./client/health.ts";
export type { ImageFacts, ImagePullProgress, ImageStore, ImageVerification } from "./client/images.ts";
export type { AcceptedSequence, RebootMode, ResetInput } from "./client/lifecycle.ts";
export type { VersionFacts } from "./client/machine-facts.ts";
export type { PacketCaptureInput } from "./client/packets.ts";
export type { ServiceEventFacts, ServiceFacts } from "./client/services.ts";
export type {
  CpuTimeFacts,
  DiskActivityFacts,
  MachineTimeFacts,
  MemoryFacts,
  MountFacts,
  NetworkActivityFacts,
  ProcessFacts,
  ProcessorFacts,
  SystemStatFacts,
} from "./client/system.ts";
export type { UpgradeInput } from "./client/upgrade.ts";
export type { TalosLooks } from "./session/look-methods.ts";
export type { SessionCredentials, TalosSession, TalosSessionOptions } from "./session/session.ts";
export type { TalosSessions, TalosSessionsOptions } from "./session/sessions.ts";
export type { ComponentConfigSpec, EtcdSpecSpec } from "./resources/component-kinds.ts";
export type {
  DiskSpec,
  ExtensionStatusSpec,
  HostnameStatusSpec,
  LinkStatusSpec,
  MachineStage,
  MachineStatusSpec,
  MachineTypeSpec,
  MemberSpec,
  NodeNameSpec,
  NodeStatusSpec,
  ServiceSpec,
  StaticPodStatusSpec,
  SystemInformationSpec,
  TimeStatusSpec,
  VersionSpec,
} from "./resources/kinds.ts";
export type { AddressStatusSpec, NetworkStatusSpec, RouteStatusSpec } from "./resources/network-kinds.ts";
export type { PlatformMetadataSpec, SecurityStateSpec } from "./resources/runtime-kinds.ts";
export type { DiscoveredVolumeSpec, VolumeStatusSpec } from "./resources/storage-kinds.ts";
export type { EncodedSpec, Resource, ResourceEvent, ResourceKind } from "./resources/resource.ts";
export type { ResourceCalls } from "./resources/resource-calls.ts";

// Secrets, machine config, talosconfig, versions.
export { ConfigError, isConfigError } from "./config/errors.ts";
export { canonicalMachineConfig } from "./config/canonical.ts";
export { describeMachineConfig } from "./config/describe.ts";
export { classifyConfigEffects } from "./config/effects/classify.ts";
export { validateMachineConfig } from "./config/validate/validate.ts";
export { findForbiddenPatchPaths } from "./config/patch/forbidden-paths.ts";
export { patchMachineConfig } from "./config/patch/patch.ts";
export { redactMachineConfig } from "./config/redact.ts";
export { cidrContains, cidrsOverlap } from "./config/scalars/ip.ts";
export { generateMachineConfig } from "./config/generate/generate.ts";
export { parseEndpoint } from "./config/generate/check-input.ts";
export { generateAdminKubeconfig } from "./kubeconfig/admin-kubeconfig.ts";
export { communityRefusal, parseSchematic } from "./schematic/parse.ts";
export { printSchematic, schematicId } from "./schematic/print.ts";
export { checkSecretsBundle } from "./secrets/check.ts";
export { secretsBundleFromMachineConfig } from "./secrets/from-config.ts";
export { secretsBundleFromKubernetesPki } from "./secrets/from-kubernetes-pki.ts";
export { generateSecretsBundle } from "./secrets/generate.ts";
export { parseSecretsBundleJson, printSecretsBundleJson } from "./secrets/json.ts";
export { parseSecretsBundle } from "./secrets/parse.ts";
export { fingerprintSecretsBundle, printSecretsBundle } from "./secrets/print.ts";
export { signClientCertificate } from "./talosconfig/client-certificate.ts";
export { mergeTalosconfigs } from "./talosconfig/merge.ts";
export { parseTalosconfig } from "./talosconfig/parse.ts";
export { chooseTalosconfigPath, talosconfigPaths } from "./talosconfig/paths.ts";
export { printTalosconfig } from "./talosconfig/print.ts";
export { createTalosconfig } from "./talosconfig/talosconfig.ts";
export { compareContracts, contractFor, featuresOf } from "./versions/contract.ts";
export { defaultClusterImages, imagesOfConfig, talosImages } from "./versions/component-images.ts";
export { defaultInstallerImage, defaultSchematicId, defaultTalosImage, kubernetesImages } from "./versions/images.ts";
export { defaultKubernetesFor, isKnownTalos, kubernetesUpgradePath, supportsKubernetes, supportsTalosUpgrade } from "./versions/matrix.ts";
export { referenceTalosVersion } from "./versions/reference.ts";
export { compareVersions, parseVersion, tryParseVersion } from "./versions/version.ts";

export type { AuthorityFacts, MachineConfigFacts } from "./config/describe.ts";
export type { ConfigChange, ConfigEffect, ConfigEffects } from "./config/effects/effect.ts";
export type { ConfigErrorCode, ConfigPosition } from "./config/errors.ts";
export type { Endpoint } from "./config/generate/check-input.ts";
export type {
  CniInput,
  InstallInput,
  MachineConfigInput,
  MachineRole,
  NetworkInput,
  NetworkInterfaceInput,
  RegistryTlsInput,
  UserDiskInput,
} from "./config/generate/input.ts";
export type { Hazard, HazardCode } from "./config/validate/hazards/hazards.ts";
export type { RuntimeMode, ValidateOptions, Validation } from "./config/validate/validate.ts";
export type { ForbiddenPath } from "./config/patch/forbidden-paths.ts";
export type { RedactOptions } from "./config/redact.ts";
export type { PatchOptions } from "./config/patch/patch.ts";
export type { Bootloader, Schematic, SchematicCustomization, SchematicOverlay } from "./schematic/schematic.ts";
export type { SecretsBundle } from "./secrets/bundle.ts";
export type { BundleProblem } from "./secrets/check.ts";
export type { KubernetesPkiInput } from "./secrets/from-kubernetes-pki.ts";
export type { SecretsBundleInput } from "./secrets/generate.ts";
export type { ClientCertificateInput } from "./talosconfig/client-certificate.ts";
export type { MergedTalosconfig } from "./talosconfig/merge.ts";
export type { TalosconfigPath, TalosconfigPathInput } from "./talosconfig/paths.ts";
export type { Talosconfig, TalosconfigContext, TalosconfigInput } from "./talosconfig/talosconfig.ts";
export type { AdminKubeconfigInput } from "./kubeconfig/admin-kubeconfig.ts";
export type { Contract, ContractFeatures } from "./versions/contract.ts";
export type { ClusterImages, ImageOverrides, TalosImages } from "./versions/component-images.ts";
export type { Verdict } from "./versions/matrix.ts";
export type { Version } from "./versions/version.ts";
