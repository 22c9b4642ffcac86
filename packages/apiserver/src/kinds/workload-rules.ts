import { equalJson, isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, stringAt, stringsAt, without } from "../request/json.ts";
import { matchesLabelSelector } from "../request/label-selector-object.ts";
import type { FieldError } from "../schema/index.ts";
import { validatePodSpec } from "./pod-rules.ts";
import { forbiddenValue, invalidValue, required, unsupported } from "./rule-errors.ts";

/** What a Deployment, DaemonSet or ReplicaSet may not say; its selector never changes. */
export function validateWorkload(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const spec = objectAt(object, "spec");
  const { replicas } = spec;
  const errors: FieldError[] = [];
  if (typeof replicas === "number" && replicas < 0)
    errors.push(invalidValue("spec.replicas", replicas, "must be greater than or equal to 0"));
  errors.push(...validateRollout(objectAt(spec, "strategy"), "spec.strategy"));
  const selector = objectAt(spec, "selector");
  const isEmpty = Object.keys(objectAt(selector, "matchLabels")).length + objectsAt(selector, "matchExpressions").length === 0;
  if (spec["selector"] === undefined) errors.push(required("spec.selector"));
  else if (isEmpty)
    errors.push(invalidValue("spec.selector", selector, `empty selector is invalid for ${String(object["kind"]).toLowerCase()}`));
  const template = objectAt(spec, "template");
  const { labels } = objectAt(template, "metadata");
  if (spec["selector"] === undefined || (!isEmpty && !matchesLabelSelector(selector, isObject(labels) ? labels : {})))
    errors.push(invalidValue("spec.template.metadata.labels", labels, "`selector` does not match template `labels`"));
  const podErrors = validatePodSpec(withClaims(objectAt(template, "spec"), spec), "spec.template.spec");
  for (const error of podErrors) errors.push(error);
  const policy = stringAt(objectAt(template, "spec"), "restartPolicy") ?? "";
  if (policy !== "Always" && !podErrors.some(({ field }) => field.endsWith("restartPolicy")))
    errors.push(unsupported("spec.template.spec.restartPolicy", policy, ["Always"]));
  if (old !== undefined && !equalJson(objectAt(objectAt(old, "spec"), "selector"), selector))
    errors.push(invalidValue("spec.selector", inOrder(selector), "field is immutable"));
  return errors;
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
  const pod = objectAt(objectAt(spec, "template"), "spec");
  const errors: FieldError[] = [...validatePodSpec(pod, "spec.template.spec")];
  if (pod["restartPolicy"] === "Always") errors.push(required("spec.template.spec.restartPolicy", 'valid values: "OnFailure", "Never"'));
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

/** A number of pods, or a share of them such as `25%`. */
function countOrPercent(value: unknown, at: string, mostPercent = Number.POSITIVE_INFINITY): readonly FieldError[] {
  if (typeof value === "number") return value < 0 ? [invalidValue(at, value, "must be greater than or equal to 0")] : [];
  if (typeof value !== "string") return [];
  if (!/^[0-9]+%$/.test(value)) {
    const why =
      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
    return [invalidValue(at, value, why)];
  }
  return Number(value.slice(0, -1)) > mostPercent ? [invalidValue(at, value, "must not be greater than 100%")] : [];
}

/** What a PersistentVolumeClaim may not say; it changes in size alone, once it is bound. */
export function validateClaim(claim: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const spec = objectAt(claim, "spec");
  const why = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
  return [
    ...(old === undefined || isSameClaim(old, spec) ? [] : [forbiddenValue("spec", why)]),
    ...(stringsAt(spec, "accessModes").length === 0 ? [required("spec.accessModes", "at least 1 access mode is required")] : []),
    ...(objectAt(objectAt(spec, "resources"), "requests")["storage"] === undefined ? [required("spec.resources[storage]")] : []),
  ];
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
