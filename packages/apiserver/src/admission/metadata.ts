import { quoteGo } from "../go-print.ts";
import { isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import type { ServedKind } from "../kinds/kind.ts";
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
  for (const [key, value] of Object.entries(objectAt(metadata, "labels"))) {
    errors.push(...keyErrors("metadata.labels", key), ...labelValueErrors(value));
  }
  let annotationBytes = 0;
  for (const [key, value] of Object.entries(objectAt(metadata, "annotations"))) {
    errors.push(...keyErrors("metadata.annotations", key.toLowerCase()));
    annotationBytes += Buffer.byteLength(key) + (typeof value === "string" ? Buffer.byteLength(value) : 0);
  }
  if (annotationBytes > maxAnnotationBytes) {
    errors.push({
      reason: "FieldValueTooLong",
      field: "metadata.annotations",
      message: `Too long: may not be more than ${maxAnnotationBytes} bytes`,
    });
  }
  errors.push(...finalizerErrors(kind, metadata), ...ownerErrors(metadata));
  if (old !== undefined) {
    errors.push(...newFinalizerErrors(metadata, metadataOf(old)));
  }
  return errors;
}

function nameErrors(kind: ServedKind, metadata: JsonObject): readonly FieldError[] {
  const name = stringAt(metadata, "name") ?? "";
  const refuse = (field: string, value: string, checked = value): readonly FieldError[] =>
    kind.strategy
      .refuseName(checked)
      .map((why) => ({ reason: "FieldValueInvalid", field, message: `Invalid value: ${quoteGo(value)}: ${why}` }));
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

function keyErrors(field: string, key: string): readonly FieldError[] {
  return problemsOfLabelKey(key).map((why) => ({ reason: "FieldValueInvalid", field, message: `Invalid value: ${quoteGo(key)}: ${why}` }));
}

function labelValueErrors(value: unknown): readonly FieldError[] {
  if (typeof value !== "string") return [];
  return problemsOfLabelValue(value).map((why) => ({
    reason: "FieldValueInvalid",
    field: "metadata.labels",
    message: `Invalid value: ${quoteGo(value)}: ${why}`,
  }));
}

function finalizerErrors(kind: ServedKind, metadata: JsonObject): readonly FieldError[] {
  const finalizers = finalizersOf(metadata);
  return [
    ...finalizers.flatMap((finalizer) =>
      problemsOfQualifiedName(finalizer).map((why) => ({
        reason: "FieldValueInvalid" as const,
        field: "metadata.finalizers",
        message: `Invalid value: ${quoteGo(finalizer)}: ${why}`,
      })),
    ),
    // Built-in kinds know three bare names; anything else needs a domain so that its owner can be found.
    ...finalizers.flatMap((finalizer, index) =>
      kind.custom || !isBare(finalizer)
        ? []
        : [
            {
              reason: "FieldValueInvalid" as const,
              field: `metadata.finalizers[${index}]`,
              message: `Invalid value: ${quoteGo(finalizer)}: name is neither a standard finalizer name nor is it fully qualified`,
            },
          ],
    ),
  ];
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

function ownerErrors(metadata: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const owners = objectsAt(metadata, "ownerReferences");
  // kube-apiserver names these fields without the index.
  const field = "metadata.ownerReferences";
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
      field: "metadata.ownerReferences",
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
