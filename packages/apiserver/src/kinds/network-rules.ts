import { tryParseBlock } from "../cel/addresses.ts";
import { isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { isIP } from "../net-address.ts";
import { objectAt, objectsAt, stringAt, stringsAt } from "../request/json.ts";
import type { FieldError } from "../schema/index.ts";
import { refuseLabel, refuseSubdomain } from "../request/names.ts";
import { validatePortNumber } from "./port-rules.ts";
import { forbiddenValue, invalidValue, required } from "./rule-errors.ts";

const badPathParts = ["//", "/./", "/../", "%2f", "%2F"];
const badPathEnds = ["/..", "/."];

/** What an Ingress may not say. */
export function validateIngress(ingress: JsonObject): readonly FieldError[] {
  const spec = objectAt(ingress, "spec");
  const rules = objectsAt(spec, "rules");
  if (spec["defaultBackend"] === undefined && rules.length === 0)
    return [invalidValue("spec", null, "either `defaultBackend` or `rules` must be specified")];
  return [
    ...(isObject(spec["defaultBackend"]) ? validateBackend(spec["defaultBackend"], "spec.defaultBackend") : []),
    ...rules.flatMap((rule, index) => {
      const host = stringAt(rule, "host") ?? "";
      const at = `spec.rules[${index}]`;
      return [
        ...(isIP(host) ? [invalidValue(`${at}.host`, host, "must be a DNS name, not an IP address")] : []),
        ...validateHost(host, `${at}.host`),
        ...objectsAt(objectAt(rule, "http"), "paths").flatMap((path, position) => validatePath(path, `${at}.http.paths[${position}]`)),
      ];
    }),
    ...objectsAt(spec, "tls").flatMap((tls, index) =>
      stringsAt(tls, "hosts").flatMap((host, position) => validateHost(host, `spec.tls[${index}].hosts[${position}]`)),
    ),
  ];
}

function validateHost(host: string, at: string): readonly FieldError[] {
  if (host === "") return [];
  return refuseSubdomain(host.startsWith("*.") ? host.slice(2) : host).map((why) => invalidValue(at, host, why));
}

function validatePath(path: JsonObject, at: string): readonly FieldError[] {
  const text = stringAt(path, "path") ?? "";
  const type = path["pathType"];
  const isExact = type === "Exact" || type === "Prefix";
  const isRelative = !text.startsWith("/") && (isExact || (type === "ImplementationSpecific" && text !== ""));
  return [
    ...(isRelative ? [invalidValue(`${at}.path`, text, "must be an absolute path")] : []),
    ...badPathParts
      .filter((part) => isExact && text.includes(part))
      .map((part) => invalidValue(`${at}.path`, text, `must not contain '${part}'`)),
    ...badPathEnds
      .filter((end) => isExact && text.endsWith(end))
      .map((end) => invalidValue(`${at}.path`, text, `cannot end with '${end}'`)),
    ...validateBackend(objectAt(path, "backend"), `${at}.backend`),
  ];
}

function validateBackend(backend: JsonObject, at: string): readonly FieldError[] {
  if (isObject(backend["resource"]))
    return isObject(backend["service"]) ? [invalidValue(at, "", "cannot set both resource and service backends")] : [];
  if (!isObject(backend["service"])) return [invalidValue(at, "", "resource or service backend is required")];
  const service = backend["service"];
  const name = stringAt(service, "name") ?? "";
  const port = objectAt(service, "port");
  const [portName, number] = [stringAt(port, "name") ?? "", port["number"] ?? 0];
  return [
    ...(name === "" ? [required(`${at}.service.name`)] : refuseLabel(name).map((why) => invalidValue(`${at}.service.name`, name, why))),
    ...(portName !== "" && number !== 0 ? [invalidValue(at, "", "cannot set both port name & port number")] : []),
    ...(portName === "" && number === 0 ? [required(at, "port name or number is required")] : []),
    ...(portName === "" && number !== 0 ? validatePortNumber(number, `${at}.service.port.number`) : []),
  ];
}

/** What a NetworkPolicy may not say. */
export function validateNetworkPolicy(policy: JsonObject): readonly FieldError[] {
  const spec = objectAt(policy, "spec");
  const sides: readonly (readonly [rules: string, peers: string])[] = [
    ["ingress", "from"],
    ["egress", "to"],
  ];
  return sides.flatMap(([side, peers]) =>
    objectsAt(spec, side).flatMap((rule, index) => {
      const at = `spec.${side}[${index}]`;
      return [
        ...objectsAt(rule, "ports").flatMap((port, position) => validatePolicyPort(port, `${at}.ports[${position}]`)),
        ...objectsAt(rule, peers).flatMap((peer, position) => validatePeer(peer, `${at}.${peers}[${position}]`)),
      ];
    }),
  );
}

function validatePolicyPort({ port, endPort }: JsonObject, at: string): readonly FieldError[] {
  const refuseEnd = (why: string): readonly FieldError[] => (endPort === undefined ? [] : [invalidValue(`${at}.endPort`, endPort, why)]);
  if (port === undefined) return refuseEnd("may not be specified when `port` is not specified");
  if (typeof port !== "number") return refuseEnd("may not be specified when `port` is non-numeric");
  const isBackwards = typeof endPort === "number" && endPort < port;
  return [
    ...validatePortNumber(port, `${at}.port`),
    ...(isBackwards ? [invalidValue(`${at}.endPort`, port, "must be greater than or equal to `port`")] : []),
    ...(endPort === undefined ? [] : validatePortNumber(endPort, `${at}.endPort`)),
  ];
}

function validatePeer(peer: JsonObject, at: string): readonly FieldError[] {
  const others = ["podSelector", "namespaceSelector"].filter((field) => isObject(peer[field]));
  const block = peer["ipBlock"];
  if (!isObject(block)) return others.length === 0 ? [required(at, "must specify a peer")] : [];
  const both = others.length > 0 ? [forbiddenValue(at, "may not specify both ipBlock and another peer")] : [];
  const text = stringAt(block, "cidr") ?? "";
  if (text === "") return [...both, required(`${at}.ipBlock.cidr`)];
  const cidr = tryParseBlock(text);
  if (cidr === undefined) return [...both, notACidr(`${at}.ipBlock.cidr`, text)];
  const outside = stringsAt(block, "except").flatMap((except, index): readonly FieldError[] => {
    const here = `${at}.ipBlock.except[${index}]`;
    const inner = tryParseBlock(except);
    if (inner === undefined) return [notACidr(here, except)];
    const isInside = cidr.contains(inner.address) && inner.length > cidr.length;
    return isInside ? [] : [invalidValue(here, except, "must be a strict subset of `cidr`")];
  });
  return [...both, ...outside];
}

function notACidr(at: string, text: string): FieldError {
  return invalidValue(at, text, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
}
