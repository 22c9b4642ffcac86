import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, stringAt } from "../request/json.ts";
import { refuseOldLabel, refuseSubdomain } from "../request/names.ts";
import type { FieldError } from "../schema/index.ts";
import { fill, inside } from "./defaults/fill.ts";
import type { WriteFacts } from "./kind.ts";
import { invalidValue, required, unsupported } from "./rule-errors.ts";

// APIServices: APIs that others serve. They are kept as they are written; nothing is asked of the Service that they name.

const highestGroupPriority = 20_000;
const highestVersionPriority = 1_000;

/** Fills in what an APIService leaves out. */
export function prepareApiService(api: JsonObject): JsonObject {
  return inside(api, "spec", (spec) => inside(spec, "service", (service) => fill(service, { port: 443 })));
}

/** A new APIService without Service is one of the server's own, which are always there. */
export function beginApiService(api: JsonObject, old: JsonObject | undefined, { now, warn }: WriteFacts): JsonObject {
  if (old !== undefined) return api;
  const isLocal = objectAt(api, "spec")["service"] === undefined;
  if (!isLocal) warn(notAsked);
  const available = {
    type: "Available",
    status: "True",
    reason: "Local",
    message: "Local APIServices are always available",
    lastTransitionTime: now,
  };
  return { ...api, status: isLocal ? { conditions: [available] } : {} };
}

/** Told to those who bring an APIService, who would otherwise wait for its kinds. */
const notAsked = "the embedded API keeps APIServices and does not ask the Services that they name: their kinds are not served";

/** What an APIService may not say. */
export function validateApiService(api: JsonObject): readonly FieldError[] {
  const spec = objectAt(api, "spec");
  const [group, version, name] = [stringAt(spec, "group") ?? "", stringAt(spec, "version") ?? "", stringAt(metadataOf(api), "name") ?? ""];
  const wanted = `${version}.${group}`;
  const isOutside = (value: unknown, highest: number): boolean => typeof value !== "number" || value <= 0 || value > highest;
  const priority = (field: string, highest: number): readonly FieldError[] =>
    isOutside(spec[field] ?? 0, highest)
      ? [invalidValue(`spec.${field}`, spec[field] ?? 0, `must be positive and less than ${highest}`)]
      : [];
  return [
    ...(name === wanted ? [] : [invalidValue("metadata.name", name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`)]),
    ...(group === "" && version !== "v1" ? [required("spec.group", "only v1 may have an empty group and it better be legacy kube")] : []),
    ...(group === "" ? [] : refuseSubdomain(group).map((why) => invalidValue("spec.group", group, why))),
    ...refuseOldLabel(version).map((why) => invalidValue("spec.version", version, why)),
    ...priority("groupPriorityMinimum", highestGroupPriority),
    ...priority("versionPriority", highestVersionPriority),
    ...validateService(spec),
  ];
}

function validateService(spec: JsonObject): readonly FieldError[] {
  const bundle = stringAt(spec, "caBundle") ?? "";
  const isTrusting = spec["insecureSkipTLSVerify"] === true;
  if (spec["service"] === undefined) {
    const bytes = `${Buffer.from(bundle, "base64").length} bytes`;
    return [
      ...(bundle === "" ? [] : [invalidValue("spec.caBundle", bytes, "local APIServices may not have a caBundle")]),
      ...(isTrusting ? [invalidValue("spec.insecureSkipTLSVerify", true, "local APIServices may not have insecureSkipTLSVerify")] : []),
    ];
  }
  const service = objectAt(spec, "service");
  return [
    ...(stringAt(service, "namespace") ? [] : [required("spec.service.namespace")]),
    ...(stringAt(service, "name") ? [] : [required("spec.service.name")]),
    ...refusePort(service["port"], "spec.service.port"),
    ...(isTrusting && bundle !== "" ? [invalidValue("spec.insecureSkipTLSVerify", true, "may not be true if caBundle is present")] : []),
  ];
}

/** What is wrong with the port of a Service that the server would call. */
export function refusePort(port: unknown, at: string): readonly FieldError[] {
  const isPort = typeof port === "number" && port >= 1 && port <= 65_535;
  return isPort ? [] : [invalidValue(at, port, "port is not valid: must be between 1 and 65535, inclusive")];
}

/** What the status of an APIService may not say. */
export function validateApiServiceStatus(api: JsonObject): readonly FieldError[] {
  const conditions = objectAt(api, "status")["conditions"];
  const states = ["True", "False", "Unknown"];
  return (Array.isArray(conditions) ? (conditions as readonly JsonObject[]) : []).flatMap((condition, index) => {
    const state = stringAt(condition, "status") ?? "";
    return states.includes(state) ? [] : [unsupported(`status.conditions[${index}].status`, state, states)];
  });
}
