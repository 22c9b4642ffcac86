import { getOwn, isObject, type JsonObject } from "../json.ts";
import type { CompiledVersion } from "../schema/index.ts";
import { emptySet, leafSet, setOfPaths, subtractRecursively, type FieldSet } from "./field-set.ts";
import type { Comparison } from "./field-sets-of.ts";

/** Facts that every write with field ownership needs. */
export interface OwnershipContext {
  readonly kind: CompiledVersion;
  readonly manager: string;
  /** `""` for the object itself, else `status`, `scale`, ... */
  readonly subresource: string;
  /** Of the request, for example `example.com/v1`. */
  readonly apiVersion: string;
  readonly now: Date;
}

const metadataFields = [
  "name",
  "namespace",
  "creationTimestamp",
  "selfLink",
  "uid",
  "clusterName",
  "generation",
  "managedFields",
  "resourceVersion",
];

/** Fields that nobody owns, because the server itself keeps them. */
export const unownedFields: FieldSet = setOfPaths([
  ["f:apiVersion"],
  ["f:kind"],
  ["f:metadata"],
  ...metadataFields.map((name) => ["f:metadata", `f:${name}`]),
]);

/** Fields that a write through this (sub)resource cannot change, so nobody comes to own them by it. */
export function ignoredFields({ kind, subresource }: Pick<OwnershipContext, "kind" | "subresource">): FieldSet {
  if (subresource === "") return kind.subresources.status ? statusOnly : emptySet;
  if (subresource !== "status") return emptySet;
  const known = exceptStatus.get(kind);
  if (known !== undefined) return known;
  const children = new Map<string, FieldSet>();
  // Through the status of most built-in kinds labels and annotations are written too, and owned; of Nodes written, and owned by nobody.
  if (!kind.root.isBuiltin || kind.names.kind === "Node") children.set("f:metadata", leafSet);
  for (const name of kind.root.properties.keys()) if (name !== "status" && name !== "metadata") children.set(`f:${name}`, leafSet);
  const set: FieldSet = { member: false, children };
  exceptStatus.set(kind, set);
  return set;
}

const statusOnly: FieldSet = { member: false, children: new Map([["f:status", leafSet]]) };
const exceptStatus = new WeakMap<CompiledVersion, FieldSet>();

/** A comparison without what the write cannot change. */
export function withoutIgnored(comparison: Comparison, ignored: FieldSet): Comparison {
  if (ignored === emptySet) return comparison;
  return {
    added: subtractRecursively(comparison.added, ignored),
    removed: subtractRecursively(comparison.removed, ignored),
    modified: subtractRecursively(comparison.modified, ignored),
  };
}

/** A shallow copy of an object without `metadata.managedFields`. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  const metadata = getOwn(object, "metadata");
  if (!isObject(metadata) || !Object.hasOwn(metadata, "managedFields")) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

/** A shallow copy of an object with these `metadata.managedFields`; an empty list leaves the field out. */
export function withManagedFields(object: JsonObject, entries: readonly JsonObject[]): JsonObject {
  const metadata = getOwn(object, "metadata");
  const { managedFields: _, ...rest } = isObject(metadata) ? metadata : {};
  return { ...object, metadata: entries.length === 0 ? rest : { ...rest, managedFields: entries } };
}

/** RFC 3339 in UTC without fractions, as metav1.Time prints. */
export function printTime(now: Date): string {
  return `${now.toISOString().slice(0, 19)}Z`;
}
