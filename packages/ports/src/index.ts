export type { Clock, ScheduledTimer, Timers } from "./time.ts";
export type { RandomSource } from "./random.ts";
export type {
  KubeCallOptions,
  KubeRequest,
  KubeResponse,
  KubeTransport,
  KubeWatchEvent,
  KubeWatchEvents,
  KubeWatchResponse,
} from "./kube.ts";
export type {
  HeldUntil,
  TalosCallFailure,
  TalosCallOptions,
  TalosChannel,
  TalosCredentials,
  TalosDialer,
  TalosMethod,
  TalosTarget,
} from "./talos.ts";
export type { WorkloadDialer, WorkloadTarget } from "./workload.ts";
export type { EndpointAnswer, EndpointProbe, EndpointTarget } from "./endpoint.ts";
export type {
  AuthorityRequest,
  CertificateFacts,
  CertificateRequest,
  CertificateRequestFacts,
  KeyPair,
  Keys,
  PrivateKeyKind,
  RequestedSubject,
} from "./keys.ts";
export type { NameResolver } from "./names.ts";
export type { FileTree, FileTreeFailure } from "./files.ts";
export type {
  ObjectBody,
  ObjectCallOptions,
  ObjectStore,
  ObjectStoreFailure,
  ObjectStoreFailureKind,
  ObjectUpload,
  OpenUpload,
  StoredObject,
} from "./objects.ts";
export type { Logger, LogFields } from "./log.ts";
export type { Span, SpanAttributes, Tracer } from "./trace.ts";
