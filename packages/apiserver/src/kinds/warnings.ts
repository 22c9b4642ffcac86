import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, stringAt, stringsAt } from "../request/json.ts";
import { quantityOf } from "./amounts.ts";
import { refuseLabel } from "../request/names.ts";
import { keyPairWarnings } from "./key-pair-warnings.ts";
import { podWarnings } from "./pod-warnings.ts";

type Warn = (object: JsonObject, live: JsonObject | undefined) => readonly string[];

/** Where the templates of workloads stand. */
const ofTemplate =
  (at: string): Warn =>
  (object, live) => {
    // A change that leaves the spec as it is was warned of before.
    if (live !== undefined && metadataOf(live)["generation"] === metadataOf(object)["generation"]) return [];
    const holder = at
      .split(".")
      .slice(0, -1)
      .reduce<JsonObject>((inner, name) => objectAt(inner, name), object);
    return podWarnings(objectAt(holder, "template"), `${at}.`);
  };

const hostname =
  (what: string): Warn =>
  (object, live) => {
    const refusals = live === undefined ? refuseLabel(stringAt(metadataOf(object), "name") ?? "") : [];
    if (refusals.length === 0) return [];
    return [
      `metadata.name: this is used in ${what}, which can result in surprising behavior; a DNS label is recommended: [${refusals.join(" ")}]`,
    ];
  };

const inPodNames = hostname("Pod names and hostnames");

const both =
  (...all: readonly Warn[]): Warn =>
  (object, live) =>
    all.flatMap((warn) => warn(object, live));

const byResource: Readonly<Record<string, Warn>> = {
  // Pods change often, and no person does it.
  "/pods": both(hostname("the Pod's hostname"), (pod, live) => (live === undefined ? podWarnings(pod, "") : [])),
  "/secrets": keyPairWarnings,
  "/services": serviceWarnings,
  "/persistentvolumeclaims": claimWarnings,
  "/replicationcontrollers": ofTemplate("spec.template"),
  "/podtemplates": ofTemplate("template"),
  "apps/daemonsets": ofTemplate("spec.template"),
  "apps/deployments": ofTemplate("spec.template"),
  "apps/replicasets": ofTemplate("spec.template"),
  "apps/statefulsets": ofTemplate("spec.template"),
  "batch/cronjobs": both(inPodNames, ofTemplate("spec.jobTemplate.spec.template")),
  "batch/jobs": both(inPodNames, ofTemplate("spec.template")),
  "networking.k8s.io/ingresses": ingressWarnings,
  "storage.k8s.io/csidrivers": driverWarnings,
};

/** What a client is told about an object of a built-in kind that is accepted as it is. */
export function warningsOf(resource: string, object: JsonObject, live: JsonObject | undefined): readonly string[] {
  return byResource[resource]?.(object, live) ?? [];
}

function serviceWarnings(service: JsonObject): readonly string[] {
  const spec = objectAt(service, "spec");
  const isHeadless = spec["type"] === "ClusterIP" && spec["clusterIP"] === "None";
  const isName = spec["type"] === "ExternalName";
  const hints = "service.kubernetes.io/topology-aware-hints";
  const hasAddresses = stringsAt(spec, "externalIPs").length > 0;
  return [
    ...(objectAt(metadataOf(service), "annotations")[hints] === undefined
      ? []
      : [`annotation ${hints} is deprecated, please use service.kubernetes.io/topology-mode instead`]),
    ...(isHeadless && (spec["loadBalancerIP"] ?? "") !== "" ? ["spec.loadBalancerIP is ignored for headless services"] : []),
    ...(isHeadless && hasAddresses ? ["spec.externalIPs is ignored for headless services"] : []),
    ...(isHeadless && spec["sessionAffinity"] !== "None" ? ["spec.SessionAffinity is ignored for headless services"] : []),
    ...(hasAddresses && !isHeadless && !isName ? ["spec.externalIPs is deprecated and may no longer be implemented in some clusters"] : []),
    ...(isName && hasAddresses ? ['spec.externalIPs is ignored when spec.type is "ExternalName"'] : []),
    ...(!isName && (spec["externalName"] ?? "") !== "" ? ['spec.externalName is ignored when spec.type is not "ExternalName"'] : []),
    ...(spec["trafficDistribution"] === "PreferClose"
      ? ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"']
      : []),
  ];
}

function ingressWarnings(ingress: JsonObject, live: JsonObject | undefined): readonly string[] {
  const annotation = "kubernetes.io/ingress.class";
  const isAnnotated = objectAt(metadataOf(ingress), "annotations")[annotation] !== undefined;
  if (live !== undefined || !isAnnotated || objectAt(ingress, "spec")["ingressClassName"] !== undefined) return [];
  return [`annotation ${JSON.stringify(annotation)} is deprecated, please use 'spec.ingressClassName' instead`];
}

function claimWarnings(claim: JsonObject): readonly string[] {
  const annotation = "volume.beta.kubernetes.io/storage-class";
  const isAnnotated = objectAt(metadataOf(claim), "annotations")[annotation] !== undefined;
  const asked = objectAt(objectAt(objectAt(claim, "spec"), "resources"), "requests")["storage"];
  const isFraction = asked !== undefined && quantityOf(asked).toInteger() === undefined;
  return [
    ...(isAnnotated ? [`metadata.annotations[${annotation}]: deprecated since v1.8; use "storageClassName" attribute instead`] : []),
    ...(isFraction
      ? [`spec.resources.requests[storage]: fractional byte value ${JSON.stringify(asked)} is invalid, must be an integer`]
      : []),
  ];
}

function driverWarnings(driver: JsonObject): readonly string[] {
  const spec = objectAt(driver, "spec");
  const isOpen =
    Array.isArray(spec["tokenRequests"]) && spec["tokenRequests"].length > 0 && spec["serviceAccountTokenInSecrets"] === undefined;
  return isOpen
    ? [
        "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes",
      ]
    : [];
}
