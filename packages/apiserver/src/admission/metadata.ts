import { quoteGo } from "../go-print.ts";
import { isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import type { ServedKind } from "../kinds/kind.ts";
import { refuseLabel, refusePathSegment } from "../kinds/names.ts";
import { metadataOf, objectAt, objectsAt, stringAt } from "../request/json.ts";
import { problemsOfLabelKey, problemsOfLabelValue, problemsOfQualifiedName } from "../request/qualified-name.ts";
import type { FieldError } from "../schema/index.ts";

const maxAnnotationBytes = 262_144;

/** Rules of ObjectMeta that hold for every kind. */
export function validateMetadata(kind: ServedKind, object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const metadata = metadataOf(object);
  const errors: FieldError[] = [];
  if (old === undefined) {
    errors.push(...nameErrors(kind, metadata));
  }
  errors.push(
    ...labelErrors(metadata, "metadata"),
    ...finalizerErrors(metadata, "metadata"),
    ...(kind.custom ? [] : bareFinalizerErrors(metadata)),
    ...ownerErrors(metadata, "metadata"),
  );
  if (old !== undefined) {
    errors.push(...newFinalizerErrors(metadata, metadataOf(old)));
  }
  return errors;
}

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

function invalidText(field: string, value: string, why: string): FieldError {
  return { reason: "FieldValueInvalid", field, message: `Invalid value: ${quoteGo(value)}: ${why}` };
}

function labelErrors(metadata: JsonObject, at: string): readonly FieldError[] {
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

function nameErrors(kind: ServedKind, metadata: JsonObject): readonly FieldError[] {
  const name = stringAt(metadata, "name") ?? "";
  const refuse = (field: string, value: string, checked = value): readonly FieldError[] =>
    kind.strategy.refuseName(checked).map((why) => invalidText(field, value, why));
  const prefix = stringAt(metadata, "generateName") ?? "";
  // A prefix may end in a dash, for something follows it.
  const ofPrefix = prefix === "" ? [] : refuse("metadata.generateName", prefix, prefix.length > 1 ? prefix.replace(/.-$/, "a") : prefix);
  if (name === "") {
    return [
      ...ofPrefix,
      { reason: "FieldValueRequired", field: "metadata.name", message: "Required value: name or generateName is required" },
    ];
  }
  return [...ofPrefix, ...refuse("metadata.name", name)];
}

function keyErrors(field: string, key: string, problems: readonly string[]): readonly FieldError[] {
  return problems.map((why) => invalidText(field, key, why));
}

function labelValueErrors(field: string, value: unknown): readonly FieldError[] {
  return typeof value === "string" ? problemsOfLabelValue(value).map((why) => invalidText(field, value, why)) : [];
}

function finalizerErrors(metadata: JsonObject, at: string): readonly FieldError[] {
  return finalizersOf(metadata).flatMap((finalizer) =>
    problemsOfQualifiedName(finalizer).map((why) => invalidText(`${at}.finalizers`, finalizer, why)),
  );
}

/** Built-in kinds know three bare names; anything else needs a domain so that its owner can be found. */
function bareFinalizerErrors(metadata: JsonObject): readonly FieldError[] {
  const why = "name is neither a standard finalizer name nor is it fully qualified";
  return finalizersOf(metadata).flatMap((finalizer, index) =>
    isBare(finalizer) ? [invalidText(`metadata.finalizers[${index}]`, finalizer, why)] : [],
  );
}

function isBare(finalizer: string): boolean {
  return !finalizer.includes("/") && finalizer !== "orphan" && finalizer !== "foregroundDeletion" && finalizer !== "kubernetes";
}

function finalizersOf(metadata: JsonObject): readonly string[] {
  return Array.isArray(metadata["finalizers"]) ? metadata["finalizers"].map(String) : [];
}

/** What is taken with a word of warning: new finalizers of a custom resource that name no domain. */
export function metadataWarnings(kind: ServedKind, object: JsonObject, old: JsonObject | undefined): readonly string[] {
  if (!kind.custom) return [];
  const before = finalizersOf(metadataOf(old ?? {}));
  return finalizersOf(metadataOf(object))
    .filter((finalizer) => isBare(finalizer) && !before.includes(finalizer))
    .map(
      (finalizer) =>
        `metadata.finalizers: ${quoteGo(finalizer)}: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`,
    );
}

function newFinalizerErrors(metadata: JsonObject, old: JsonObject): readonly FieldError[] {
  if (old["deletionTimestamp"] === undefined) {
    return [];
  }
  const before = finalizersOf(old);
  const after = finalizersOf(metadata);
  const added = after.filter((finalizer) => !before.includes(finalizer)).sort();
  return added.length === 0
    ? []
    : [
        {
          reason: "FieldValueForbidden",
          field: "metadata.finalizers",
          message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((name) => JSON.stringify(name)).join(", ")}}`,
        },
      ];
}

function ownerErrors(metadata: JsonObject, at: string): readonly FieldError[] {
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
