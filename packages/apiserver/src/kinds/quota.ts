import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, objectsAt, stringAt } from "../request/json.ts";
import { addAmounts, amountsIn, quantityOf } from "./amounts.ts";
import type { Amounts } from "./amounts.ts";
import { podAmounts } from "./pod-amounts.ts";
import { isInScopes } from "./quota-scopes.ts";
import { isExtendedName } from "./resource-names.ts";

/** Where the store keeps quotas. */
export const quotaResource = "/resourcequotas";

const storageClass = ".storageclass.storage.k8s.io/";
const plainCounts = ["configmaps", "persistentvolumeclaims", "replicationcontrollers", "resourcequotas", "secrets", "services"];

/** The resource whose objects a quota counts under this name: `requests.cpu` is about `/pods`. */
function resourceOf(name: string): string {
  if (name.startsWith("count/")) {
    const [plural = "", ...group] = name.slice("count/".length).split(".");
    return `${group.join(".")}/${plural}`;
  }
  if (plainCounts.includes(name)) return `/${name}`;
  if (name.startsWith("services.")) return "/services";
  if (name === "requests.storage" || name.includes(storageClass)) return "/persistentvolumeclaims";
  return "/pods";
}

/** The names under which a quota limits objects of a resource; none when the object is outside its scopes. */
export function namesLimiting(quota: JsonObject, resource: string, object: JsonObject): readonly string[] {
  const names = Object.keys(objectAt(objectAt(quota, "spec"), "hard")).filter((name) => resourceOf(name) === resource);
  return names.length > 0 && isInScopes(quota, resource, object) ? names : [];
}

/** True when a quota counts objects of this resource. */
export function isCounted(quota: JsonObject, resource: string): boolean {
  return Object.keys(objectAt(objectAt(quota, "spec"), "hard")).some((name) => resourceOf(name) === resource);
}

/** What one object uses, by the names that quotas have for it. */
export function chargesOf(resource: string, object: JsonObject): Amounts {
  const [group = "", plural = ""] = resource.split("/");
  const count: Amounts = { [`count/${plural}${group === "" ? "" : `.${group}`}`]: "1" };
  switch (resource) {
    case "/pods":
      return addAmounts(count, chargesOfPod(object));
    case "/services":
      return addAmounts(count, chargesOfService(object));
    case "/persistentvolumeclaims":
      return addAmounts(count, chargesOfClaim(object));
    default:
      return group === "" && plainCounts.includes(plural) ? { ...count, [plural]: "1" } : count;
  }
}

/** What all objects of a namespace use of a quota. `list` gives the objects of a resource in it. */
export function usageOf(quota: JsonObject, names: readonly string[], list: (resource: string) => readonly JsonObject[]): Amounts {
  const used: Record<string, string> = Object.fromEntries(names.map((name) => [name, "0"]));
  for (const resource of new Set(names.map(resourceOf))) {
    let sum: Amounts = {};
    for (const object of list(resource)) if (isInScopes(quota, resource, object)) sum = addAmounts(sum, chargesOf(resource, object));
    for (const name of names) if (sum[name] !== undefined) used[name] = sum[name];
  }
  return used;
}

/** The status of a quota, as the quota controller works it out. */
export function quotaStatus(quota: JsonObject, list: (resource: string) => readonly JsonObject[]): JsonObject {
  const hard = objectAt(objectAt(quota, "spec"), "hard");
  return { hard, used: usageOf(quota, Object.keys(hard), list) };
}

function chargesOfPod(pod: JsonObject): Amounts {
  // What has ended takes nothing any more.
  if (["Succeeded", "Failed"].includes(stringAt(objectAt(pod, "status"), "phase") ?? "")) return {};
  const charges: Record<string, string> = { pods: "1" };
  for (const [name, amount] of Object.entries(podAmounts(pod, "requests"))) {
    if (["cpu", "memory", "ephemeral-storage"].includes(name) || name.startsWith("hugepages-")) charges[name] = amount;
    if (charges[name] !== undefined || isExtendedName(name)) charges[`requests.${name}`] = amount;
  }
  for (const [name, amount] of Object.entries(podAmounts(pod, "limits")))
    if (["cpu", "memory", "ephemeral-storage"].includes(name)) charges[`limits.${name}`] = amount;
  return charges;
}

function chargesOfService(service: JsonObject): Amounts {
  const spec = objectAt(service, "spec");
  const ports = objectsAt(spec, "ports");
  const isBalanced = spec["type"] === "LoadBalancer";
  const named = ports.filter((port) => typeof port["nodePort"] === "number" && port["nodePort"] !== 0);
  const published = spec["type"] === "NodePort" || isBalanced ? ports : [];
  const onNodes = isBalanced && spec["allocateLoadBalancerNodePorts"] === false ? named : published;
  return { services: "1", "services.loadbalancers": isBalanced ? "1" : "0", "services.nodeports": String(onNodes.length) };
}

function chargesOfClaim(claim: JsonObject): Amounts {
  const spec = objectAt(claim, "spec");
  const asked = amountsIn(objectAt(objectAt(spec, "resources"), "requests"))["storage"];
  const held = amountsIn(objectAt(objectAt(claim, "status"), "allocatedResources"))["storage"];
  const isGrowing = asked !== undefined && held !== undefined && quantityOf(held).compareTo(quantityOf(asked)) > 0;
  const storage = isGrowing ? held : asked;
  const annotated = stringAt(objectAt(metadataOf(claim), "annotations"), "volume.beta.kubernetes.io/storage-class");
  const className = annotated ?? stringAt(spec, "storageClassName") ?? "";
  const charges: Amounts = { persistentvolumeclaims: "1", ...(storage === undefined ? {} : { "requests.storage": storage }) };
  if (className === "") return charges;
  return {
    ...charges,
    ...Object.fromEntries(Object.entries(charges).map(([name, amount]) => [`${className}${storageClass}${name}`, amount])),
  };
}
