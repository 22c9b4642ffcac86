import { scheduleProblem } from "./cron-schedule.ts";
import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, stringAt, stringsAt, without } from "../request/json.ts";
import { matchesLabelSelector } from "../request/label-selector-object.ts";
import type { FieldError } from "../schema/index.ts";
import type { WriteFacts } from "./kind.ts";
import { validatePodSpec, validatePortNumber } from "./pod-rules.ts";
import { forbiddenValue, invalidValue, required, unsupported } from "./rule-errors.ts";

/** What a Deployment, DaemonSet or ReplicaSet may not say; its selector never changes. */
export function validateWorkload(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const spec = objectAt(object, "spec");
  const errors: FieldError[] = [...validateReplicas(spec)];
  const selector = objectAt(spec, "selector");
  if (spec["selector"] === undefined) {
    errors.push(required("spec.selector"));
  } else if (Object.keys(objectAt(selector, "matchLabels")).length + objectsAt(selector, "matchExpressions").length === 0) {
    errors.push(invalidValue("spec.selector", selector, `empty selector is invalid for ${String(object["kind"]).toLowerCase()}`));
  }
  const template = objectAt(spec, "template");
  const labels = objectAt(objectAt(template, "metadata"), "labels");
  if (errors.every(({ field }) => field !== "spec.selector") || spec["selector"] === undefined) {
    if (spec["selector"] === undefined || !matchesLabelSelector(selector, labels)) {
      errors.push(invalidValue("spec.template.metadata.labels", labels, "`selector` does not match template `labels`"));
    }
  }
  const podErrors = validatePodSpec(objectAt(template, "spec"), "spec.template.spec");
  errors.push(...podErrors);
  const policy = stringAt(objectAt(template, "spec"), "restartPolicy") ?? "";
  if (policy !== "Always" && !podErrors.some(({ field }) => field.endsWith("restartPolicy"))) {
    errors.push(unsupported("spec.template.spec.restartPolicy", policy, ["Always"]));
  }
  if (old !== undefined && !equalJson(objectAt(objectAt(old, "spec"), "selector"), selector)) {
    errors.push(invalidValue("spec.selector", selector, "field is immutable"));
  }
  return errors;
}

function validateReplicas(spec: JsonObject): readonly FieldError[] {
  const { replicas } = spec;
  return typeof replicas === "number" && replicas < 0
    ? [invalidValue("spec.replicas", replicas, "must be greater than or equal to 0")]
    : [];
}

const changeable = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
] as const;

/** What a StatefulSet may not say; most of it never changes. */
export function validateStatefulSet(set: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const errors = validateWorkload(set, undefined);
  const fixed = (object: JsonObject): JsonObject => without(objectAt(object, "spec"), ...changeable);
  if (old === undefined || equalJson(fixed(old), fixed(set))) return errors;
  const names = changeable.map((name) => `'${name}'`);
  const list = `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
  return [...errors, forbiddenValue("spec", `updates to statefulset spec for fields other than ${list} are forbidden`)];
}

/** What a Job may not say; its pods and their number never change. */
export function validateJob(job: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const spec = objectAt(job, "spec");
  const errors: FieldError[] = [...validateJobPods(spec, "spec")];
  if (old === undefined) return errors;
  const before = objectAt(old, "spec");
  // A job that is suspended and was never started may still be placed elsewhere.
  const isFree = before["suspend"] === true && objectAt(old, "status")["startTime"] === undefined;
  for (const field of ["completions", "selector", "template", "completionMode"]) {
    if (field === "template" && isFree) continue;
    if (!equalJson(before[field] ?? null, spec[field] ?? null))
      errors.push(invalidValue(`spec.${field}`, spec[field], "field is immutable"));
  }
  return errors;
}

function validateJobPods(spec: JsonObject, at: string): readonly FieldError[] {
  const errors = [...validatePodSpec(objectAt(objectAt(spec, "template"), "spec"), `${at}.template.spec`)];
  const policy = stringAt(objectAt(objectAt(spec, "template"), "spec"), "restartPolicy");
  if (policy === "Always") errors.push(required(`${at}.template.spec.restartPolicy`, 'valid values: "OnFailure", "Never"'));
  return errors;
}

/** What a CronJob may not say. */
export function validateCronJob(cronJob: JsonObject): readonly FieldError[] {
  const spec = objectAt(cronJob, "spec");
  const errors: FieldError[] = [];
  const schedule = stringAt(spec, "schedule") ?? "";
  const problem = scheduleProblem(schedule);
  if (schedule === "") errors.push(required("spec.schedule"));
  else if (problem !== undefined) errors.push(invalidValue("spec.schedule", schedule, problem));
  return [...errors, ...validateJobPods(objectAt(objectAt(spec, "jobTemplate"), "spec"), "spec.jobTemplate.spec")];
}

const serviceTypes = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

/** What a Service may not say; its address never changes. */
export function validateService(service: JsonObject, old: JsonObject | undefined, { stored }: WriteFacts): readonly FieldError[] {
  const spec = objectAt(service, "spec");
  const errors: FieldError[] = [];
  const ports = objectsAt(spec, "ports");
  const type = stringAt(spec, "type") ?? "";
  const isHeadless = spec["clusterIP"] === "None";
  if (ports.length === 0 && !isHeadless && type !== "ExternalName") errors.push(required("spec.ports"));
  ports.forEach((port, index) => {
    const at = `spec.ports[${index}]`;
    if (ports.length > 1 && !stringAt(port, "name")) errors.push(required(`${at}.name`));
    errors.push(...validatePortNumber(port["port"], `${at}.port`));
    if (typeof port["targetPort"] === "number") errors.push(...validatePortNumber(port["targetPort"], `${at}.targetPort`));
    const node = port["nodePort"];
    if (typeof node === "number" && node !== 0 && (node < 30_000 || node > 32_767)) {
      const why = "provided port is not in the valid range. The range of valid ports is 30000-32767";
      errors.push(invalidValue(`${at}.nodePort`, node, why));
    }
  });
  if (!serviceTypes.includes(type)) errors.push(unsupported("spec.type", type, serviceTypes));
  const before = stringAt(objectAt(old, "spec"), "clusterIP") ?? "";
  if (before !== "" && type !== "ExternalName" && spec["clusterIP"] !== before) {
    errors.push(invalidValue("spec.clusterIPs[0]", [spec["clusterIP"]], "may not change once set"));
  } else if (before === "" && !isHeadless && typeof spec["clusterIP"] === "string" && errors.length === 0) {
    const address = spec["clusterIP"];
    const isTaken = stored("/services").some((other) => objectAt(other, "spec")["clusterIP"] === address);
    const why = !address.startsWith("10.96.")
      ? "the provided network does not match the current range"
      : isTaken
        ? "provided IP is already allocated"
        : undefined;
    if (why !== undefined) errors.push(invalidValue("spec.clusterIPs", [address], `failed to allocate IP ${address}: ${why}`));
  }
  return errors;
}

/** What a PodDisruptionBudget may not say. */
export function validateBudget(budget: JsonObject): readonly FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = objectAt(budget, "spec");
  if (minAvailable === undefined || maxUnavailable === undefined) return [];
  const shown = {
    MinAvailable: minAvailable,
    Selector: selector ?? null,
    MaxUnavailable: maxUnavailable,
    UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy ?? null,
  };
  return [invalidValue("spec", shown, "minAvailable and maxUnavailable cannot be both set")];
}

/** What a HorizontalPodAutoscaler may not say. */
export function validateAutoscaler(autoscaler: JsonObject): readonly FieldError[] {
  const spec = objectAt(autoscaler, "spec");
  const most = typeof spec["maxReplicas"] === "number" ? spec["maxReplicas"] : 0;
  const least = typeof spec["minReplicas"] === "number" ? spec["minReplicas"] : 1;
  return [
    ...(most < 1 ? [required("spec.maxReplicas", "must be set and greater than 0")] : []),
    ...(most < least ? [invalidValue("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")] : []),
  ];
}

/** What an Ingress may not say. */
export function validateIngress(ingress: JsonObject): readonly FieldError[] {
  const spec = objectAt(ingress, "spec");
  return spec["defaultBackend"] === undefined && objectsAt(spec, "rules").length === 0
    ? [invalidValue("spec", null, "either `defaultBackend` or `rules` must be specified")]
    : [];
}

/** What a PersistentVolumeClaim may not say. */
export function validateClaim(claim: JsonObject): readonly FieldError[] {
  const spec = objectAt(claim, "spec");
  const asked = objectAt(objectAt(spec, "resources"), "requests")["storage"];
  return [
    ...(stringsAt(spec, "accessModes").length === 0 ? [required("spec.accessModes", "at least 1 access mode is required")] : []),
    ...(asked === undefined ? [required("spec.resources[storage]")] : []),
  ];
}

/** What a Lease may not say. */
export function validateLease(lease: JsonObject): readonly FieldError[] {
  const spec = objectAt(lease, "spec");
  const seconds = spec["leaseDurationSeconds"];
  const transitions = spec["leaseTransitions"];
  return [
    ...(typeof seconds === "number" && seconds <= 0 ? [invalidValue("spec.leaseDurationSeconds", seconds, "must be greater than 0")] : []),
    ...(typeof transitions === "number" && transitions < 0
      ? [invalidValue("spec.leaseTransitions", transitions, "must be greater than or equal to 0")]
      : []),
  ];
}
