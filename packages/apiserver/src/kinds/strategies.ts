import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, stringAt, stringsAt, withMetadata } from "../request/json.ts";
import { forbidden } from "../request/status.ts";
import { prepareCrd, validateCrd } from "./custom.ts";
import { autoscalerToServed, autoscalerToStored, defaultAutoscaler } from "./defaults/autoscaler.ts";
import { fill, inside } from "./defaults/fill.ts";
import {
  beginApiService,
  beginFlow,
  defaultApiService,
  defaultFlowSchema,
  defaultLimitRange,
  defaultPolicy,
  defaultPolicyBinding,
  defaultPriorityLevel,
  defaultWebhooks,
} from "./defaults/kept.ts";
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
import { prepareNode, validateNode } from "./node-rules.ts";
import { prepareBinding, validateBinding, validateRules } from "./permissions.ts";
import { refuseLabel, refusePathSegment, refuseSubdomain } from "../request/names.ts";
import { validatePod } from "./pod-rules.ts";
import { prepareSecret, validateConfigMap, validateSecret } from "./secret-rules.ts";
import { validateService } from "./service-rules.ts";
import {
  beginSigningRequest,
  prepareSigningRequest,
  restrictApproval,
  validateSigningRequest,
  validateSigningStatus,
} from "./signing-request.ts";
import { beginClaim, beginVolume } from "./new-volumes.ts";
import { validateBudget, validateClaim, validateJob, validateStatefulSet, validateWorkload } from "./workload-rules.ts";

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
  prepare: defaultWebhooks,
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
  },
  "/resourcequotas": { ...ordinary, answersDeletedObject: true },
  "/limitranges": { ...ordinary, prepare: defaultLimitRange },
  "/services": {
    ...ordinary,
    answersDeletedObject: true,
    refuseName: refuseLabel,
    selectableFields: ["spec.clusterIP", "spec.type"],
    prepare: defaultService,
    begin: (service, old, { stored }) => addressService(service, old, () => stored("/services")),
    validate: validateService,
  },
  "/endpoints": { ...ordinary, createsOnUpdate: true, prepare: defaultEndpoints },
  "coordination.k8s.io/leases": { ...ordinary, allowsUnconditionalUpdate: false, createsOnUpdate: true },
  "apps/deployments": {
    ...workload,
    generationCountsAnnotations: true,
    prepare: defaultDeployment,
    validate: validateWorkload,
  },
  "apps/daemonsets": {
    ...workload,
    prepare: (object, old) => countTemplates(defaultDaemonSet(object), old),
    validate: validateWorkload,
  },
  "apps/statefulsets": { ...workload, prepare: defaultStatefulSet, validate: validateStatefulSet },
  "apps/replicasets": {
    ...workload,
    prepare: defaultReplicaSet,
    validate: validateWorkload,
  },
  "networking.k8s.io/ingresses": workload,
  "networking.k8s.io/ingressclasses": workload,
  "networking.k8s.io/networkpolicies": { ...workload, prepare: defaultNetworkPolicy },
  "discovery.k8s.io/endpointslices": { ...workload, prepare: defaultEndpointSlice },
  "admissionregistration.k8s.io/validatingadmissionpolicies": { ...workload, prepare: defaultPolicy },
  "admissionregistration.k8s.io/validatingadmissionpolicybindings": { ...workload, prepare: defaultPolicyBinding },
  "admissionregistration.k8s.io/validatingwebhookconfigurations": webhooks,
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": webhooks,
  "apiregistration.k8s.io/apiservices": {
    ...ordinary,
    allowsUnconditionalUpdate: false,
    statusKeepsMetadata: true,
    refuseName: refusePathSegment,
    prepare: defaultApiService,
    begin: beginApiService,
  },
  "flowcontrol.apiserver.k8s.io/flowschemas": {
    ...workload,
    prepare: defaultFlowSchema,
    begin: beginFlow,
  },
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": {
    ...workload,
    prepare: defaultPriorityLevel,
    begin: beginFlow,
  },
  "scheduling.k8s.io/priorityclasses": {
    ...workload,
    keepsGeneration: true,
    prepare: (object) => fill(object, { preemptionPolicy: "PreemptLowerPriority" }),
  },
  "autoscaling/horizontalpodautoscalers": {
    ...ordinary,
    prepare: defaultAutoscaler,
    toServed: autoscalerToServed,
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
  "batch/cronjobs": { ...workload, prepare: defaultCronJob },
  "/replicationcontrollers": { ...workload, selectableFields: ["status.replicas"], prepare: defaultReplicationController },
  "/podtemplates": { ...workload, answersDeletedObject: true, prepare: defaultTemplate },
  "/persistentvolumes": {
    ...ordinary,
    answersDeletedObject: true,
    prepare: defaultVolume,
    begin: beginVolume,
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

function beginPod(pod: JsonObject, { stored }: WriteFacts): JsonObject {
  const wanted = stringAt(objectAt(pod, "spec"), "priorityClassName") ?? "";
  const priority = stored("scheduling.k8s.io/priorityclasses").find((found) =>
    wanted === "" ? found["globalDefault"] === true : metadataOf(found)["name"] === wanted,
  );
  if (wanted !== "" && priority === undefined) {
    const name = stringAt(metadataOf(pod), "name") ?? "";
    throw forbidden({ group: "", plural: "pods" }, name, `no PriorityClass with name ${wanted} was found`);
  }
  const admitted = admitNewPod(pod, priority);
  return { ...admitted, status: { phase: "Pending", qosClass: qosClassOf(admitted) } };
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
