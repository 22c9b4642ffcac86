import type { JsonObject } from "../json.ts";
import { isIP } from "../net-address.ts";
import { objectAt, objectsAt, stringAt, stringsAt } from "../request/json.ts";
import type { FieldError } from "../schema/index.ts";
import { addressesDisagree } from "./defaults/service.ts";
import type { WriteFacts } from "./kind.ts";
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
    names.add(name);
    const { port: number } = port;
    if (typeof number !== "number" || number < 1 || number > 65_535)
      errors.push(invalidValue(`${at}.port`, number, "must be between 1 and 65535, inclusive"));
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

function validateAddress(spec: JsonObject, old: JsonObject | undefined, { stored }: WriteFacts): readonly FieldError[] {
  const given = spec["clusterIP"];
  const before = stringAt(objectAt(old, "spec"), "clusterIP") ?? "";
  if (before !== "" && spec["type"] !== "ExternalName" && given !== before)
    return [invalidValue("spec.clusterIPs[0]", [given], "may not change once set")];
  if (before !== "" || given === "None" || typeof given !== "string") return [];
  if (!isIP(given)) return [invalidValue("spec.clusterIPs[0]", given, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")];
  const isTaken = stored("/services").some((other) => objectAt(other, "spec")["clusterIP"] === given);
  const why = !given.startsWith("10.96.")
    ? "the provided network does not match the current range"
    : isTaken
      ? "provided IP is already allocated"
      : undefined;
  return why === undefined ? [] : [invalidValue("spec.clusterIPs", [given], `failed to allocate IP ${given}: ${why}`)];
}
