import type { JsonObject } from "../json.ts";
import { isIP } from "../net-address.ts";
import { objectAt, objectsAt, stringAt, stringsAt } from "../request/json.ts";
import { refuseLabel } from "../request/names.ts";
import { problemsOfLabelValue, problemsOfQualifiedName } from "../request/qualified-name.ts";
import type { FieldError } from "../schema/index.ts";
import { addressesDisagree } from "./defaults/service.ts";
import type { WriteFacts } from "./kind.ts";
import { isNetwork } from "./node-rules.ts";
import { address } from "./number-rules.ts";
import { problemsOfPortName, validatePortNumber } from "./port-rules.ts";
import { duplicate, forbiddenValue, invalidValue, required, unsupported } from "./rule-errors.ts";

const serviceTypes = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const external = ["NodePort", "LoadBalancer"];

/** What a Service may not say; its address never changes. */
export function validateService(service: JsonObject, old: JsonObject | undefined, facts: WriteFacts): readonly FieldError[] {
  const spec = objectAt(service, "spec");
  const errors: FieldError[] = [...validateAddresses(spec)];
  const type = stringAt(spec, "type") ?? "";
  const isHeadless = spec["clusterIP"] === "None";
  const ports = objectsAt(spec, "ports");
  if (ports.length === 0 && !isHeadless && type !== "ExternalName") errors.push(required("spec.ports"));
  errors.push(...validatePorts(ports, type));
  if (!serviceTypes.includes(type)) errors.push(unsupported("spec.type", type, serviceTypes));
  if (type === "ExternalName" && (stringAt(spec, "externalName") ?? "") === "") errors.push(required("spec.externalName"));
  stringsAt(spec, "externalIPs").forEach((given, index) => errors.push(...address(given, `spec.externalIPs[${index}]`)));
  for (const [key, value] of Object.entries(objectAt(spec, "selector"))) {
    errors.push(...problemsOfQualifiedName(key).map((why) => invalidValue("spec.selector", key, why)));
    if (typeof value === "string") errors.push(...problemsOfLabelValue(value).map((why) => invalidValue("spec.selector", value, why)));
  }
  const traffic = stringAt(spec, "externalTrafficPolicy") ?? "";
  if (traffic !== "" && !external.includes(type) && stringsAt(spec, "externalIPs").length === 0)
    errors.push(invalidValue("spec.externalTrafficPolicy", traffic, "may only be set for externally-accessible services"));
  const sources = stringsAt(spec, "loadBalancerSourceRanges");
  if (sources.length > 0 && type !== "LoadBalancer")
    errors.push(forbiddenValue("spec.LoadBalancerSourceRanges", "may only be used when `type` is 'LoadBalancer'"));
  sources.forEach((given, index) => {
    const why = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
    if (!isNetwork(given)) errors.push(invalidValue(`spec.LoadBalancerSourceRanges[${index}]`, given, why));
  });
  errors.push(...validateFamilies(spec));
  return errors.length === 0 ? [...validateAddress(spec, old, facts), ...validateTakenPorts(service, old, facts)] : errors;
}

/** A node has each port once. */
function validateTakenPorts(service: JsonObject, old: JsonObject | undefined, { stored }: WriteFacts): readonly FieldError[] {
  const keysOf = (of: JsonObject | undefined): readonly string[] =>
    objectsAt(objectAt(of, "spec"), "ports").map(
      (port) => `${typeof port["nodePort"] === "number" ? port["nodePort"] : 0} ${stringAt(port, "protocol") ?? "TCP"}`,
    );
  const own = new Set(keysOf(old));
  const asked = keysOf(service)
    .map((key, index) => ({ key, index }))
    .filter(({ key }) => !key.startsWith("0 ") && !own.has(key));
  if (asked.length === 0) return [];
  const { name, namespace } = objectAt(service, "metadata");
  const isOther = (service: JsonObject): boolean => {
    const metadata = objectAt(service, "metadata");
    return metadata["name"] !== name || metadata["namespace"] !== namespace;
  };
  const taken = new Set(stored("/services").filter(isOther).flatMap(keysOf));
  return asked
    .filter(({ key, index }) => taken.has(key) || keysOf(service).indexOf(key) < index)
    .map(({ key, index }) =>
      invalidValue(`spec.ports[${index}].nodePort`, Number(key.split(" ")[0]), "provided port is already allocated"),
    );
}

function validatePorts(ports: readonly JsonObject[], type: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  const numbers = new Set<string>();
  ports.forEach((port, index) => {
    const at = `spec.ports[${index}]`;
    const name = stringAt(port, "name") ?? "";
    if (ports.length > 1 && name === "") errors.push(required(`${at}.name`));
    if (name !== "" && names.has(name)) errors.push(duplicate(`${at}.name`, name));
    if (name !== "") errors.push(...refuseLabel(name).map((why) => invalidValue(`${at}.name`, name, why)));
    names.add(name);
    errors.push(...validatePortNumber(port["port"], `${at}.port`));
    const target = port["targetPort"];
    if (typeof target === "number") errors.push(...validatePortNumber(target, `${at}.targetPort`));
    else if (typeof target === "string")
      errors.push(...problemsOfPortName(target).map((why) => invalidValue(`${at}.targetPort`, target, why)));
    const node = port["nodePort"];
    if (typeof node === "number" && node !== 0) {
      if (!external.includes(type)) errors.push(forbiddenValue(`${at}.nodePort`, `may not be used when \`type\` is '${type}'`));
      else if (node < 30_000 || node > 32_767) {
        const why = "provided port is not in the valid range. The range of valid ports is 30000-32767";
        errors.push(invalidValue(`${at}.nodePort`, node, why));
      }
    }
    const protocol = stringAt(port, "protocol") ?? "TCP";
    const key = `${protocol} ${String(port["port"])}`;
    // As the struct of it prints: what does not count for the comparison is empty.
    const shown = { Name: "", Protocol: protocol, AppProtocol: null, Port: port["port"], TargetPort: 0, NodePort: 0 };
    if (numbers.has(key)) errors.push(duplicate(at, shown));
    numbers.add(key);
  });
  return errors;
}

/** There is one range of addresses, and it is IPv4. */
function validateFamilies(spec: JsonObject): readonly FieldError[] {
  // Without an address and without pods of its own a Service is open to whatever its endpoints have.
  if (spec["clusterIP"] === "None" && Object.keys(objectAt(spec, "selector")).length === 0) return [];
  const policy = stringAt(spec, "ipFamilyPolicy");
  return [
    ...stringsAt(spec, "ipFamilies").flatMap((family, index) =>
      family === "IPv6" ? [invalidValue(`spec.ipFamilies[${index}]`, family, "not configured on this cluster")] : [],
    ),
    ...(policy === "RequireDualStack"
      ? [invalidValue("spec.ipFamilyPolicy", policy, "this cluster is not configured for dual-stack services")]
      : []),
  ];
}

/** `clusterIP` is the first of `clusterIPs`; a Service that is a name of something else has neither. */
function validateAddresses(spec: JsonObject): readonly FieldError[] {
  const given = stringsAt(spec, "clusterIPs");
  if (spec["type"] === "ExternalName") {
    const isSet = (field: string): boolean =>
      (field === "clusterIPs" && (stringAt(spec, "clusterIP") ?? "") !== "") || spec[field] !== undefined;
    const fields = ["clusterIPs", "ipFamilies", "ipFamilyPolicy"].filter(isSet);
    return fields.map((field) => forbiddenValue(`spec.${field}`, "may not be set for ExternalName services"));
  }
  if (!addressesDisagree(spec)) return [];
  const isAlone = (stringAt(spec, "clusterIP") ?? "") === "";
  return [
    invalidValue(
      "spec.clusterIPs",
      given,
      isAlone ? "must be empty when `clusterIP` is not specified" : "first value must match `clusterIP`",
    ),
  ];
}

/** What the status of a Service may not say: only a load balancer has addresses of its own. */
export function validateServiceStatus(service: JsonObject): readonly FieldError[] {
  const at = "status.loadBalancer.ingress";
  const ingress = objectsAt(objectAt(objectAt(service, "status"), "loadBalancer"), "ingress");
  if (ingress.length > 0 && objectAt(service, "spec")["type"] !== "LoadBalancer")
    return [forbiddenValue(at, 'may only be used when `spec.type` is "LoadBalancer"')];
  return ingress.flatMap(({ ip }, index) => (ip === undefined || ip === "" ? [] : address(ip, `${at}[${index}].ip`)));
}

function validateAddress(spec: JsonObject, old: JsonObject | undefined, { stored, dryRun }: WriteFacts): readonly FieldError[] {
  const given = spec["clusterIP"];
  const before = stringAt(objectAt(old, "spec"), "clusterIP") ?? "";
  if (before !== "" && spec["type"] !== "ExternalName" && given !== before)
    return [invalidValue("spec.clusterIPs[0]", [given], "may not change once set")];
  if (before !== "" || given === "None" || typeof given !== "string") return [];
  if (!isIP(given)) return address(given, "spec.clusterIPs[0]");
  const isTaken = stored("/services").some((other) => objectAt(other, "spec")["clusterIP"] === given);
  const why = !given.startsWith("10.96.")
    ? dryRun
      ? `the provided IP (${given}) is not in the valid range. The range of valid IPs is 10.96.0.0/16`
      : "the provided network does not match the current range"
    : isTaken
      ? "provided IP is already allocated"
      : undefined;
  return why === undefined ? [] : [invalidValue("spec.clusterIPs", [given], `failed to allocate IP ${given}: ${why}`)];
}

/** What Endpoints may not say. */
export function validateEndpoints(endpoints: JsonObject): readonly FieldError[] {
  return objectsAt(endpoints, "subsets").flatMap((subset, index) => {
    const at = `subsets[${index}]`;
    const ports = objectsAt(subset, "ports");
    return [
      ...["addresses", "notReadyAddresses"].flatMap((list) =>
        objectsAt(subset, list).flatMap((entry, position) => validateEndpoint(entry["ip"], `${at}.${list}[${position}].ip`)),
      ),
      ...ports.flatMap((port, position) => [
        ...(ports.length > 1 && (stringAt(port, "name") ?? "") === "" ? [required(`${at}.ports[${position}].name`)] : []),
        ...validatePortNumber(port["port"] ?? 0, `${at}.ports[${position}].port`),
      ]),
    ];
  });
}

/** An address that other machines can reach. */
function validateEndpoint(ip: unknown, at: string): readonly FieldError[] {
  const errors = address(ip, at);
  if (errors.length > 0 || typeof ip !== "string") return errors;
  const isLoopback = ip.startsWith("127.") || ip === "::1";
  return isLoopback ? [invalidValue(at, ip, "may not be in the loopback range (127.0.0.0/8, ::1/128)")] : [];
}
