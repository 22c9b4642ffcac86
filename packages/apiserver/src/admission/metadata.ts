import { quoteGo } from "../go-print.ts";
import type { JsonObject } from "../json.ts";
import type { ServedKind } from "../kinds/kind.ts";
import { metadataOf, stringAt } from "../request/json.ts";
import type { FieldError } from "../schema/index.ts";
import { finalizerErrors, finalizersOf, invalidText, labelErrors, ownerErrors } from "../schema/object-meta-rules.ts";

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
