import { isObject, type JsonObject } from "../json.ts";
import { autoscalerToStored } from "../kinds/defaults/autoscaler.ts";
import { ageOf } from "./age.ts";
import { age, containerTexts, labelSelectorText, name, none, numberAt, selectorText } from "./cell-texts.ts";
import type { CellWriter } from "./cell-texts.ts";
import { at, listAt, textAt } from "./read-fields.ts";

const unset = "<unset>";

/** Up to `limit` texts and how many more there are. */
function firstOf(texts: readonly string[], limit = 3): string {
  if (texts.length === 0) return none;
  return texts.length > limit ? `${texts.slice(0, limit).join(",")} + ${texts.length - limit} more...` : texts.join(",");
}

const accessModeLetters: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

function accessModes(modes: readonly unknown[]): string {
  const given = new Set(modes.map(String));
  return Object.entries(accessModeLetters)
    .filter(([mode]) => given.has(mode))
    .map(([, letters]) => letters)
    .join(",");
}

function claimCells(claim: JsonObject, now: Date): readonly unknown[] {
  const volume = textAt("", claim, "spec", "volumeName");
  const isDeleted = at(claim, "metadata", "deletionTimestamp") !== undefined;
  return [
    name(claim),
    isDeleted ? "Terminating" : textAt("", claim, "status", "phase"),
    volume,
    volume === "" ? "" : textAt("", claim, "status", "capacity", "storage"),
    volume === "" ? "" : accessModes(listAt(claim, "status", "accessModes")),
    textAt("", claim, "spec", "storageClassName"),
    textAt(unset, claim, "spec", "volumeAttributesClassName"),
    age(claim, now),
    textAt(unset, claim, "spec", "volumeMode"),
  ];
}

function parameterText(binding: JsonObject): string {
  const param = textAt("", binding, "spec", "paramRef", "name");
  if (param !== "") return `${textAt("*", binding, "spec", "paramRef", "namespace")}/${param}`;
  const selector = at(binding, "spec", "paramRef", "selector");
  return selector === undefined ? unset : labelSelectorText(selector);
}

function volumeCells(volume: JsonObject, now: Date): readonly unknown[] {
  const claim = at(volume, "spec", "claimRef");
  const isDeleted = at(volume, "metadata", "deletionTimestamp") !== undefined;
  return [
    name(volume),
    textAt("", volume, "spec", "capacity", "storage"),
    accessModes(listAt(volume, "spec", "accessModes")),
    textAt("", volume, "spec", "persistentVolumeReclaimPolicy"),
    isDeleted ? "Terminating" : textAt("", volume, "status", "phase"),
    claim === undefined ? "" : `${textAt("", claim, "namespace")}/${textAt("", claim, "name")}`,
    textAt("", volume, "spec", "storageClassName"),
    textAt(unset, volume, "spec", "volumeAttributesClassName"),
    textAt("", volume, "status", "reason"),
    age(volume, now),
    textAt(unset, volume, "spec", "volumeMode"),
  ];
}

function metricText(spec: unknown, current: unknown, field: string): string {
  const target = at(spec, field, "target");
  const seen = at(current, field, "current");
  const utilization = at(target, "averageUtilization");
  if (typeof utilization === "number") {
    const now = at(seen, "averageUtilization");
    return `${typeof now === "number" ? `${now}%` : "<unknown>"}/${utilization}%`;
  }
  const average = textAt("", target, "averageValue");
  return average === ""
    ? `${textAt("<unknown>", seen, "value")}/${textAt("", target, "value")}`
    : `${textAt("<unknown>", seen, "averageValue")}/${average}${field === "external" || field === "object" ? " (avg)" : ""}`;
}

function targetsText(autoscaler: JsonObject): string {
  const current = listAt(autoscaler, "status", "currentMetrics");
  const texts = listAt(autoscaler, "spec", "metrics").map((metric, index) => {
    const type = textAt("", metric, "type");
    const field = `${type.slice(0, 1).toLowerCase()}${type.slice(1)}`;
    const text = metricText(metric, current[index], field);
    return type === "Resource" || type === "ContainerResource" ? `${textAt("", metric, field, "name")}: ${text}` : text;
  });
  if (texts.length === 0) return none;
  return texts.length > 2 ? `${texts.slice(0, 2).join(", ")} + ${texts.length - 2} more...` : texts.join(", ");
}

function slicePorts(slice: JsonObject): string {
  const ports = listAt(slice, "ports");
  if (ports.length === 0) return unset;
  return firstOf(ports.map((port) => (typeof at(port, "port") === "number" ? String(at(port, "port")) : "*")));
}

function ingressCells(ingress: JsonObject, now: Date): readonly unknown[] {
  const hosts = listAt(ingress, "spec", "rules")
    .map((rule) => textAt("", rule, "host"))
    .filter((host) => host !== "");
  const addresses = listAt(ingress, "status", "loadBalancer", "ingress").map((item) => textAt(textAt("", item, "hostname"), item, "ip"));
  return [
    name(ingress),
    textAt(none, ingress, "spec", "ingressClassName"),
    hosts.length === 0 ? "*" : firstOf(hosts),
    addresses.filter((text) => text !== "").join(","),
    listAt(ingress, "spec", "tls").length > 0 ? "80, 443" : "80",
    age(ingress, now),
  ];
}

function classParameters(ingressClass: JsonObject): string {
  const parameters = at(ingressClass, "spec", "parameters");
  if (!isObject(parameters)) return none;
  const group = textAt("", parameters, "apiGroup");
  return `${textAt("", parameters, "kind")}${group === "" ? "" : `.${group}`}/${textAt("", parameters, "name")}`;
}

function revisionOwner(revision: JsonObject): string {
  const owner = listAt(revision, "metadata", "ownerReferences").find((reference) => at(reference, "controller") === true);
  if (owner === undefined) return none;
  const group = textAt("", owner, "apiVersion").split("/")[0] ?? "";
  const kind = textAt("", owner, "kind").toLowerCase();
  return `${textAt("", owner, "apiVersion").includes("/") ? `${kind}.${group}` : kind}/${textAt("", owner, "name")}`;
}

function templateTexts(template: JsonObject): readonly [string, string] {
  const containers = listAt(template, "template", "spec", "containers");
  return [containers.map((item) => textAt("", item, "name")).join(","), containers.map((item) => textAt("", item, "image")).join(",")];
}

/** Cells of the kinds that an API only keeps: volumes, networks, classes, schedules. */
export const clusterCells: Readonly<Record<string, CellWriter>> = {
  PersistentVolumeClaim: claimCells,
  PersistentVolume: volumeCells,
  PodTemplate: (o) => [name(o), ...templateTexts(o), selectorText(at(o, "template", "metadata", "labels"))],
  ReplicationController: (o, now) => [
    name(o),
    numberAt(o, "spec", "replicas"),
    numberAt(o, "status", "replicas"),
    numberAt(o, "status", "readyReplicas"),
    age(o, now),
    ...containerTexts(o),
    selectorText(at(o, "spec", "selector")),
  ],
  ControllerRevision: (o, now) => [name(o), revisionOwner(o), numberAt(o, "revision"), age(o, now)],
  HorizontalPodAutoscaler: (o, now) => [
    name(o),
    `${textAt("", o, "spec", "scaleTargetRef", "kind")}/${textAt("", o, "spec", "scaleTargetRef", "name")}`,
    targetsText(autoscalerToStored(o)),
    at(o, "spec", "minReplicas") === undefined ? unset : String(numberAt(o, "spec", "minReplicas")),
    numberAt(o, "spec", "maxReplicas"),
    numberAt(o, "status", "currentReplicas"),
    age(o, now),
  ],
  CronJob: (o, now) => {
    const containers = listAt(o, "spec", "jobTemplate", "spec", "template", "spec", "containers");
    const last = at(o, "status", "lastScheduleTime");
    return [
      name(o),
      textAt("", o, "spec", "schedule"),
      textAt(none, o, "spec", "timeZone"),
      at(o, "spec", "suspend") === true ? "True" : "False",
      listAt(o, "status", "active").length,
      typeof last === "string" ? ageOf(last, now) : none,
      age(o, now),
      containers.map((item) => textAt("", item, "name")).join(","),
      containers.map((item) => textAt("", item, "image")).join(","),
      labelSelectorText(at(o, "spec", "jobTemplate", "spec", "selector")),
    ];
  },
  EndpointSlice: (o, now) => [
    name(o),
    textAt("", o, "addressType"),
    slicePorts(o),
    listAt(o, "endpoints").length === 0 ? unset : firstOf(listAt(o, "endpoints").flatMap((item) => listAt(item, "addresses").map(String))),
    age(o, now),
  ],
  Ingress: ingressCells,
  IngressClass: (o, now) => [
    at(o, "metadata", "annotations", "ingressclass.kubernetes.io/is-default-class") === "true" ? `${name(o)} (default)` : name(o),
    textAt("", o, "spec", "controller"),
    classParameters(o),
    age(o, now),
  ],
  NetworkPolicy: (o, now) => [name(o), labelSelectorText(at(o, "spec", "podSelector")), age(o, now)],
  RuntimeClass: (o, now) => [name(o), textAt("", o, "handler"), age(o, now)],
  PriorityClass: (o, now) => [
    name(o),
    numberAt(o, "value"),
    at(o, "globalDefault") === true,
    age(o, now),
    textAt("", o, "preemptionPolicy"),
  ],
  StorageClass: (o, now) => [
    at(o, "metadata", "annotations", "storageclass.kubernetes.io/is-default-class") === "true" ? `${name(o)} (default)` : name(o),
    textAt("", o, "provisioner"),
    textAt("Delete", o, "reclaimPolicy"),
    textAt("Immediate", o, "volumeBindingMode"),
    at(o, "allowVolumeExpansion") === true,
    age(o, now),
  ],
  ValidatingAdmissionPolicy: (o, now) => {
    const kind = at(o, "spec", "paramKind");
    const paramKind =
      kind === undefined ? unset : `${textAt("", o, "spec", "paramKind", "apiVersion")}/${textAt("", o, "spec", "paramKind", "kind")}`;
    return [name(o), listAt(o, "spec", "validations").length, paramKind, age(o, now)];
  },
  ValidatingAdmissionPolicyBinding: (o, now) => [name(o), textAt("", o, "spec", "policyName"), parameterText(o), age(o, now)],
};
