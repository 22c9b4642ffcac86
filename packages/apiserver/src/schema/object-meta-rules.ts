import { quoteGo } from "../go-print.ts";
import { isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { refuseLabel, refusePathSegment } from "../request/names.ts";
import { objectAt, objectsAt, stringAt } from "../request/json.ts";
import { problemsOfLabelKey, problemsOfLabelValue, problemsOfQualifiedName } from "../request/qualified-name.ts";
import type { FieldError } from "./types.ts";

const maxAnnotationBytes = 262_144;

/** Rules of the ObjectMeta at `at` of an embedded resource, of whose kind nobody knows more: its name is any path segment, and may be absent. */
export function validateEmbeddedMetadata(metadata: JsonObject, at: string): readonly FieldError[] {
  const refuse = (key: string, problemsOf: (text: string) => readonly string[]): readonly FieldError[] => {
    const value = stringAt(metadata, key) ?? "";
    return value === "" ? [] : problemsOf(value).map((why) => invalidText(`${at}.${key}`, value, why));
  };
  return [
    ...refuse("generateName", (prefix) => refusePathSegment(`${prefix}a`)),
    ...refuse("name", refusePathSegment),
    ...refuse("namespace", refuseLabel),
    ...labelErrors(metadata, at),
    ...finalizerErrors(metadata, at),
    ...ownerErrors(metadata, at),
  ];
}

/** A text in metadata that breaks a rule, quoted as Go does. */
export function invalidText(field: string, value: string, why: string): FieldError {
  return { reason: "FieldValueInvalid", field, message: `Invalid value: ${quoteGo(value)}: ${why}` };
}

/** Rules of the labels and annotations in the ObjectMeta at `at`. */
export function labelErrors(metadata: JsonObject, at: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(objectAt(metadata, "labels"))) {
    errors.push(...keyErrors(`${at}.labels`, key, problemsOfLabelKey(key)), ...labelValueErrors(`${at}.labels`, value));
  }
  let annotationBytes = 0;
  for (const [key, value] of Object.entries(objectAt(metadata, "annotations"))) {
    errors.push(...keyErrors(`${at}.annotations`, key, problemsOfLabelKey(key.toLowerCase())));
    annotationBytes += Buffer.byteLength(key) + (typeof value === "string" ? Buffer.byteLength(value) : 0);
  }
  if (annotationBytes > maxAnnotationBytes) {
    errors.push({
      reason: "FieldValueTooLong",
      field: `${at}.annotations`,
      message: `Too long: may not be more than ${maxAnnotationBytes} bytes`,
    });
  }
  return errors;
}

function keyErrors(field: string, key: string, problems: readonly string[]): readonly FieldError[] {
  return problems.map((why) => invalidText(field, key, why));
}

function labelValueErrors(field: string, value: unknown): readonly FieldError[] {
  return typeof value === "string" ? problemsOfLabelValue(value).map((why) => invalidText(field, value, why)) : [];
}

/** Rules of its finalizers. */
export function finalizerErrors(metadata: JsonObject, at: string): readonly FieldError[] {
  return finalizersOf(metadata).flatMap((finalizer) =>
    problemsOfQualifiedName(finalizer).map((why) => invalidText(`${at}.finalizers`, finalizer, why)),
  );
}

/** The finalizers in an ObjectMeta. */
export function finalizersOf(metadata: JsonObject): readonly string[] {
  return Array.isArray(metadata["finalizers"]) ? metadata["finalizers"].map(String) : [];
}

/** Rules of its owners. */
export function ownerErrors(metadata: JsonObject, at: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const owners = objectsAt(metadata, "ownerReferences");
  // kube-apiserver names these fields without the index.
  const field = `${at}.ownerReferences`;
  for (const owner of owners) {
    const required: readonly (readonly [string, string])[] = [
      ["apiVersion", "version must not be empty"],
      ["kind", "must not be empty"],
      ["name", "must not be empty"],
      ["uid", "must not be empty"],
    ];
    for (const [key, why] of required) {
      const value = stringAt(owner, key) ?? "";
      if (value === "" || (key === "apiVersion" && value.split("/").length > 2)) {
        errors.push({ reason: "FieldValueInvalid", field: `${field}.${key}`, message: `Invalid value: ${quoteGo(value)}: ${why}` });
      }
    }
    const apiVersion = stringAt(owner, "apiVersion") ?? "";
    if (owner["kind"] === "Event" && (apiVersion === "v1" || apiVersion === "events.k8s.io/v1")) {
      const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
      const message = `Invalid value: ${printOwner(owner)}: ${group}/${version}, Kind=Event is disallowed from being an owner`;
      errors.push({ reason: "FieldValueInvalid", field, message });
    }
  }
  const controllers = owners.filter((owner) => isObject(owner) && owner["controller"] === true);
  if (controllers.length > 1) {
    const names = controllers.map((owner) => `${stringAt(owner, "kind") ?? ""}/${stringAt(owner, "name") ?? ""}`);
    errors.push({
      reason: "FieldValueInvalid",
      field,
      message: `Invalid value: [${owners.map(printOwner).join(",")}]: Only one reference can have Controller set to true. Found "true" in references for ${names.join(" and ")}`,
    });
  }
  return errors;
}

/** Members in the order in which the API declares them, as a refusal shows them. */
function printOwner(owner: JsonObject): string {
  const order = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
  return JSON.stringify(Object.fromEntries(order.filter((key) => owner[key] !== undefined).map((key) => [key, owner[key]])));
}
