import {
  prepareBinding as preparePolicyBinding,
  preparePolicy,
  validateBinding as validatePolicyBinding,
  validatePolicy,
} from "../admission/policy/policy-rules.ts";
import { autoscalerToServed, autoscalerToStored, showAutoscaler } from "./autoscaler-versions.ts";
import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, objectsAt, stringAt, stringsAt, withMetadata } from "../request/json.ts";
import { forbidden } from "../request/status.ts";
import { prepareCrd, validateCrd } from "./custom.ts";
import { defaultAutoscaler } from "./defaults/autoscaler.ts";
import { fill, inside } from "./defaults/fill.ts";
import { confineAsAnnotated } from "./app-armor.ts";
import { beginIngress, runAsClassed, validateIngressClass, validateRuntimeClass, validateStorageClass } from "./classes.ts";
import { admitNewPod, bePatient, defaultPod, defaultTemplate, qosClassOf } from "./defaults/pod.ts";
import { addressService, defaultService } from "./defaults/service.ts";
import {
  defaultClaim,
  defaultCronJob,
  defaultDaemonSet,
  defaultDeployment,
  defaultDriver,
  defaultEndpoints,
  defaultEndpointSlice,
  defaultJob,
  defaultNetworkPolicy,
  defaultReplicaSet,
  defaultReplicationController,
  defaultStatefulSet,
  defaultVolume,
  selectJob,
} from "./defaults/workloads.ts";
import { eventToCoreApi, eventToNewApi, eventToServed, validateEvent } from "./events.ts";
import { storedVerbs } from "./kind.ts";
import type { Strategy, WriteFacts } from "./kind.ts";
import { restrictToDebugContainers, validateDebugContainers } from "./debug-containers.ts";
import { defaultLimitRange, validateLimitRange } from "./limit-range-rules.ts";
import { fillFromLimits, limitRangeResource } from "./limit-ranges.ts";
import { validateIngress, validateNetworkPolicy } from "./network-rules.ts";
import { prepareNode, validateNode } from "./node-rules.ts";
import { prepareBinding, validateBinding, validateRules } from "./permissions.ts";
import { refuseLabel, refusePathSegment, refuseSubdomain } from "../request/names.ts";
import { validatePod } from "./pod-rules.ts";
import { validateQuota, validateQuotaStatus } from "./quota-rules.ts";
import { restrictToResources, validateResize } from "./resizing.ts";
import { prepareSecret, validateConfigMap, validateSecret } from "./secret-rules.ts";
import { validateEndpoints, validateService, validateServiceStatus } from "./service-rules.ts";
import {
  beginSigningRequest,
  prepareSigningRequest,
  restrictApproval,
  validateSigningRequest,
  validateSigningStatus,
} from "./signing-request.ts";
import { beginApiService, prepareApiService, validateApiService, validateApiServiceStatus } from "./extension-rules.ts";
import { beginFlow, prepareFlowSchema, preparePriorityLevel, validateFlowSchema, validatePriorityLevel } from "./flow-rules.ts";
import { beginClaim, beginVolume } from "./new-volumes.ts";
import { refuseSecondDefault } from "./priorities.ts";
import { beginWebhooks, prepareWebhooks, validateWebhooks } from "./webhook-rules.ts";
import {
  validateAutoscaler,
  validateBudget,
  validateClaim,
  validateCronJob,
  validateJob,
  validateLease,
  validatePriorityClass,
  validateStatefulSet,
  validateVolume,
  validateWorkload,
  validateWorkloadStatus,
} from "./workload-rules.ts";

const ordinary: Strategy = {
  verbs: storedVerbs,
  hasGeneration: false,
  allowsUnconditionalUpdate: true,
  createsOnUpdate: false,
  answersDeletedObject: false,
  statusKeepsMetadata: false,
  refuseName: refuseSubdomain,
  selectableFields: [],
};

/** Custom resources: status is a world of its own, generation counts, a PUT must say what it replaces. */
export function customStrategy(selectableFields: readonly string[]): Strategy {
  return {
    ...ordinary,
    verbs: ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
    hasGeneration: true,
    allowsUnconditionalUpdate: false,
    statusKeepsMetadata: true,
    selectableFields: selectableFields.map((path) => path.replace(/^\./, "")),
  };
}

/** What is particular about a built-in kind, by `<group>/<plural>`; everything not named here is ordinary. */
export function builtinStrategy(resource: string): Strategy {
  return strategies[resource] ?? ordinary;
}

const answeredOnly: Strategy = { ...ordinary, verbs: ["create"] };
const workload: Strategy = { ...ordinary, hasGeneration: true };
const permission: Strategy = { ...ordinary, refuseName: refusePathSegment };
const webhooks: Strategy = {
  ...workload,
  allowsUnconditionalUpdate: false,
  prepare: prepareWebhooks,
  begin: beginWebhooks,
  validate: validateWebhooks,
};
const role = (namespaced: boolean): Strategy => ({ ...permission, validate: (object) => validateRules(object, namespaced) });
const binding = (namespaced: boolean): Strategy => ({
  ...permission,
  prepare: prepareBinding,
  validate: (object, old) => validateBinding(object, old, namespaced),
});

/** The parts of an object reference that events can be selected by. */
function objectFields(reference: string): readonly string[] {
  return ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map((field) => `${reference}.${field}`);
}

const strategies: Readonly<Record<string, Strategy>> = {
  "/namespaces": {
    ...ordinary,
    verbs: storedVerbs.filter((verb) => verb !== "deletecollection"),
    refuseName: refuseLabel,
    selectableFields: ["status.phase"],
    prepare: prepareNamespace,
    begin: (namespace, old) =>
      old === undefined ? { ...namespace, spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } } : namespace,
  },
  "/secrets": { ...ordinary, selectableFields: ["type"], prepare: prepareSecret, validate: validateSecret },
  "/configmaps": { ...ordinary, validate: validateConfigMap },
  "/events": {
    ...ordinary,
    createsOnUpdate: true,
    begin: (event) => fill(event, { reportingComponent: "", reportingInstance: "" }),
    validate: validateEvent,
    selectableFields: [...objectFields("involvedObject"), "reason", "reportingComponent", "source", "type"],
    toServed: eventToServed,
  },
  "events.k8s.io/events": {
    ...ordinary,
    createsOnUpdate: true,
    selectableFields: [...objectFields("regarding"), "reason", "reportingController", "type"],
    toServed: eventToNewApi,
    toStored: eventToCoreApi,
  },
  "/serviceaccounts": { ...ordinary, answersDeletedObject: true },
  "/nodes": {
    ...ordinary,
    keepsStatusOnCreate: true,
    selectableFields: ["spec.unschedulable"],
    prepare: prepareNode,
    validate: validateNode,
  },
  "/pods": {
    ...ordinary,
    hasGeneration: true,
    answersDeletedObject: true,
    selectableFields: [
      "spec.nodeName",
      "spec.restartPolicy",
      "spec.schedulerName",
      "spec.serviceAccountName",
      "spec.hostNetwork",
      "status.phase",
      "status.podIP",
      "status.nominatedNodeName",
    ],
    prepare: defaultPod,
    begin: (pod, old, facts) => (old === undefined ? beginPod(pod, facts) : inside(pod, "spec", bePatient)),
    validate: validatePod,
    parts: {
      ephemeralcontainers: { restrict: restrictToDebugContainers, validate: validateDebugContainers },
      resize: { restrict: restrictToResources, validate: validateResize },
    },
  },
  "/resourcequotas": { ...ordinary, answersDeletedObject: true, validate: validateQuota, validateStatus: validateQuotaStatus },
  "/limitranges": { ...ordinary, prepare: defaultLimitRange, validate: validateLimitRange },
  "/services": {
    ...ordinary,
    answersDeletedObject: true,
    refuseName: refuseLabel,
    selectableFields: ["spec.clusterIP", "spec.type"],
    prepare: defaultService,
    begin: (service, old, { stored }) => addressService(service, old, () => stored("/services")),
    validate: validateService,
    validateStatus: validateServiceStatus,
  },
  "/endpoints": { ...ordinary, createsOnUpdate: true, prepare: defaultEndpoints, validate: validateEndpoints },
  "coordination.k8s.io/leases": { ...ordinary, allowsUnconditionalUpdate: false, createsOnUpdate: true, validate: validateLease },
  "apps/deployments": {
    ...workload,
    generationCountsAnnotations: true,
    prepare: defaultDeployment,
    validate: validateWorkload,
    validateStatus: validateWorkloadStatus,
  },
  "apps/daemonsets": {
    ...workload,
    prepare: (object, old) => countTemplates(defaultDaemonSet(object), old),
    validate: validateWorkload,
    validateStatus: validateWorkloadStatus,
  },
  "apps/statefulsets": { ...workload, prepare: defaultStatefulSet, validate: validateStatefulSet },
  "apps/replicasets": {
    ...workload,
    prepare: defaultReplicaSet,
    validate: validateWorkload,
    validateStatus: validateWorkloadStatus,
  },
  "networking.k8s.io/ingresses": { ...workload, begin: beginIngress, validate: validateIngress },
  "networking.k8s.io/ingressclasses": { ...workload, validate: validateIngressClass },
  "node.k8s.io/runtimeclasses": { ...ordinary, validate: validateRuntimeClass },
  "networking.k8s.io/networkpolicies": { ...workload, prepare: defaultNetworkPolicy, validate: validateNetworkPolicy },
  "discovery.k8s.io/endpointslices": { ...workload, prepare: defaultEndpointSlice },
  "admissionregistration.k8s.io/validatingadmissionpolicies": { ...workload, prepare: preparePolicy, validate: validatePolicy },
  "admissionregistration.k8s.io/validatingadmissionpolicybindings": {
    ...workload,
    prepare: preparePolicyBinding,
    validate: validatePolicyBinding,
  },
  "admissionregistration.k8s.io/validatingwebhookconfigurations": webhooks,
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": webhooks,
  "apiregistration.k8s.io/apiservices": {
    ...ordinary,
    allowsUnconditionalUpdate: false,
    statusKeepsMetadata: true,
    refuseName: refusePathSegment,
    prepare: prepareApiService,
    begin: beginApiService,
    validate: validateApiService,
    validateStatus: validateApiServiceStatus,
  },
  "flowcontrol.apiserver.k8s.io/flowschemas": {
    ...workload,
    prepare: prepareFlowSchema,
    begin: beginFlow,
    validate: validateFlowSchema,
  },
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": {
    ...workload,
    prepare: preparePriorityLevel,
    begin: beginFlow,
    validate: validatePriorityLevel,
  },
  "scheduling.k8s.io/priorityclasses": {
    ...workload,
    keepsGeneration: true,
    prepare: (object) => fill(object, { preemptionPolicy: "PreemptLowerPriority" }),
    begin: (priority, _old, { stored }) => refuseSecondDefault(priority, stored("scheduling.k8s.io/priorityclasses")),
    validate: validatePriorityClass,
  },
  "autoscaling/horizontalpodautoscalers": {
    ...ordinary,
    prepare: defaultAutoscaler,
    validate: (autoscaler) => validateAutoscaler(autoscalerToStored(autoscaler)),
    toServed: autoscalerToServed,
    shown: showAutoscaler,
    toStored: autoscalerToStored,
  },
  "certificates.k8s.io/certificatesigningrequests": {
    ...ordinary,
    refuseName: () => [],
    selectableFields: ["spec.signerName"],
    prepare: prepareSigningRequest,
    begin: beginSigningRequest,
    validate: validateSigningRequest,
    validateStatus: (request, live) => validateSigningStatus(request, live, false),
    parts: { approval: { restrict: restrictApproval, validate: (request, live) => validateSigningStatus(request, live, true) } },
  },
  "batch/cronjobs": { ...workload, prepare: defaultCronJob, validate: validateCronJob },
  "apps/controllerrevisions": {
    ...ordinary,
    validate: (revision) =>
      revision["data"] === undefined ? [{ reason: "FieldValueRequired", field: "data", message: "Required value: data is mandatory" }] : [],
  },
  "/replicationcontrollers": { ...workload, selectableFields: ["status.replicas"], prepare: defaultReplicationController },
  "/podtemplates": { ...workload, answersDeletedObject: true, prepare: defaultTemplate },
  "/persistentvolumes": {
    ...ordinary,
    answersDeletedObject: true,
    prepare: defaultVolume,
    begin: beginVolume,
    validate: validateVolume,
  },
  "/persistentvolumeclaims": {
    ...ordinary,
    answersDeletedObject: true,
    prepare: defaultClaim,
    begin: beginClaim,
    validate: validateClaim,
  },
  "storage.k8s.io/storageclasses": {
    ...ordinary,
    answersDeletedObject: true,
    prepare: (object) => fill(object, { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" }),
    validate: validateStorageClass,
  },
  "storage.k8s.io/csidrivers": { ...ordinary, answersDeletedObject: true, prepare: defaultDriver },
  "storage.k8s.io/csinodes": { ...ordinary, answersDeletedObject: true },
  "storage.k8s.io/volumeattachments": { ...ordinary, answersDeletedObject: true, statusKeepsMetadata: true },
  "storage.k8s.io/volumeattributesclasses": { ...ordinary, answersDeletedObject: true },
  "batch/jobs": {
    ...workload,
    selectableFields: ["status.successful"],
    prepare: defaultJob,
    begin: (job, old) => (old === undefined ? selectJob(job) : job),
    validate: validateJob,
  },
  "policy/poddisruptionbudgets": { ...workload, validate: validateBudget, begin: beginBudget },
  "apiextensions.k8s.io/customresourcedefinitions": {
    ...workload,
    allowsUnconditionalUpdate: false,
    prepare: prepareCrd,
    validate: validateCrd,
  },
  "rbac.authorization.k8s.io/roles": role(true),
  "rbac.authorization.k8s.io/rolebindings": binding(true),
  "rbac.authorization.k8s.io/clusterroles": role(false),
  "rbac.authorization.k8s.io/clusterrolebindings": binding(false),
  "authentication.k8s.io/tokenreviews": answeredOnly,
  "authentication.k8s.io/selfsubjectreviews": answeredOnly,
  "authorization.k8s.io/subjectaccessreviews": answeredOnly,
  "authorization.k8s.io/localsubjectaccessreviews": answeredOnly,
  "authorization.k8s.io/selfsubjectaccessreviews": answeredOnly,
  "authorization.k8s.io/selfsubjectrulesreviews": answeredOnly,
};

/** True for kinds that are answered and never stored. */
export function isAnsweredOnly(resource: string): boolean {
  return strategies[resource] === answeredOnly;
}

const templateGeneration = "deprecated.daemonset.template.generation";

/** The generation of a DaemonSet's template, which stands in an annotation since the field of it is gone. */
function countTemplates(set: JsonObject, old: JsonObject | undefined): JsonObject {
  const template = (object: JsonObject | undefined): unknown => objectAt(object, "spec")["template"] ?? null;
  const before = Number(objectAt(metadataOf(old ?? {}), "annotations")[templateGeneration] ?? 0);
  const count = old === undefined || !equalJson(template(old), template(set)) ? before + 1 : before;
  return withMetadata(set, { annotations: { ...objectAt(metadataOf(set), "annotations"), [templateGeneration]: String(count) } });
}

function beginPod(pod: JsonObject, { stored, warn, now }: WriteFacts): JsonObject {
  const namespace = stringAt(metadataOf(pod), "namespace") ?? "";
  const limited = fillFromLimits(pod, stored(limitRangeResource, namespace));
  const wanted = stringAt(objectAt(limited, "spec"), "priorityClassName") ?? "";
  const priority = stored("scheduling.k8s.io/priorityclasses").find((found) =>
    wanted === "" ? found["globalDefault"] === true : metadataOf(found)["name"] === wanted,
  );
  if (wanted !== "" && priority === undefined) {
    const name = stringAt(metadataOf(pod), "name") ?? "";
    throw forbidden({ group: "", plural: "pods" }, name, `no PriorityClass with name ${wanted} was found`);
  }
  refuseOwnPriority(limited, priority);
  const classed = runAsClassed(admitNewPod(limited, priority), () => stored("node.k8s.io/runtimeclasses"));
  const admitted = confineAsAnnotated(classed, warn);
  const isHeld = objectsAt(objectAt(admitted, "spec"), "schedulingGates").length > 0;
  return {
    ...admitted,
    status: { phase: "Pending", ...(isHeld ? { conditions: [heldBack(now)] } : {}), qosClass: qosClassOf(admitted) },
  };
}

function heldBack(now: string): JsonObject {
  return {
    type: "PodScheduled",
    status: "False",
    lastProbeTime: null,
    lastTransitionTime: now,
    reason: "SchedulingGated",
    message: "Scheduling is blocked due to non-empty scheduling gates",
  };
}

/** Priorities come from classes: a pod that brings its own must mean the same. */
function refuseOwnPriority(pod: JsonObject, priority: JsonObject | undefined): void {
  const spec = objectAt(pod, "spec");
  const computed = priority?.["value"] ?? 0;
  const policy = priority?.["preemptionPolicy"] ?? "PreemptLowerPriority";
  const refuse = (what: string, said: unknown, meant: unknown): Error =>
    forbidden(
      { group: "", plural: "pods" },
      stringAt(metadataOf(pod), "name") ?? "",
      `the ${what} (${String(said)}) must not be provided in pod spec; priority admission controller computed ${String(meant)} from the given PriorityClass name`,
    );
  if (spec["priority"] !== undefined && spec["priority"] !== computed)
    throw refuse("integer value of priority", spec["priority"], computed);
  if (spec["preemptionPolicy"] !== undefined && spec["preemptionPolicy"] !== policy)
    throw refuse("string value of PreemptionPolicy", spec["preemptionPolicy"], policy);
}

function beginBudget(budget: JsonObject, old: JsonObject | undefined): JsonObject {
  return old === undefined
    ? { ...budget, status: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 } }
    : budget;
}

function prepareNamespace(namespace: JsonObject, old: JsonObject | undefined): JsonObject {
  const name = stringAt(metadataOf(namespace), "name") ?? "";
  const labels = { ...objectAt(metadataOf(namespace), "labels"), "kubernetes.io/metadata.name": name };
  const labelled = withMetadata(namespace, { labels });
  if (old === undefined) return labelled;
  // The finalizers in spec belong to the namespace's own deletion and change through `/finalize` only.
  return { ...labelled, spec: { ...objectAt(namespace, "spec"), finalizers: stringsAt(old["spec"], "finalizers") } };
}
