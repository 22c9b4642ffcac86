/** The machine API, typed: a client of one machine, sessions of a cluster, COSI resources. It takes any channel; gRPC is `@talos-operator/talos/grpc`. */
export { machineApiFacts } from "./client/api-facts.ts";
export { createTalosClient } from "./client/client.ts";
export { isIdentityFailure, isTalosError, isUnanswered, TALOS_ERROR_CODES, TalosError } from "./client/errors.ts";
export { parseMemberId, printMemberId } from "./client/etcd-member-id.ts";
export { META_KEYS } from "./client/meta.ts";
export { createTalosSession } from "./session/session.ts";
export { createTalosSessions } from "./session/sessions.ts";
export { ConfigText } from "./resources/config-text.ts";
export { resourceKinds, untypedKind } from "./resources/kinds.ts";

export type { MachineApiFacts } from "./client/api-facts.ts";
export type { CallOptions } from "./client/call.ts";
export type { TalosClient } from "./client/client.ts";
export type { ApplyConfigurationInput, ApplyConfigurationResult, ApplyMode } from "./client/configuration.ts";
export type { DiskFacts } from "./client/disks.ts";
export type { TalosErrorCode, TalosErrorFacts, TalosRetry } from "./client/errors.ts";
export type { EtcdMemberFacts, EtcdStatusFacts } from "./client/etcd.ts";
export type { EtcdMemberId } from "./client/etcd-member-id.ts";
export { etcdComparesWithLeader } from "./client/etcd-corrupt-check.ts";
export { ETCD_ADVISED_QUOTA_BYTES, ETCD_DEFAULT_QUOTA_BYTES, etcdFlagNumber, etcdQuotaBytes } from "./client/etcd-quota.ts";
export type { EtcdAlarmFacts } from "./client/etcd-alarms.ts";
export type { EventsInput, MachineEvent } from "./client/events.ts";
export type { DmesgInput, FileFacts, ListInput, LogsInput } from "./client/files.ts";
export type { HealthInput } from "./client/health.ts";
export type { ImageFacts, ImagePullProgress, ImageStore } from "./client/images.ts";
export type { AcceptedSequence, RebootMode, ResetInput } from "./client/lifecycle.ts";
export type { VersionFacts } from "./client/machine-facts.ts";
export type { ServiceEventFacts, ServiceFacts } from "./client/services.ts";
export type {
  CpuTimeFacts,
  DiskActivityFacts,
  MemoryFacts,
  MountFacts,
  NetworkActivityFacts,
  ProcessFacts,
  ProcessorFacts,
  SystemStatFacts,
} from "./client/system.ts";
export type { UpgradeInput } from "./client/upgrade.ts";
export type { TalosLooks } from "./session/look-methods.ts";
export type { SessionCredentials, TalosSessionOptions } from "./session/options.ts";
export type { TalosSession } from "./session/session.ts";
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
