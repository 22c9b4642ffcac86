import { scheduleProblem } from "./cron-schedule.ts";
import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, stringAt, stringsAt, without } from "../request/json.ts";
import { matchesLabelSelector } from "../request/label-selector-object.ts";
import type { FieldError } from "../schema/index.ts";
import { countOrPercent, notNegative } from "./number-rules.ts";
import { validatePodSpec } from "./pod-rules.ts";
import { systemPriorities } from "./priorities.ts";
import { forbiddenValue, invalidValue, required, unsupported } from "./rule-errors.ts";
import { tryParseQuantity } from "../cel/quantity.ts";
import { isObject } from "../json.ts";

/** What a Deployment, DaemonSet or ReplicaSet may not say; its selector never changes. */
export function validateWorkload(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const spec = objectAt(object, "spec");
  const errors: FieldError[] = [
    ...notNegative(spec, "spec", ["replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"]),
    ...validateDeadline(spec),
    ...validateRollout(objectAt(spec, "strategy"), "spec.strategy"),
  ];
  const selector = objectAt(spec, "selector");
  if (spec["selector"] === undefined) {
    errors.push(required("spec.selector"));
  } else if (Object.keys(objectAt(selector, "matchLabels")).length + objectsAt(selector, "matchExpressions").length === 0) {
    errors.push(invalidValue("spec.selector", selector, `empty selector is invalid for ${String(object["kind"]).toLowerCase()}`));
  }
  const template = objectAt(spec, "template");
  const metadata = objectAt(template, "metadata");
  const labels = objectAt(metadata, "labels");
  if (errors.every(({ field }) => field !== "spec.selector") || spec["selector"] === undefined) {
    if (spec["selector"] === undefined || !matchesLabelSelector(selector, labels)) {
      errors.push(invalidValue("spec.template.metadata.labels", metadata["labels"], "`selector` does not match template `labels`"));
    }
  }
  if (object["kind"] === "DaemonSet") errors.push(...validateDaemonRollout(objectAt(spec, "updateStrategy"), "spec.updateStrategy"));
  const podErrors = validatePodSpec(withClaims(objectAt(template, "spec"), spec), "spec.template.spec");
  errors.push(...podErrors);
  const policy = stringAt(objectAt(template, "spec"), "restartPolicy") ?? "";
  if (policy !== "Always" && !podErrors.some(({ field }) => field.endsWith("restartPolicy"))) {
    errors.push(unsupported("spec.template.spec.restartPolicy", policy, ["Always"]));
  }
  if (old !== undefined && !equalJson(objectAt(objectAt(old, "spec"), "selector"), selector)) {
    errors.push(invalidValue("spec.selector", inOrder(selector), "field is immutable"));
  }
  return errors;
}

/** The pod of a StatefulSet, with the volumes that its claims become; that of another workload as it is. */
function withClaims(pod: JsonObject, { volumeClaimTemplates }: JsonObject): JsonObject {
  const claims = objectsAt({ volumeClaimTemplates }, "volumeClaimTemplates").map((claim) => objectAt(claim, "metadata")["name"]);
  if (claims.length === 0) return pod;
  const volumes = objectsAt(pod, "volumes").filter(({ name }) => !claims.includes(name));
  return { ...pod, volumes: [...volumes, ...claims.map((name) => ({ name, emptyDir: {} }))] };
}

/** A selector as Go prints it: the labels in the order of their names. */
function inOrder(selector: JsonObject): JsonObject {
  if (selector["matchLabels"] === undefined) return selector;
  const labels = Object.entries(objectAt(selector, "matchLabels")).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { ...selector, matchLabels: Object.fromEntries(labels) };
}

const statusCounts: Readonly<Record<string, readonly string[]>> = {
  Deployment: [
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "collisionCount",
  ],
  ReplicaSet: ["replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"],
  DaemonSet: [
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
  ],
};

/** Counts of a status are not negative, and none counts more pods than there are. */
export function validateWorkloadStatus(object: JsonObject): readonly FieldError[] {
  const status = objectAt(object, "status");
  const countOf = (field: string): number => (typeof status[field] === "number" ? status[field] : 0);
  const atMost = (field: string, limit: string, shown: string): readonly FieldError[] =>
    countOf(field) > countOf(limit) ? [invalidValue(`status.${field}`, countOf(field), `cannot be greater than ${shown}`)] : [];
  const kind = String(object["kind"]);
  const parts = { Deployment: ["updatedReplicas"], ReplicaSet: ["fullyLabeledReplicas"] }[kind] ?? [];
  return [
    ...notNegative(status, "status", statusCounts[kind] ?? []),
    ...(kind === "DaemonSet"
      ? []
      : [
          ...[...parts, "readyReplicas", "availableReplicas"].flatMap((field) => atMost(field, "replicas", "status.replicas")),
          ...atMost("availableReplicas", "readyReplicas", "readyReplicas"),
        ]),
  ];
}

/** A Deployment that waits longer for a pod than for itself would never be through. */
function validateDeadline({ progressDeadlineSeconds, minReadySeconds }: JsonObject): readonly FieldError[] {
  const least = typeof minReadySeconds === "number" ? minReadySeconds : 0;
  return typeof progressDeadlineSeconds === "number" && progressDeadlineSeconds <= least
    ? [invalidValue("spec.progressDeadlineSeconds", progressDeadlineSeconds, "must be greater than minReadySeconds")]
    : [];
}

/** How many pods may be missing or too many while a Deployment rolls. */
function validateRollout(strategy: JsonObject, at: string): readonly FieldError[] {
  const rolling = strategy["rollingUpdate"];
  if (!isObject(rolling)) return [];
  if (strategy["type"] === "Recreate")
    return [forbiddenValue(`${at}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'")];
  const { maxSurge, maxUnavailable } = rolling;
  const isNone = (value: unknown): boolean => value === 0 || value === "0%";
  return [
    ...countOrPercent(maxUnavailable, `${at}.rollingUpdate.maxUnavailable`, 100),
    ...countOrPercent(maxSurge, `${at}.rollingUpdate.maxSurge`),
    ...(isNone(maxSurge) && isNone(maxUnavailable)
      ? [invalidValue(`${at}.rollingUpdate.maxUnavailable`, maxUnavailable, "may not be 0 when `maxSurge` is 0")]
      : []),
  ];
}

/** A DaemonSet replaces pods either before or after their successors are there. */
function validateDaemonRollout(strategy: JsonObject, at: string): readonly FieldError[] {
  const rolling = strategy["rollingUpdate"];
  if (!isObject(rolling)) return [];
  const { maxSurge, maxUnavailable } = rolling;
  const isNone = (value: unknown): boolean => value === undefined || value === 0 || value === "0%";
  return [
    ...countOrPercent(maxUnavailable, `${at}.rollingUpdate.maxUnavailable`, 100),
    ...countOrPercent(maxSurge, `${at}.rollingUpdate.maxSurge`, 100),
    ...(isNone(maxSurge) && isNone(maxUnavailable)
      ? [required(`${at}.rollingUpdate.maxUnavailable`, "cannot be 0 when maxSurge is 0")]
      : []),
    ...(isNone(maxSurge) || isNone(maxUnavailable)
      ? []
      : [invalidValue(`${at}.rollingUpdate.maxSurge`, maxSurge, "may not be set when maxUnavailable is non-zero")]),
  ];
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
  // One pod an index: a job may get more of both at once.
  const isIndexed = spec["completionMode"] === "Indexed" && spec["completions"] !== undefined;
  const isElastic = isIndexed && !equalJson(before["completions"] ?? null, spec["completions"]);
  if (isElastic && spec["completions"] !== spec["parallelism"])
    errors.push(invalidValue("spec.completions", spec["completions"], "can only be modified in tandem with spec.parallelism"));
  for (const field of [...(isElastic ? [] : ["completions"]), "selector", "template", "completionMode"]) {
    const fixed = (of: unknown): unknown => (field === "template" && isFree ? withoutPlacement(of) : (of ?? null));
    if (!equalJson(fixed(before[field]), fixed(spec[field]))) errors.push(invalidValue(`spec.${field}`, spec[field], "field is immutable"));
  }
  return errors;
}

/** A pod template without what says where its pods run and what they may use. */
function withoutPlacement(template: unknown): JsonObject {
  const metadata = without(objectAt(template, "metadata"), "labels", "annotations");
  const spec = without(objectAt(template, "spec"), "nodeSelector", "affinity", "tolerations", "schedulingGates");
  const lists = ["containers", "initContainers"].map(
    (list) => [list, objectsAt(spec, list).map((one) => without(one, "resources"))] as const,
  );
  return { metadata, spec: { ...spec, ...Object.fromEntries(lists) } };
}

function validateJobPods(spec: JsonObject, at: string): readonly FieldError[] {
  const numbers = ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"];
  const errors = [
    ...notNegative(spec, at, numbers),
    ...validatePodSpec(objectAt(objectAt(spec, "template"), "spec"), `${at}.template.spec`),
  ];
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
  const zone = stringAt(spec, "timeZone");
  if (zone !== undefined && !isTimeZone(zone)) errors.push(invalidValue("spec.timeZone", zone, `unknown time zone ${zone}`));
  errors.push(...notNegative(spec, "spec", ["startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"]));
  return [...errors, ...validateJobPods(objectAt(objectAt(spec, "jobTemplate"), "spec"), "spec.jobTemplate.spec")];
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false; // the only thing that it refuses here
  }
}

/** What a PodDisruptionBudget may not say. */
export function validateBudget(budget: JsonObject): readonly FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = objectAt(budget, "spec");
  const shares = [...countOrPercent(minAvailable, "spec.minAvailable", 100), ...countOrPercent(maxUnavailable, "spec.maxUnavailable", 100)];
  if (minAvailable === undefined || maxUnavailable === undefined) return shares;
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
  const target = objectAt(spec, "scaleTargetRef");
  const isCore = (stringAt(target, "apiVersion") ?? "") === "" && target["kind"] !== "ReplicationController";
  return [
    ...(most < 1 ? [required("spec.maxReplicas", "must be set and greater than 0")] : []),
    ...(most < least ? [invalidValue("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")] : []),
    ...(least < 1 ? [invalidValue("spec.minReplicas", least, "must be greater than or equal to 1")] : []),
    ...["kind", "name"].filter((field) => (stringAt(target, field) ?? "") === "").map((field) => required(`spec.scaleTargetRef.${field}`)),
    ...(isCore ? [invalidValue("spec.scaleTargetRef.apiVersion", "", "apiVersion must specify API group")] : []),
  ];
}

const policies: readonly [string, ...string[]] = ["PreemptLowerPriority", "Never"];

/** What a PriorityClass may not say: what is above is for the system. */
export function validatePriorityClass(priority: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const { value } = priority;
  if (old !== undefined) {
    const policyOf = (of: JsonObject): unknown => of["preemptionPolicy"] ?? "PreemptLowerPriority";
    return [
      ...(value === old["value"] ? [] : [forbiddenValue("value", "may not be changed in an update.")]),
      ...(policyOf(priority) === policyOf(old) ? [] : [invalidValue("preemptionPolicy", policyOf(priority), "field is immutable")]),
    ];
  }
  const name = stringAt(objectAt(priority, "metadata"), "name") ?? "";
  if (systemPriorities[name] !== undefined) return [];
  const isReserved = name.startsWith("system-");
  const policy = stringAt(priority, "preemptionPolicy") ?? policies[0];
  return [
    ...(policies.includes(policy) ? [] : [unsupported("preemptionPolicy", policy, policies)]),
    ...(isReserved
      ? [
          forbiddenValue(
            "metadata.name",
            `priority class names with 'system-' prefix are reserved for system use only. error: ${name} is not a known system priority class`,
          ),
        ]
      : []),
    ...(!isReserved && typeof value === "number" && value > 1_000_000_000
      ? [forbiddenValue("value", "maximum allowed value of a user defined priority is 1000000000")]
      : []),
  ];
}

/** What a PersistentVolume may not say. */
export function validateVolume(volume: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const spec = objectAt(volume, "spec");
  const plain = ["nodeAffinity", "claimRef", "capacity"];
  const sourcesOf = (of: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(of).filter(([field, value]) => isObject(value) && !plain.includes(field)));
  const sources = sourcesOf(spec);
  const hasSource = Object.keys(sources).length > 0;
  const place = "spec.persistentvolumesource";
  const isMoved = old !== undefined && !equalJson(sourcesOf(objectAt(old, "spec")), sources);
  return [
    ...(isMoved ? [forbiddenValue(place, `${place} is immutable after creation`)] : []),
    ...(stringsAt(spec, "accessModes").length === 0 ? [required("spec.accessModes")] : []),
    ...(Object.keys(objectAt(spec, "capacity")).length > 0
      ? []
      : [
          required("spec.capacity"),
          {
            reason: "FieldValueNotSupported" as const,
            field: "spec.capacity",
            message: `Unsupported value: ${JSON.stringify(spec["capacity"] ?? null)}: supported values: "storage"`,
          },
        ]),
    ...(hasSource ? [] : [required("spec", "must specify a volume type")]),
  ];
}

/** What a PersistentVolumeClaim may not say. */
export function validateClaim(claim: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const spec = objectAt(claim, "spec");
  const modes = stringsAt(spec, "accessModes");
  const asked = objectAt(objectAt(spec, "resources"), "requests")["storage"];
  const why = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
  return [
    ...(old === undefined || isSameClaim(old, spec) ? [] : [forbiddenValue("spec", why)]),
    ...(modes.length === 0 ? [required("spec.accessModes", "at least 1 access mode is required")] : []),
    ...(modes.includes(alone) && modes.length > 1
      ? [forbiddenValue("spec.accessModes", `may not use ${alone} with other access modes`)]
      : []),
    // What Go would print of the two is nothing.
    ...(isSameSource(spec) ? [] : [invalidValue("spec", {}, "must match dataSourceRef")]),
    ...(asked === undefined ? [required("spec.resources[storage]")] : []),
    ...((tryParseQuantity(String(asked))?.mantissa ?? 1n) <= 0n
      ? [invalidValue("spec.resources[storage]", asked, "must be greater than zero")]
      : []),
  ];
}

const alone = "ReadWriteOncePod";

function isSameSource({ dataSource, dataSourceRef }: JsonObject): boolean {
  if (!isObject(dataSource) || !isObject(dataSourceRef)) return true;
  return ["apiGroup", "kind", "name"].every((field) => (dataSource[field] ?? "") === (dataSourceRef[field] ?? ""));
}

function isSameClaim(old: JsonObject, spec: JsonObject): boolean {
  const before = objectAt(old, "spec");
  const isBound = objectAt(old, "status")["phase"] === "Bound";
  // What was open may be filled in once.
  const given = ["volumeName", "storageClassName"].filter((field) => (before[field] ?? "") === "");
  const fixed = (of: JsonObject): JsonObject => {
    const rest = without(of, ...given, ...(isBound ? ["volumeAttributesClassName"] : []));
    return isBound ? { ...rest, resources: without(objectAt(of, "resources"), "requests") } : rest;
  };
  return equalJson(fixed(before), fixed(spec));
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
