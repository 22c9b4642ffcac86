import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, stringAt, stringsAt, without } from "../request/json.ts";
import type { ApiUser } from "../request/request.ts";
import type { FieldError } from "../schema/index.ts";
import type { WriteFacts } from "./kind.ts";
import { refuseLabel, refuseSubdomain } from "../request/names.ts";
import { duplicate, forbiddenValue, invalidValue, required, unsupported } from "./rule-errors.ts";

const usages = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];
const finalTypes = ["Approved", "Denied", "Failed"];
const shortestSeconds = 600;

/** A request for a certificate stays as it was made; only its subresources change. */
export function prepareSigningRequest(request: JsonObject, old: JsonObject | undefined): JsonObject {
  return old === undefined ? request : { ...request, spec: old["spec"] };
}

/** A new request says who made it, whatever it said itself. */
export function beginSigningRequest(request: JsonObject, old: JsonObject | undefined, { user }: WriteFacts): JsonObject {
  if (old !== undefined) return request;
  return { ...request, spec: { ...without(objectAt(request, "spec"), "username", "uid", "groups", "extra"), ...maker(user) }, status: {} };
}

function maker({ name, uid = "", groups, extra = {} }: ApiUser): JsonObject {
  return {
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(uid === "" ? {} : { uid }),
    username: name,
  };
}

/** What is written through `/approval`: conditions, with the times that they lack. */
export function restrictApproval(live: JsonObject, next: JsonObject, { now }: WriteFacts): JsonObject {
  const before = objectAt(live, "status");
  const conditions = dated(objectsAt(objectAt(next, "status"), "conditions"), objectsAt(before, "conditions"), now);
  return {
    ...live,
    metadata: next["metadata"],
    status: { ...without(before, "conditions"), ...(conditions.length === 0 ? {} : { conditions }) },
  };
}

function dated(conditions: readonly JsonObject[], old: readonly JsonObject[], now: string): readonly JsonObject[] {
  return conditions.map((condition) => {
    const same = old.find(({ type, status }) => type === condition["type"] && status === condition["status"]);
    return {
      ...condition,
      lastUpdateTime: condition["lastUpdateTime"] ?? now,
      lastTransitionTime: condition["lastTransitionTime"] ?? same?.["lastTransitionTime"] ?? now,
    };
  });
}

/** What a request may not say. */
export function validateSigningRequest(
  request: JsonObject,
  old: JsonObject | undefined,
  { readCertificateRequest: read }: Pick<WriteFacts, "readCertificateRequest">,
): readonly FieldError[] {
  const spec = objectAt(request, "spec");
  const given = stringsAt(spec, "usages");
  const lifetime = spec["expirationSeconds"];
  const errors: FieldError[] = old === undefined ? [...validateRequest(spec, read)] : [];
  if (given.length === 0) errors.push(required("spec.usages"));
  given.forEach((usage, index) => {
    const at = `spec.usages[${index}]`;
    if (!usages.includes(usage)) errors.push(unsupported(at, usage, usages));
    if (given.indexOf(usage) < index) errors.push(duplicate(at, usage));
  });
  errors.push(...validateSigner(stringAt(spec, "signerName") ?? "", "spec.signerName"));
  if (typeof lifetime === "number" && lifetime < shortestSeconds)
    errors.push(invalidValue("spec.expirationSeconds", lifetime, "may not specify a duration less than 600 seconds (10 minutes)"));
  return errors;
}

function validateRequest(spec: JsonObject, read: WriteFacts["readCertificateRequest"]): readonly FieldError[] {
  const encoded = stringAt(spec, "request") ?? "";
  try {
    read(Buffer.from(encoded, "base64").toString("latin1"));
    return [];
  } catch (err) {
    return [invalidValue("spec.request", encoded, err instanceof Error ? err.message : String(err))];
  }
}

/** A signer is named by a domain and a path. */
function validateSigner(signer: string, at: string): readonly FieldError[] {
  if (signer === "") return [required(at)];
  const [domain = "", path, ...more] = signer.split("/");
  if (path === undefined || more.length > 0)
    return [invalidValue(at, signer, "must be a fully qualified domain and path of the form 'example.com/signer-name'")];
  const firstBad = (text: string, refuse: (label: string) => readonly string[]): readonly FieldError[] => {
    const bad = text.split(".").find((label) => refuse(label).length > 0);
    return bad === undefined ? [] : refuse(bad).map((why) => invalidValue(at, text, `validating label ${JSON.stringify(bad)}: ${why}`));
  };
  const isShort = domain.split(".").length < 2;
  return [
    ...firstBad(domain, refuseLabel),
    ...(isShort ? [invalidValue(at, domain, "should be a domain with at least two segments separated by dots")] : []),
    ...firstBad(path, refuseSubdomain),
  ];
}

/** What may not become of the conditions and the certificate of a request. */
export function validateSigningStatus(request: JsonObject, live: JsonObject, isApproval: boolean): readonly FieldError[] {
  const at = "status.conditions";
  const status = objectAt(request, "status");
  const now = objectsAt(status, "conditions");
  const before = objectsAt(objectAt(live, "status"), "conditions");
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  now.forEach((condition, index) => {
    const type = stringAt(condition, "type") ?? "";
    const state = stringAt(condition, "status") ?? "";
    const states = finalTypes.includes(type) ? ["True"] : ["False", "True", "Unknown"];
    if (type === "") errors.push(required(`${at}[${index}].type`));
    if (state === "") errors.push(required(`${at}[${index}].status`));
    else if (!states.includes(state)) errors.push(unsupported(`${at}[${index}].status`, state, states));
    const opposite = type === "Approved" ? "Denied" : type === "Denied" ? "Approved" : "";
    if (opposite !== "" && seen.has(opposite)) errors.push(invalidValue(at, type, "Approved and Denied conditions are mutually exclusive"));
    if (seen.has(type)) errors.push(duplicate(`${at}[${index}].type`, type));
    seen.add(type);
  });
  const of = (conditions: readonly JsonObject[], type: string): readonly JsonObject[] => conditions.filter((one) => one["type"] === type);
  for (const type of finalTypes)
    if (of(now, type).length < of(before, type).length)
      errors.push(forbiddenValue(at, `updates may not remove a condition of type "${type}"`));
  if (isApproval) return errors;
  for (const type of ["Approved", "Denied"]) {
    if (of(now, type).length > of(before, type).length)
      errors.push(forbiddenValue(at, `updates may not add a condition of type "${type}"`));
    else if (of(now, type).length === of(before, type).length && !equalJson(of(now, type), of(before, type)))
      errors.push(forbiddenValue(at, `updates may not modify a condition of type "${type}"`));
  }
  const issued = objectAt(live, "status")["certificate"] ?? "";
  if (issued !== "" && issued !== (status["certificate"] ?? ""))
    errors.push(forbiddenValue("status.certificate", "updates may not modify existing certificate content"));
  return errors;
}
