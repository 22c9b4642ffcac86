import type { JsonObject } from "../json.ts";
import { isObject } from "../json.ts";
import { metadataOf, objectAt, objectsAt, stringAt } from "../request/json.ts";
import { spendStep } from "../request/deadline.ts";
import { quantityOf } from "./amounts.ts";

/** Labels of nodes that have a newer name. */
const deprecatedLabels: Readonly<Record<string, string>> = {
  "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
  "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  "app.kubernetes.io/created-by": "deprecated since v1.9",
  "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
  "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
};
const deprecatedAnnotations: Readonly<Record<string, string>> = {
  "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
  "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
  "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
};
/** Sources of volumes that nothing serves any more. */
const deprecatedVolumes: Readonly<Record<string, string>> = {
  photonPersistentDisk: "deprecated in v1.11, non-functional in v1.16+",
  gitRepo: "deprecated in v1.11, and disabled by default in v1.33+",
  scaleIO: "deprecated in v1.16, non-functional in v1.22+",
  flocker: "deprecated in v1.22, non-functional in v1.25+",
  storageos: "deprecated in v1.22, non-functional in v1.25+",
  quobyte: "deprecated in v1.22, non-functional in v1.25+",
  glusterfs: "deprecated in v1.25, non-functional in v1.26+",
  cephfs: "deprecated in v1.28, non-functional in v1.31+",
  rbd: "deprecated in v1.28, non-functional in v1.31+",
};
const noSelector = "a null labelSelector results in matching no pod";

/**
 * What is allowed in a pod or a template, and hardly meant.
 *
 * @param prefix path of the template with its dot; empty for a pod
 * @see pkg/api/pod/warnings.go of Kubernetes 1.36
 */
export function podWarnings(pod: JsonObject, prefix: string): readonly string[] {
  const spec = objectAt(pod, "spec");
  const at = `${prefix}spec`;
  const annotations = objectAt(metadataOf(pod), "annotations");
  const old = Object.entries(deprecatedAnnotations).filter(([key]) => annotations[key] !== undefined);
  const grace = spec["terminationGracePeriodSeconds"];
  return [
    ...placementWarnings(spec, at),
    ...old.map(([key, why]) => `${prefix}metadata.annotations[${key}]: ${why}`),
    ...objectsAt(spec, "volumes").flatMap((volume, index) =>
      Object.entries(deprecatedVolumes)
        .filter(([source]) => volume[source] !== undefined)
        .map(([source, why]) => `${at}.volumes[${index}].${source}: ${why}`),
    ),
    ...objectsAt(spec, "volumes").flatMap(({ name, projected }) => {
      const sources = isObject(projected) ? objectsAt(projected, "sources") : [];
      const isEmpty = sources.some((source) => Object.keys(source).length === 0);
      return isEmpty ? [`volume ${JSON.stringify(name)} (Projected) has no sources provided`] : [];
    }),
    ...repeated(objectsAt(spec, "hostAliases"), "ip").map(([index, ip]) => `${at}.hostAliases[${index}].ip: duplicate ip ${ip}`),
    ...repeated(objectsAt(spec, "imagePullSecrets"), "name").map(
      ([index, name]) => `${at}.imagePullSecrets[${index}].name: duplicate name ${name}`,
    ),
    ...objectsAt(spec, "imagePullSecrets").flatMap(({ name }, index) =>
      (name ?? "") === "" ? [`${at}.imagePullSecrets[${index}].name: invalid empty name ""`] : [],
    ),
    ...seccompWarnings(seccompOfPod, spec, pod, prefix),
    ...containersOf(spec, at).flatMap(([container, here]) => [
      ...profileWarnings(container, pod, prefix),
      ...fractionWarnings(container, here),
      ...environmentWarnings(container, here),
    ]),
    ...portWarnings(spec, at),
    ...(typeof grace === "number" && grace < 0
      ? [`${at}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
      : []),
    ...affinityWarnings(objectAt(spec, "affinity"), `${at}.affinity`),
  ];
}

function containersOf(spec: JsonObject, at: string): readonly (readonly [JsonObject, string])[] {
  return ["initContainers", "containers", "ephemeralContainers"].flatMap((list) =>
    objectsAt(spec, list).map((container, index) => [container, `${at}.${list}[${index}]`] as const),
  );
}

/** Entries that have the same text as one before, with their index. */
function repeated(entries: readonly JsonObject[], field: string): readonly (readonly [number, string])[] {
  const seen = new Set<string>();
  return entries.flatMap((entry, index) => {
    const text = stringAt(entry, field) ?? "";
    if (seen.has(text)) return [[index, JSON.stringify(text)] as const];
    seen.add(text);
    return [];
  });
}

function placementWarnings(spec: JsonObject, at: string): readonly string[] {
  const labels = Object.keys(objectAt(spec, "nodeSelector")).filter((label) => deprecatedLabels[label] !== undefined);
  const nodes = objectAt(objectAt(spec, "affinity"), "nodeAffinity");
  const required = "requiredDuringSchedulingIgnoredDuringExecution";
  const preferred = "preferredDuringSchedulingIgnoredDuringExecution";
  const term = (expressions: JsonObject, here: string): readonly string[] =>
    objectsAt(expressions, "matchExpressions").flatMap(({ key }, index) => {
      const why = deprecatedLabels[String(key)];
      return why === undefined ? [] : [`${here}.matchExpressions[${index}].key: ${String(key)} is ${why}`];
    });
  return [
    ...labels.map((label) => `${at}.nodeSelector[${label}]: ${deprecatedLabels[label]}`),
    ...objectsAt(objectAt(nodes, required), "nodeSelectorTerms").flatMap((one, index) =>
      term(one, `${at}.affinity.nodeAffinity.${required}.nodeSelectorTerms[${index}]`),
    ),
    ...objectsAt(nodes, preferred).flatMap((one, index) =>
      term(objectAt(one, "preference"), `${at}.affinity.nodeAffinity.${preferred}[${index}].preference`),
    ),
    ...objectsAt(spec, "topologySpreadConstraints").flatMap((constraint, index) => {
      const here = `${at}.topologySpreadConstraints[${index}]`;
      const key = String(constraint["topologyKey"]);
      return [
        ...(deprecatedLabels[key] === undefined ? [] : [`${here}.topologyKey: ${key} is ${deprecatedLabels[key]}`]),
        ...(constraint["labelSelector"] === undefined ? [`${here}.labelSelector: ${noSelector}`] : []),
      ];
    }),
  ];
}

function affinityWarnings(affinity: JsonObject, at: string): readonly string[] {
  return ["podAffinity", "podAntiAffinity"].flatMap((side) => {
    const rules = objectAt(affinity, side);
    const required = objectsAt(rules, "requiredDuringSchedulingIgnoredDuringExecution");
    const preferred = objectsAt(rules, "preferredDuringSchedulingIgnoredDuringExecution");
    return [
      ...required.flatMap((term, index) =>
        isObject(term["labelSelector"])
          ? []
          : [`${at}.${side}.requiredDuringSchedulingIgnoredDuringExecution[${index}].labelSelector: ${noSelector}`],
      ),
      ...preferred.flatMap((term, index) =>
        isObject(objectAt(term, "podAffinityTerm")["labelSelector"])
          ? []
          : [`${at}.${side}.preferredDuringSchedulingIgnoredDuringExecution[${index}].podAffinityTerm.labelSelector: ${noSelector}`],
      ),
    ];
  });
}

const seccompOfPod = "seccomp.security.alpha.kubernetes.io/pod";

/** Profiles of containers that are named by annotations of old, where nobody says them by field. */
function profileWarnings(container: JsonObject, pod: JsonObject, prefix: string): readonly string[] {
  const name = stringAt(container, "name") ?? "";
  const spec = objectAt(pod, "spec");
  const key = `container.apparmor.security.beta.kubernetes.io/${name}`;
  const isNoted = objectAt(metadataOf(pod), "annotations")[key] !== undefined;
  const isSaid = [container, spec].some((holder) => objectAt(holder, "securityContext")["appArmorProfile"] !== undefined);
  return [
    ...seccompWarnings(`container.seccomp.security.alpha.kubernetes.io/${name}`, container, pod, prefix),
    ...(isNoted && !isSaid
      ? [`${prefix}metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`]
      : []),
  ];
}

/** An annotation that names a filter of calls, where `holder` does not say it by field. */
function seccompWarnings(key: string, holder: JsonObject, pod: JsonObject, prefix: string): readonly string[] {
  const isNoted = objectAt(metadataOf(pod), "annotations")[key] !== undefined;
  const isSaid = objectAt(holder, "securityContext")["seccompProfile"] !== undefined;
  return isNoted && !isSaid
    ? [`${prefix}metadata.annotations[${key}]: non-functional in v1.27+; use the "seccompProfile" field instead`]
    : [];
}

/** Bytes come whole; who writes `100m` of memory meant `100M`. */
function fractionWarnings(container: JsonObject, at: string): readonly string[] {
  return ["memory", "ephemeral-storage"].flatMap((name) =>
    ["limits", "requests"].flatMap((side) => {
      const amount = objectAt(objectAt(container, "resources"), side)[name];
      const isFraction = amount !== undefined && quantityOf(amount).toInteger() === undefined;
      return isFraction
        ? [`${at}.resources.${side}[${name}]: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`]
        : [];
    }),
  );
}

/** Of two variables with one name only the last is kept by those who apply, unless it builds on the first. */
function environmentWarnings(container: JsonObject, at: string): readonly string[] {
  const variables = objectsAt(container, "env");
  return repeated(variables, "name").flatMap(([index, name]) => {
    const variable = variables[index] ?? {};
    const reference = `$(${stringAt(variable, "name") ?? ""})`;
    const value = stringAt(variable, "value") ?? "";
    const buildsOnIt = variable["valueFrom"] === undefined && value !== reference && value.includes(reference);
    return buildsOnIt ? [] : [`${at}.env[${index}]: hides previous definition of ${name}, which may be dropped when using apply`];
  });
}

/** Clashes of ports that are told: a header holds fewer, and among many ports of one number each clashes with each. */
const maxClashes = 4096;

interface Port {
  readonly at: string;
  readonly port: JsonObject;
}

function portWarnings(spec: JsonObject, at: string): readonly string[] {
  const all = containersOf(spec, at).flatMap(([container, here]): readonly Port[] =>
    objectsAt(container, "ports").map((port, index) => ({ at: `${here}.ports[${index}]`, port })),
  );
  const names = new Map<string, Port>();
  const sameNames = all.flatMap((one) => {
    const name = stringAt(one.port, "name") ?? "";
    const first = names.get(name);
    if (name !== "" && first === undefined) names.set(name, one);
    return first === undefined
      ? []
      : [`${one.at}: duplicate port name "${name}" with ${first.at}, services and probes that select ports by name will use ${first.at}`];
  });
  return [...clashes(all), ...sameNames];
}

/** Only ports of one number and protocol can clash. */
function clashes(all: readonly Port[]): readonly string[] {
  const before = new Map<string, Port[]>();
  const found: string[] = [];
  for (const one of all) {
    const key = JSON.stringify([one.port["containerPort"], one.port["protocol"]]);
    const others = before.get(key) ?? [];
    for (const other of others) {
      spendStep();
      const how = clashOf(one.port, other.port);
      if (how !== undefined) found.push(`${one.at}: ${how} port definition with ${other.at}`);
      if (found.length === maxClashes) return found;
    }
    others.push(one);
    before.set(key, others);
  }
  return found;
}

function clashOf(one: JsonObject, other: JsonObject): string | undefined {
  const [ip, otherIp] = [one["hostIP"] ?? "", other["hostIP"] ?? ""];
  const [host, otherHost] = [one["hostPort"] ?? 0, other["hostPort"] ?? 0];
  if (ip === otherIp && host === otherHost) return "duplicate";
  if (host === 0 || otherHost === 0) return "overlapping";
  return host === otherHost && (ip === "") !== (otherIp === "") ? "dangerously ambiguous" : undefined;
}
