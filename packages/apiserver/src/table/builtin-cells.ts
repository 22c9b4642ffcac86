import { isObject, type JsonObject } from "../json.ts";
import { ageOf, printAge } from "./age.ts";
import { age, containerTexts, labelSelectorText, name, none, numberAt, selectorText, sizeOf } from "./cell-texts.ts";
import type { CellWriter } from "./cell-texts.ts";
import { clusterCells } from "./cluster-cells.ts";
import { extensionCells } from "./extension-cells.ts";
import { podReady, podRestarts, podStatus } from "./pod-cells.ts";
import { at, listAt, textAt } from "./read-fields.ts";
import { storageCells } from "./storage-cells.ts";

function nodeStatus(node: JsonObject): string {
  const ready = listAt(node, "status", "conditions").find((condition) => at(condition, "type") === "Ready");
  const status = ready === undefined ? "Unknown" : at(ready, "status") === "True" ? "Ready" : "NotReady";
  return at(node, "spec", "unschedulable") === true ? `${status},SchedulingDisabled` : status;
}

function nodeRoles(node: JsonObject): string {
  const labels = at(node, "metadata", "labels");
  const roles = new Set<string>();
  for (const key of Object.keys(isObject(labels) ? labels : {})) {
    const role = /^node-role\.kubernetes\.io\/(.+)$/u.exec(key)?.[1];
    if (role !== undefined) roles.add(role);
    else if (key === "kubernetes.io/role" && isObject(labels)) roles.add(String(labels[key]));
  }
  return roles.size === 0 ? none : [...roles].sort().join(",");
}

function nodeAddress(node: JsonObject, type: string): string {
  return textAt(
    none,
    listAt(node, "status", "addresses").find((address) => at(address, "type") === type),
    "address",
  );
}

function kernelText(node: JsonObject): string {
  const kernel = textAt("", node, "status", "nodeInfo", "kernelVersion");
  const architecture = textAt("", node, "status", "nodeInfo", "architecture");
  if (kernel === "") return "<unknown>";
  return architecture === "" ? kernel : `${kernel} (${architecture})`;
}

function serviceExternal(service: JsonObject): string {
  const external = listAt(service, "spec", "externalIPs").map(String);
  switch (at(service, "spec", "type")) {
    case "LoadBalancer": {
      const given = listAt(service, "status", "loadBalancer", "ingress").map((item) => textAt(textAt("", item, "hostname"), item, "ip"));
      const all = [...given, ...external].filter((text) => text !== "");
      return all.length === 0 ? "<pending>" : all.join(",");
    }
    case "ExternalName":
      return textAt(none, service, "spec", "externalName");
    default:
      return external.length === 0 ? none : external.join(",");
  }
}

function servicePorts(service: JsonObject): string {
  const ports = listAt(service, "spec", "ports").map((port) => {
    const node = numberAt(port, "nodePort");
    return `${numberAt(port, "port")}${node > 0 ? `:${node}` : ""}/${textAt("TCP", port, "protocol")}`;
  });
  return ports.length === 0 ? none : ports.join(",");
}

function endpointsText(endpoints: JsonObject): string {
  const all = listAt(endpoints, "subsets").flatMap((subset) => {
    const addresses = listAt(subset, "addresses").map((address) => textAt("", address, "ip"));
    const ports = listAt(subset, "ports").map((port) => numberAt(port, "port"));
    return ports.length === 0
      ? addresses
      : ports.flatMap((port) => addresses.map((address) => `${address.includes(":") ? `[${address}]` : address}:${port}`));
  });
  if (all.length === 0) return none;
  return all.length > 3 ? `${all.slice(0, 3).join(",")} + ${all.length - 3} more...` : all.join(",");
}

function eventCells(event: JsonObject, now: Date): readonly unknown[] {
  const first = ageOf(at(event, "firstTimestamp") ?? at(event, "deprecatedFirstTimestamp") ?? at(event, "eventTime"), now);
  const series = at(event, "series", "lastObservedTime");
  const lastSeen = series ?? at(event, "lastTimestamp") ?? at(event, "deprecatedLastTimestamp");
  const regarding = at(event, "involvedObject") ?? at(event, "regarding");
  const kind = textAt("", regarding, "kind").toLowerCase();
  const target = textAt("", regarding, "name");
  const count = numberAt(event, "series", "count") || numberAt(event, "count") || numberAt(event, "deprecatedCount") || 1;
  const source = isObject(at(event, "source")) ? at(event, "source") : at(event, "deprecatedSource");
  const component = textAt(textAt(textAt("", event, "reportingController"), event, "reportingComponent"), source, "component");
  const host = textAt(textAt("", event, "reportingInstance"), source, "host");
  return [
    lastSeen === undefined || lastSeen === null ? first : ageOf(lastSeen, now),
    textAt("", event, "type"),
    textAt("", event, "reason"),
    target === "" ? kind : `${kind}/${target}`,
    textAt("", regarding, "fieldPath"),
    host === "" ? component : `${component}, ${host}`,
    textAt(textAt("", event, "note"), event, "message").trim(),
    first,
    count,
    name(event),
  ];
}

function jobCells(job: JsonObject, now: Date): readonly unknown[] {
  const is = (type: string): boolean =>
    listAt(job, "status", "conditions").some((condition) => at(condition, "type") === type && at(condition, "status") === "True");
  const status = is("Complete")
    ? "Complete"
    : is("Failed")
      ? "Failed"
      : is("Suspended")
        ? "Suspended"
        : is("FailureTarget")
          ? "FailureTarget"
          : is("SuccessCriteriaMet")
            ? "SuccessCriteriaMet"
            : "Running";
  const succeeded = numberAt(job, "status", "succeeded");
  const wanted = at(job, "spec", "completions");
  const parallel = numberAt(job, "spec", "parallelism");
  const completions =
    typeof wanted === "number" ? `${succeeded}/${wanted}` : parallel > 1 ? `${succeeded}/1 of ${parallel}` : `${succeeded}/1`;
  const start = textAt("", job, "status", "startTime");
  const end = textAt("", job, "status", "completionTime");
  const until = end === "" ? now.getTime() : Date.parse(end);
  const duration = start === "" ? "" : printAge(Math.trunc((until - Date.parse(start)) / 1000));
  return [name(job), status, completions, duration, age(job, now), ...containerTexts(job), labelSelectorText(at(job, "spec", "selector"))];
}

function budgetText(value: unknown): string {
  return value === undefined || value === null ? "N/A" : typeof value === "string" ? value : JSON.stringify(value);
}

function bindingCells(binding: JsonObject, now: Date): readonly unknown[] {
  const subjects = listAt(binding, "subjects");
  const ofKind = (kind: string, print: (subject: unknown) => string): string =>
    subjects
      .filter((subject) => at(subject, "kind") === kind)
      .map(print)
      .join(", ");
  const named = (subject: unknown): string => textAt("", subject, "name");
  return [
    name(binding),
    `${textAt("", binding, "roleRef", "kind")}/${textAt("", binding, "roleRef", "name")}`,
    age(binding, now),
    ofKind("User", named),
    ofKind("Group", named),
    ofKind("ServiceAccount", (subject) => `${textAt("", subject, "namespace")}/${named(subject)}`),
  ];
}

const createdAt: CellWriter = (object) => [name(object), textAt("", object, "metadata", "creationTimestamp")];

/** Cells of built-in kinds, by kind; both kinds called Event print alike. */
export const builtinCells: Readonly<Record<string, CellWriter>> = {
  ...clusterCells,
  ...storageCells,
  ...extensionCells,
  Namespace: (o, now) => [name(o), textAt("", o, "status", "phase"), age(o, now)],
  Node: (o, now) => [
    name(o),
    nodeStatus(o),
    nodeRoles(o),
    age(o, now),
    textAt("", o, "status", "nodeInfo", "kubeletVersion"),
    nodeAddress(o, "InternalIP"),
    nodeAddress(o, "ExternalIP"),
    textAt("<unknown>", o, "status", "nodeInfo", "osImage"),
    kernelText(o),
    textAt("<unknown>", o, "status", "nodeInfo", "containerRuntimeVersion"),
  ],
  Pod: (o, now) => [
    name(o),
    podReady(o),
    podStatus(o),
    podRestarts(o, now),
    age(o, now),
    textAt(none, o, "status", "podIP"),
    textAt(none, o, "spec", "nodeName"),
    textAt(none, o, "status", "nominatedNodeName"),
    readinessGates(o),
  ],
  Service: (o, now) => [
    name(o),
    textAt("ClusterIP", o, "spec", "type"),
    textAt(none, o, "spec", "clusterIP"),
    serviceExternal(o),
    servicePorts(o),
    age(o, now),
    selectorText(at(o, "spec", "selector")),
  ],
  Endpoints: (o, now) => [name(o), endpointsText(o), age(o, now)],
  Secret: (o, now) => [name(o), textAt("", o, "type"), sizeOf(at(o, "data")), age(o, now)],
  ConfigMap: (o, now) => [name(o), sizeOf(at(o, "data")) + sizeOf(at(o, "binaryData")), age(o, now)],
  ServiceAccount: (o, now) => [name(o), age(o, now)],
  Event: eventCells,
  Deployment: (o, now) => [
    name(o),
    `${numberAt(o, "status", "readyReplicas")}/${replicasOf(o)}`,
    numberAt(o, "status", "updatedReplicas"),
    numberAt(o, "status", "availableReplicas"),
    age(o, now),
    ...containerTexts(o),
    labelSelectorText(at(o, "spec", "selector")),
  ],
  DaemonSet: (o, now) => [
    name(o),
    numberAt(o, "status", "desiredNumberScheduled"),
    numberAt(o, "status", "currentNumberScheduled"),
    numberAt(o, "status", "numberReady"),
    numberAt(o, "status", "updatedNumberScheduled"),
    numberAt(o, "status", "numberAvailable"),
    selectorText(at(o, "spec", "template", "spec", "nodeSelector")),
    age(o, now),
    ...containerTexts(o),
    labelSelectorText(at(o, "spec", "selector")),
  ],
  StatefulSet: (o, now) => [name(o), `${numberAt(o, "status", "readyReplicas")}/${replicasOf(o)}`, age(o, now), ...containerTexts(o)],
  ReplicaSet: (o, now) => [
    name(o),
    replicasOf(o),
    numberAt(o, "status", "replicas"),
    numberAt(o, "status", "readyReplicas"),
    age(o, now),
    ...containerTexts(o),
    labelSelectorText(at(o, "spec", "selector")),
  ],
  Job: jobCells,
  PodDisruptionBudget: (o, now) => [
    name(o),
    budgetText(at(o, "spec", "minAvailable")),
    budgetText(at(o, "spec", "maxUnavailable")),
    numberAt(o, "status", "disruptionsAllowed"),
    age(o, now),
  ],
  Lease: (o, now) => [name(o), textAt("", o, "spec", "holderIdentity"), age(o, now)],
  CustomResourceDefinition: createdAt,
  Role: createdAt,
  ClusterRole: createdAt,
  RoleBinding: bindingCells,
  ClusterRoleBinding: bindingCells,
};

function replicasOf(object: JsonObject): number {
  const replicas = at(object, "spec", "replicas");
  return typeof replicas === "number" ? replicas : 1;
}

function readinessGates(pod: JsonObject): string {
  const gates = listAt(pod, "spec", "readinessGates");
  if (gates.length === 0) return none;
  const conditions = listAt(pod, "status", "conditions");
  const passed = gates.filter((gate) =>
    conditions.some((found) => at(found, "type") === at(gate, "conditionType") && at(found, "status") === "True"),
  );
  return `${passed.length}/${gates.length}`;
}
