export { createKubeClient } from "./client/kube-client.ts";
export { KubeApiError, kubeApiErrorCodes } from "./client/kube-api-error.ts";
export {
  fieldConflictsOf,
  isAlreadyExists,
  isApplyConflict,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNotFound,
  isNotServed,
  isOutcomeUnknown,
} from "./client/error-predicates.ts";
export { keyOf, keyText, parseKey } from "./objects/kube-object.ts";
export { apiVersionOf, eventType, leaseType } from "./request/resource-type.ts";

export type { ApplyConfiguration, KubeWatch, ResourceClient, SubresourceClient, WatchEvent } from "./client/resource-client.ts";
export type { KubeApiErrorCode, RetryAdvice, StatusCause } from "./client/error-codes.ts";
export type { KubeClient } from "./client/kube-client.ts";
export type { FlowControl } from "./client/flow-control.ts";
export type { RetryPolicy, RetryPorts } from "./client/retry.ts";
export type { ObjectCondition, WantedCondition } from "./objects/conditions.ts";
export type { KubeList, KubeObject, ObjectMeta, OwnerReference } from "./objects/kube-object.ts";
export type { ObjectKey, ResourceType } from "./request/resource-type.ts";
export type {
  ApplyOptions,
  DeleteOptions,
  JsonPatchOperation,
  ListPageOptions,
  Patch,
  ReadOptions,
  SelectorOptions,
  WatchOptions,
  WriteOptions,
} from "./request/call-options.ts";
export type { BackoffOptions, WorkPriority, Workqueue, WorkqueueObserver, WorkqueueOptions, WorkqueueStats } from "./queue/types.ts";
export type { Counter, Gauge, Histogram, HistogramSpec, MetricFamily, MetricLabels, MetricSpec, MetricsRegistry } from "./metrics/types.ts";
export type { CacheWait, Delta, Informer, InformerOptions, InformerStatus, Store } from "./watch/informer-types.ts";
export type { InformerRegistry, InformerRegistryOptions, InformerReport, InformerScope } from "./watch/create-informer-registry.ts";
export type {
  Controller,
  ControllerOptions,
  ControllerStats,
  ControllerWatch,
  ReconcileContext,
  ReconcileResult,
  RunningPass,
  StuckPass,
  WatchDeclaration,
} from "./controller/types.ts";
export type { LeaderElection, Manager, ManagerHealth, ManagerOptions, Term } from "./manager/types.ts";
export type { EventInput, EventRecorder, EventRecorderOptions } from "./events/types.ts";
export type { FencingToken, Leadership, LeadershipEnd, LeaseElector, LeaseElectorOptions } from "./lease/types.ts";
export { createInformer } from "./watch/create-informer.ts";
export { compareResourceVersions } from "./watch/resource-version.ts";
export { createInformerRegistry } from "./watch/create-informer-registry.ts";
export { createMetricsRegistry, metricsContentType } from "./metrics/create-metrics-registry.ts";
export { measuredTransport } from "./metrics/measured-transport.ts";
export { createManager } from "./manager/create-manager.ts";
export { createWorkqueue } from "./queue/workqueue.ts";
export { silentTracer } from "./tracing/silent-tracer.ts";
export { createController } from "./controller/create-controller.ts";
export { toOwner, watchOf } from "./controller/watch-declaration.ts";
export { conditionOf, hasCondition, withCondition, withoutCondition } from "./objects/conditions.ts";
export { deleteExactly } from "./objects/delete-exactly.ts";
export { addFinalizer, hasFinalizer, isBeingDeleted, removeFinalizer } from "./objects/finalizers.ts";
export { controllerOf, controllerReference, isControlledBy, ownerReference } from "./objects/owner-references.ts";
export { createEventRecorder } from "./events/create-event-recorder.ts";
export { createLeaseElector } from "./lease/create-lease-elector.ts";
export { isStopInOrder, LeadershipOver } from "./lease/leadership-over.ts";
