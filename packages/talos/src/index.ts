// Machine API client.
export { createTalosClient } from "./client/client.ts";
export { isIdentityFailure, isTalosError, isUnanswered, TALOS_ERROR_CODES, TalosError } from "./client/errors.ts";
export { parseMemberId, printMemberId } from "./client/etcd.ts";
export { ConfigText } from "./resources/config-text.ts";
export { resourceKinds, untypedKind } from "./resources/kinds.ts";

export type { CallOptions } from "./client/call.ts";
export type { TalosClient } from "./client/client.ts";
export type { ApplyConfigurationInput, ApplyConfigurationResult, ApplyMode } from "./client/configuration.ts";
export type { DiskFacts } from "./client/disks.ts";
export type { TalosErrorCode, TalosErrorFacts, TalosRetry } from "./client/errors.ts";
export type { EtcdMemberFacts, EtcdMemberId, EtcdStatusFacts } from "./client/etcd.ts";
export type { EventsInput, MachineEvent } from "./client/events.ts";
export type { LogsInput } from "./client/files.ts";
export type { AcceptedSequence, RebootMode, ResetInput } from "./client/lifecycle.ts";
export type { VersionFacts } from "./client/machine-facts.ts";
export type { ServiceEventFacts, ServiceFacts } from "./client/services.ts";
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
export type { EncodedSpec, Resource, ResourceEvent, ResourceKind } from "./resources/resource.ts";
export type { ResourceCalls } from "./resources/resource-calls.ts";
