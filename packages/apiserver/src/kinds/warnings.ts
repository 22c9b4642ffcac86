import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, without } from "../request/json.ts";

/** Kinds that are kept and do not act, by `<group>/<plural>`: what those are told who would otherwise rely on them. */
const notActing: Readonly<Record<string, string>> = {
  "/resourcequotas": "the embedded API keeps ResourceQuotas and enforces none of them",
  "/limitranges": "the embedded API keeps LimitRanges and applies none of them",
  "admissionregistration.k8s.io/validatingadmissionpolicies":
    "the embedded API keeps ValidatingAdmissionPolicies and evaluates none of them",
  "admissionregistration.k8s.io/validatingadmissionpolicybindings":
    "the embedded API keeps bindings of ValidatingAdmissionPolicies and evaluates no policy",
  "admissionregistration.k8s.io/validatingwebhookconfigurations":
    "the embedded API keeps configurations of admission webhooks and calls none of them",
  "admissionregistration.k8s.io/mutatingwebhookconfigurations":
    "the embedded API keeps configurations of admission webhooks and calls none of them",
  "apiregistration.k8s.io/apiservices":
    "the embedded API keeps APIServices and does not ask the Services that they name: their kinds are not served",
  "flowcontrol.apiserver.k8s.io/flowschemas": "the embedded API keeps flow control and does not act on it",
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": "the embedded API keeps flow control and does not act on it",
};

/** What a client is told about an object of a built-in kind that is accepted: that it does not act, when it is new or says something else. */
export function warningsOf(resource: string, object: JsonObject, live: JsonObject | undefined): readonly string[] {
  const warning = notActing[resource];
  if (warning === undefined || isInert(resource, object)) return [];
  const said = (of: JsonObject): JsonObject => without(of, "metadata", "status");
  return live !== undefined && equalJson(said(object), said(live)) ? [] : [warning];
}

/** True for what would not act on a genuine server either: APIServices of the server itself, and configurations without webhooks. */
function isInert(resource: string, object: JsonObject): boolean {
  if (resource === "apiregistration.k8s.io/apiservices") return objectAt(object, "spec")["service"] === undefined;
  return resource.endsWith("webhookconfigurations") && objectsAt(object, "webhooks").length === 0;
}
