import { equalJson, isObject } from "../../json.ts";
import type { JsonObject } from "../../json.ts";
import { metadataOf, objectAt, objectsAt, stringAt, stringsAt, without } from "../../request/json.ts";
import { each, fill, inside } from "./fill.ts";

/** Services have addresses in 10.96.0.0/16; the first ones belong to the cluster itself. */
const serviceNetwork = "10.96";
const firstFree = 256;
const nodePorts = { first: 30_000, last: 32_767 };

/** Fills in what a Service may leave out, its addresses apart. */
export function defaultService(service: JsonObject): JsonObject {
  return inside(service, "spec", (given) => {
    let spec = fill(given, { type: "ClusterIP", sessionAffinity: "None" });
    spec = each(spec, "ports", (port) => fill(port, { protocol: "TCP", targetPort: port["port"] }));
    if (spec["sessionAffinity"] === "ClientIP") {
      spec = fill(spec, { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } } });
    }
    if (spec["type"] !== "ExternalName") spec = fill(spec, { internalTrafficPolicy: "Cluster" });
    if (isOpen(spec) || hasExternalAddress(spec)) spec = fill(spec, { externalTrafficPolicy: "Cluster" });
    return spec["type"] === "LoadBalancer" ? fill(spec, { allocateLoadBalancerNodePorts: true }) : spec;
  });
}

/**
 * Gives a Service an address and node ports that no other has; takes both from one that is to have none.
 *
 * @param others every Service there is
 */
export function addressService(service: JsonObject, old: JsonObject | undefined, others: () => readonly JsonObject[]): JsonObject {
  const own = metadataOf(service);
  const before = objectAt(old, "spec");
  const elsewhere = (): readonly JsonObject[] =>
    others()
      .filter((other) => metadataOf(other)["uid"] !== own["uid"])
      .map((other) => objectAt(other, "spec"));
  const isLeft = before["type"] === "LoadBalancer" && objectAt(service, "spec")["type"] !== "LoadBalancer";
  return inside(isLeft ? { ...service, status: { loadBalancer: {} } } : service, "spec", (given) => {
    if (given["type"] === "ExternalName") return withoutAddress(given, before);
    // Said in two ways that do not agree: for validation to refuse.
    if (old === undefined && addressesDisagree(given)) return given;
    const spec = withAddress(given, before, elsewhere, `${String(own["namespace"])}/${String(own["name"])}`);
    if (isOpen(spec)) return withNodePorts(spec, before, elsewhere);
    // Ports of the type before go with it; others were asked for, and are refused.
    return isOpen(before) ? closedPorts(spec) : spec;
  });
}

/** What the type before brought goes with it; what was asked for on top is refused. */
function withoutAddress(given: JsonObject, before: JsonObject): JsonObject {
  const spec = without(given, "internalTrafficPolicy");
  if (before["type"] === undefined || before["type"] === "ExternalName") return spec;
  const brought = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"];
  const rest = without(spec, ...brought.filter((field) => equalJson(spec[field], before[field])));
  return isOpen(before) ? closedPorts(rest) : rest;
}

/** True where `clusterIPs` says something that `clusterIP` does not. */
export function addressesDisagree(spec: JsonObject): boolean {
  const [first] = stringsAt(spec, "clusterIPs");
  return first !== undefined && first !== (stringAt(spec, "clusterIP") ?? "");
}

function isOpen(spec: JsonObject): boolean {
  return spec["type"] === "NodePort" || spec["type"] === "LoadBalancer";
}

function hasExternalAddress(spec: JsonObject): boolean {
  return Array.isArray(spec["externalIPs"]) && spec["externalIPs"].length > 0;
}

type Others = () => readonly JsonObject[];

function withAddress(spec: JsonObject, before: JsonObject, elsewhere: Others, name: string): JsonObject {
  const address = stringAt(spec, "clusterIP") || stringAt(before, "clusterIP") || freeAddress(elsewhere, name);
  const isHeadless = address === "None";
  const hasSelector = isObject(spec["selector"]) && Object.keys(spec["selector"]).length > 0;
  return fill(
    { ...spec, clusterIP: address, clusterIPs: [address] },
    {
      ipFamilies: isHeadless && !hasSelector ? ["IPv4", "IPv6"] : ["IPv4"],
      ipFamilyPolicy: isHeadless && !hasSelector ? "RequireDualStack" : "SingleStack",
    },
  );
}

/** Begins at a place that follows from the name, so that a Service that is made again has its old address as a rule. */
function freeAddress(elsewhere: Others, name: string): string {
  const taken = new Set(elsewhere().map((spec) => spec["clusterIP"]));
  const size = 65_536 - firstFree - 1;
  let at = 0;
  for (const char of name) at = (at * 31 + char.charCodeAt(0)) % size;
  for (let tries = 0; tries < size; tries++, at = (at + 1) % size) {
    const number = firstFree + at;
    const address = `${serviceNetwork}.${number >> 8}.${number & 255}`;
    if (!taken.has(address)) return address;
  }
  return "None";
}

function withNodePorts(spec: JsonObject, before: JsonObject, elsewhere: Others): JsonObject {
  if (spec["type"] === "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] === false) return spec;
  const taken = new Set(elsewhere().flatMap((other) => objectsAt(other, "ports").map((port) => port["nodePort"])));
  for (const port of objectsAt(spec, "ports")) taken.add(port["nodePort"]);
  let next = nodePorts.first;
  return each(spec, "ports", (port) => {
    if (typeof port["nodePort"] === "number" && port["nodePort"] > 0) return port;
    const known = objectsAt(before, "ports").find((other) => other["port"] === port["port"] && other["protocol"] === port["protocol"]);
    if (typeof known?.["nodePort"] === "number") return { ...port, nodePort: known["nodePort"] };
    while (taken.has(next) && next < nodePorts.last) next++;
    taken.add(next);
    return { ...port, nodePort: next };
  });
}

function closedPorts(spec: JsonObject): JsonObject {
  return each(without(spec, "externalTrafficPolicy", "allocateLoadBalancerNodePorts"), "ports", (port) => without(port, "nodePort"));
}
