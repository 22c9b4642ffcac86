import { tryParseQuantity } from "../cel/quantity.ts";
import { isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, stringAt, stringsAt } from "../request/json.ts";
import { problemsOfQualifiedName } from "../request/qualified-name.ts";
import type { FieldError } from "../schema/index.ts";
import { refuseLabel, refuseSubdomain } from "../request/names.ts";
import { address, between, largestInt32, notNegative } from "./number-rules.ts";
import { validateContainerResourceName } from "./resource-names.ts";
import { duplicate, forbiddenValue, invalidValue, required, unsupported } from "./rule-errors.ts";

/*
 * Rules about the parts of a pod, one function for each.
 *
 * @see pkg/apis/core/validation/validation.go of Kubernetes 1.36
 */

/** Variables of a container: a printable name, and a value or a source of it. */
export function validateEnvironment(container: JsonObject, at: string): readonly FieldError[] {
  return objectsAt(container, "env").flatMap((variable, index) => {
    const name = stringAt(variable, "name") ?? "";
    const here = `${at}.env[${index}]`;
    const errors: FieldError[] = [];
    if (name === "") errors.push(required(`${here}.name`));
    else if (!/^[ -<>-~]+$/.test(name)) {
      const why = "a valid environment variable name must consist only of printable ASCII characters other than '='";
      errors.push(invalidValue(`${here}.name`, name, why));
    }
    if (isObject(variable["valueFrom"]) && (stringAt(variable, "value") ?? "") !== "")
      errors.push(invalidValue(`${here}.valueFrom`, "", "may not be specified when `value` is not empty"));
    const reference = objectAt(variable, "valueFrom")["fieldRef"];
    if (isObject(reference))
      errors.push(...validateFieldPath(stringAt(reference, "fieldPath") ?? "", `${here}.valueFrom.fieldRef.fieldPath`));
    return errors;
  });
}

/** What a variable can hold of its pod, and what only a file can or nothing. */
const variableFields = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];
const otherFields = ["metadata.annotations", "metadata.labels", "spec.restartPolicy", "spec.schedulerName", "status.phase"];

function validateFieldPath(path: string, at: string): readonly FieldError[] {
  if (path === "") return [required(at)];
  const [, field = path, key] = /^(.+)\['(.*)'\]$/.exec(path) ?? [];
  if (key !== undefined) {
    if (field !== "metadata.annotations" && field !== "metadata.labels")
      return [invalidValue(at, path, `error converting fieldPath: field label does not support subscript: ${path}`)];
    const name = field === "metadata.annotations" ? key.toLowerCase() : key;
    return problemsOfQualifiedName(name).map((why) => invalidValue(at.replace(/\.fieldPath$/, ""), key, why));
  }
  if (variableFields.includes(path)) return [];
  return otherFields.includes(path)
    ? [unsupported(at, path, variableFields)]
    : [invalidValue(at, path, `error converting fieldPath: field label not supported: ${path}`)];
}

/** What a container asks for is at most what it may have; devices come whole. */
export function validateResources(container: JsonObject, at: string): readonly FieldError[] {
  const resources = objectAt(container, "resources");
  const [limits, requests] = [objectAt(resources, "limits"), objectAt(resources, "requests")];
  const whole = (amounts: JsonObject, kind: string): readonly FieldError[] =>
    Object.entries(amounts).flatMap(([name, amount]) => {
      const quantity = tryParseQuantity(String(amount));
      const here = `${at}.resources.${kind}[${name}]`;
      const misnamed = validateContainerResourceName(name, here);
      if (quantity === undefined || misnamed.length > 0) return misnamed;
      if (quantity.mantissa < 0n) return [invalidValue(here, amount, "must be greater than or equal to 0")];
      const isDevice = name.includes("/") && !name.split("/")[0]?.endsWith("kubernetes.io");
      return isDevice && quantity.toInteger() === undefined ? [invalidValue(here, amount, "must be an integer")] : [];
    });
  const tooMuch = Object.entries(requests).flatMap(([name, amount]) => {
    const [asked, most] = [tryParseQuantity(String(amount)), tryParseQuantity(String(limits[name] ?? amount))];
    if (asked === undefined || most === undefined || asked.compareTo(most) <= 0) return [];
    return [invalidValue(`${at}.resources.requests`, amount, `must be less than or equal to ${name} limit of ${String(limits[name])}`)];
  });
  return [...whole(limits, "limits"), ...whole(requests, "requests"), ...tooMuch];
}

const handlers = ["exec", "httpGet", "tcpSocket", "grpc"];
const probeNumbers = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];

/** Probes have one way of asking, and sensible numbers. */
export function validateProbes(container: JsonObject, at: string): readonly FieldError[] {
  return ["livenessProbe", "readinessProbe", "startupProbe"].flatMap((name) => {
    const probe = container[name];
    if (!isObject(probe)) return [];
    const here = `${at}.${name}`;
    const named = handlers.filter((handler) => isObject(probe[handler]));
    const errors: FieldError[] = named.length === 0 ? [required(here, "must specify a handler type")] : [];
    for (const second of named.slice(1)) errors.push(forbiddenValue(`${here}.${second}`, "may not specify more than 1 handler type"));
    for (const handler of ["httpGet", "tcpSocket", "grpc"]) {
      if (isObject(probe[handler])) errors.push(...between(probe[handler]["port"], `${here}.${handler}.port`, 1, 65_535));
    }
    errors.push(...notNegative(probe, here, probeNumbers));
    if (name !== "readinessProbe" && typeof probe["successThreshold"] === "number" && probe["successThreshold"] > 1)
      errors.push(invalidValue(`${here}.successThreshold`, probe["successThreshold"], "must be 1"));
    return errors;
  });
}

/** What a source of a volume must name. */
const namedBy: Readonly<Record<string, string>> = {
  configMap: "name",
  hostPath: "path",
  secret: "secretName",
  persistentVolumeClaim: "claimName",
};
/** In the order in which they are looked at. */
const volumeKinds = [
  "emptyDir",
  "hostPath",
  "gitRepo",
  "secret",
  "nfs",
  "iscsi",
  "configMap",
  "persistentVolumeClaim",
  "downwardAPI",
  "projected",
  "csi",
  "ephemeral",
  "image",
];

/** Volumes have a name of their own and one source. */
export function validateVolumes(spec: JsonObject, at: string): readonly FieldError[] {
  const seen = new Set<string>();
  // Pods of a template get theirs when they are made.
  const hasAccount = at !== "spec" || (stringAt(spec, "serviceAccountName") ?? "") !== "";
  return objectsAt(spec, "volumes").flatMap((volume, index) => {
    const here = `${at}.volumes[${index}]`;
    const name = stringAt(volume, "name") ?? "";
    const sources = volumeKinds.filter((kind) => isObject(volume[kind]));
    const errors: FieldError[] = sources
      .slice(1)
      .map((kind) => forbiddenValue(`${here}.${kind}`, "may not specify more than 1 volume type"));
    const [source = ""] = sources;
    const field = namedBy[source];
    if (field !== undefined && (stringAt(objectAt(volume, source), field) ?? "") === "")
      errors.push(required(`${here}.${source}.${field}`));
    const path = source === "hostPath" ? (stringAt(objectAt(volume, source), "path") ?? "") : "";
    if (path.split("/").includes("..")) errors.push(invalidValue(`${here}.hostPath.path`, path, "must not contain '..'"));
    if (name === "") errors.push(required(`${here}.name`));
    else if (seen.has(name)) errors.push(duplicate(`${here}.name`, name));
    else errors.push(...refuseLabel(name).map((why) => invalidValue(`${here}.name`, name, why)));
    seen.add(name);
    if (source === "projected") errors.push(...validateProjected(objectAt(volume, source), `${here}.projected`, hasAccount));
    return errors;
  });
}

/** Sources that are mounted together: one of a kind each; tokens belong to an account, last at least ten minutes, and stand at a path below the volume. */
function validateProjected(projected: JsonObject, at: string, hasAccount: boolean): readonly FieldError[] {
  return objectsAt(projected, "sources").flatMap((source, index) => {
    const here = `${at}.sources[${index}]`;
    const kinds = Object.keys(source).filter((kind) => isObject(source[kind]));
    if (kinds.length > 1) return [forbiddenValue(here, "may not specify more than 1 volume type per source")];
    const [kind = ""] = kinds;
    const given = objectAt(source, kind);
    if (kind === "configMap" || kind === "secret") return (stringAt(given, "name") ?? "") === "" ? [required(`${here}.${kind}.name`)] : [];
    return kind === "serviceAccountToken" ? validateToken(given, `${here}.${kind}`, at, hasAccount) : [];
  });
}

function validateToken(token: JsonObject, at: string, volume: string, hasAccount: boolean): readonly FieldError[] {
  if (!hasAccount) return [forbiddenValue(at, "must not be specified when serviceAccountName is not set")];
  const seconds = Number(token["expirationSeconds"] ?? 600);
  const path = stringAt(token, "path") ?? "";
  const age = (why: string): FieldError => invalidValue(`${at}.expirationSeconds`, seconds, `may not specify a duration ${why}`);
  return [
    ...(seconds < 600 ? [age("less than 10 minutes")] : []),
    ...(seconds > 2 ** 32 ? [age("larger than 2^32 seconds")] : []),
    ...(path === "" ? [required(`${volume}.path`)] : refusePath(path).map((why) => invalidValue(`${volume}.path`, path, why))),
  ];
}

/** A path below the place where a volume is mounted. */
function refusePath(path: string): readonly string[] {
  if (path.startsWith("/")) return ["must be a relative path"];
  return path.split("/").includes("..") ? ["must not contain '..'"] : [];
}

/** User and group ids of a pod or container. */
export function validateIds(holder: JsonObject, at: string): readonly FieldError[] {
  const context = objectAt(holder, "securityContext");
  return ["runAsUser", "runAsGroup", "fsGroup"].flatMap((field) =>
    between(context[field], `${at}.securityContext.${field}`, 0, largestInt32),
  );
}

const sysctl = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;

/** The system that a pod is made for, and what it sets of it. */
export function validateKernel(spec: JsonObject, at: string): readonly FieldError[] {
  const os = spec["os"];
  const systems = ["linux", "windows"];
  const system = stringAt(objectAt(spec, "os"), "name") ?? "";
  const unknown = system === "" ? [required(`${at}.os.name`)] : systems.includes(system) ? [] : [unsupported(`${at}.os`, system, systems)];
  const settings = objectsAt(objectAt(spec, "securityContext"), "sysctls").map((setting) => stringAt(setting, "name") ?? "");
  return [
    ...(isObject(os) ? unknown : []),
    ...settings.flatMap((name, index) => {
      const here = `${at}.securityContext.sysctls[${index}].name`;
      if (name === "") return [required(here)];
      const why =
        "must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
      if (name.length > 253 || !sysctl.test(name)) return [invalidValue(here, name, why)];
      return settings.indexOf(name) < index ? [duplicate(here, name)] : [];
    }),
  ];
}

function validateTolerations(spec: JsonObject, at: string): readonly FieldError[] {
  return objectsAt(spec, "tolerations").flatMap((toleration, index) => {
    const [key, value] = [stringAt(toleration, "key") ?? "", stringAt(toleration, "value") ?? ""];
    const operator = stringAt(toleration, "operator") ?? "Equal";
    const here = `${at}.tolerations[${index}].operator`;
    const effect = stringAt(toleration, "effect") ?? "";
    if (toleration["tolerationSeconds"] !== undefined && effect !== "NoExecute")
      return [invalidValue(`${at}.tolerations[${index}].effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")];
    if (operator === "Exists" && value !== "") return [invalidValue(here, value, "value must be empty when `operator` is 'Exists'")];
    const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    return key === "" && operator !== "Exists" ? [invalidValue(here, operator, why)] : [];
  });
}

function validateNodeTerms(spec: JsonObject, at: string): readonly FieldError[] {
  const wanted = objectAt(objectAt(objectAt(spec, "affinity"), "nodeAffinity"), "requiredDuringSchedulingIgnoredDuringExecution");
  const list = `${at}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
  const terms = wanted["nodeSelectorTerms"];
  if (Array.isArray(terms) && terms.length === 0) return [required(list, "must have at least one node selector term")];
  return objectsAt(wanted, "nodeSelectorTerms").flatMap((term, index) =>
    objectsAt(term, "matchExpressions").flatMap((expression, position) => {
      const here = `${list}[${index}].matchExpressions[${position}].values`;
      const values = stringsAt(expression, "values");
      switch (stringAt(expression, "operator")) {
        case "In":
        case "NotIn":
          return values.length === 0 ? [required(here, "must be specified when `operator` is 'In' or 'NotIn'")] : [];
        case "Exists":
        case "DoesNotExist":
          return values.length > 0 ? [forbiddenValue(here, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")] : [];
        case "Gt":
        case "Lt":
          return values.length === 1 ? [] : [required(here, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
        default:
          return [];
      }
    }),
  );
}

/** Where a pod may run. */
export function validatePlacement(spec: JsonObject, at: string): readonly FieldError[] {
  const keys = Object.keys(objectAt(spec, "nodeSelector"));
  return [
    ...keys.flatMap((key) => problemsOfQualifiedName(key).map((why) => invalidValue(`${at}.nodeSelector`, key, why))),
    ...validateNodeTerms(spec, at),
    ...validateTolerations(spec, at),
    ...objectsAt(spec, "topologySpreadConstraints").flatMap((constraint, index) => {
      const here = `${at}.topologySpreadConstraints[${index}]`;
      const skew = constraint["maxSkew"];
      return [
        ...(typeof skew === "number" && skew <= 0 ? [invalidValue(`${here}.maxSkew`, skew, "must be greater than zero")] : []),
        ...((stringAt(constraint, "topologyKey") ?? "") === "" ? [required(`${here}.topologyKey`, "can not be empty")] : []),
      ];
    }),
    ...objectsAt(spec, "schedulingGates").flatMap((gate, index) => {
      const name = stringAt(gate, "name") ?? "";
      return problemsOfQualifiedName(name).map((why) => invalidValue(`${at}.schedulingGates[${index}]`, name, why));
    }),
  ];
}

/** Names and addresses that a pod has or knows. */
export function validateNaming(spec: JsonObject, at: string): readonly FieldError[] {
  const dns = objectAt(spec, "dnsConfig");
  const servers = stringsAt(dns, "nameservers");
  const errors: FieldError[] = [];
  if (spec["dnsPolicy"] === "None") {
    if (spec["dnsConfig"] === undefined) errors.push(required(`${at}.dnsConfig`, "must provide `dnsConfig` when `dnsPolicy` is None"));
    else if (servers.length === 0)
      errors.push(required(`${at}.dnsConfig.nameservers`, "must provide at least one DNS nameserver when `dnsPolicy` is None"));
  }
  objectsAt(spec, "hostAliases").forEach((alias, index) => errors.push(...address(alias["ip"], `${at}.hostAliases[${index}].ip`)));
  for (const field of ["hostname", "subdomain"]) {
    const name = stringAt(spec, field) ?? "";
    if (name !== "") errors.push(...refuseLabel(name).map((why) => invalidValue(`${at}.${field}`, name, why)));
  }
  for (const field of ["serviceAccountName", "nodeName", "priorityClassName"]) {
    const name = stringAt(spec, field) ?? "";
    if (name !== "") errors.push(...refuseSubdomain(name).map((why) => invalidValue(`${at}.${field}`, name, why)));
  }
  return errors;
}
