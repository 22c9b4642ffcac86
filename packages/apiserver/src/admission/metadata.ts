import { isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import type { ServedKind } from "../kinds/kind.ts";
import { metadataOf, objectAt, objectsAt, stringAt } from "../request/json.ts";
import type { FieldError } from "../schema/index.ts";

const maxAnnotationBytes = 262_144;
const namePart = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const prefixPart = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

/** Rules of ObjectMeta that hold for every kind. */
export function validateMetadata(kind: ServedKind, object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const metadata = metadataOf(object);
  const errors: FieldError[] = [];
  if (old === undefined) {
    errors.push(...nameErrors(kind, metadata));
  }
  for (const [key, value] of Object.entries(objectAt(metadata, "labels"))) {
    errors.push(...qualifiedNameErrors("metadata.labels", key), ...labelValueErrors(value));
  }
  let annotationBytes = 0;
  for (const [key, value] of Object.entries(objectAt(metadata, "annotations"))) {
    errors.push(...qualifiedNameErrors("metadata.annotations", key.toLowerCase()));
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
  if (name === "") {
    return [{ reason: "FieldValueRequired", field: "metadata.name", message: "Required value: name or generateName is required" }];
  }
  const why = kind.strategy.refuseName(name);
  return why === undefined
    ? []
    : [{ reason: "FieldValueInvalid", field: "metadata.name", message: `Invalid value: ${JSON.stringify(name)}: ${why}` }];
}

function qualifiedNameErrors(field: string, key: string): readonly FieldError[] {
  const slash = key.indexOf("/");
  const prefix = slash === -1 ? undefined : key.slice(0, slash);
  const name = key.slice(slash + 1);
  const problems: string[] = [];
  if (prefix === "") {
    problems.push("prefix part must be non-empty");
  } else if (prefix !== undefined && (!prefixPart.test(prefix) || prefix.length > 253)) {
    problems.push(
      "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    );
  }
  if (name === "") {
    problems.push("name part must be non-empty");
  } else if (name.length > 63) {
    problems.push("name part must be no more than 63 bytes");
  }
  if (!namePart.test(name)) {
    problems.push(
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    );
  }
  return problems.map((problem) => ({ reason: "FieldValueInvalid", field, message: `Invalid value: ${JSON.stringify(key)}: ${problem}` }));
}

function labelValueErrors(value: unknown): readonly FieldError[] {
  if (typeof value !== "string") {
    return [];
  }
  const problems = [
    ...(value.length > 63 ? ["must be no more than 63 bytes"] : []),
    ...(labelValue.test(value)
      ? []
      : [
          "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        ]),
  ];
  return problems.map((problem) => ({
    reason: "FieldValueInvalid",
    field: "metadata.labels",
    message: `Invalid value: ${JSON.stringify(value)}: ${problem}`,
  }));
}

function finalizerErrors(kind: ServedKind, metadata: JsonObject): readonly FieldError[] {
  const finalizers = Array.isArray(metadata["finalizers"]) ? metadata["finalizers"].map(String) : [];
  return finalizers.flatMap((finalizer) => {
    const errors = qualifiedNameErrors("metadata.finalizers", finalizer);
    // Built-in kinds know two bare names; anything else needs a domain so that its owner can be found.
    const isBare = !finalizer.includes("/") && finalizer !== "orphan" && finalizer !== "foregroundDeletion" && finalizer !== "kubernetes";
    return errors.length > 0 || !isBare || kind.custom
      ? errors
      : [
          {
            reason: "FieldValueInvalid" as const,
            field: "metadata.finalizers",
            message: `Invalid value: ${JSON.stringify(finalizer)}: name is neither a standard finalizer name nor is it fully qualified`,
          },
        ];
  });
}

function newFinalizerErrors(metadata: JsonObject, old: JsonObject): readonly FieldError[] {
  if (old["deletionTimestamp"] === undefined) {
    return [];
  }
  const before = Array.isArray(old["finalizers"]) ? old["finalizers"].map(String) : [];
  const after = Array.isArray(metadata["finalizers"]) ? metadata["finalizers"].map(String) : [];
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
      if ((stringAt(owner, key) ?? "") === "") {
        errors.push({ reason: "FieldValueInvalid", field: `${field}.${key}`, message: `Invalid value: "": ${why}` });
      }
    }
  }
  const controllers = owners.filter((owner) => isObject(owner) && owner["controller"] === true);
  if (controllers.length > 1) {
    const names = controllers.map((owner) => `${stringAt(owner, "kind") ?? ""}/${stringAt(owner, "name") ?? ""}`);
    errors.push({
      reason: "FieldValueInvalid",
      field: "metadata.ownerReferences",
      message: `Invalid value: ${JSON.stringify(names)}: Only one reference can have Controller set to true. Found "true" in references for ${names.join(" and ")}`,
    });
  }
  return errors;
}
