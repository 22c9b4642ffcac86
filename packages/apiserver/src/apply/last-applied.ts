import { getOwn, isObject, type JsonObject } from "../json.ts";
import type { CompiledVersion } from "../schema/index.ts";
import { emptySet, subtractSets, type FieldSet } from "./field-set.ts";
import { compareFields, fieldsOf } from "./field-sets-of.ts";

/** The field manager of `kubectl apply --server-side`, and the only one to which the annotation of client-side apply matters. */
export const kubectlManager = "kubectl";

const annotation = "kubectl.kubernetes.io/last-applied-configuration";

/** Bytes that all annotations of an object may have together. */
const annotationLimit = 256 * 1024;

/**
 * Fields that client-side apply set and nobody has changed since: `kubectl apply --server-side` takes them over without a conflict.
 *
 * Empty without the annotation, and where it is about another version.
 */
export function appliedByClient(live: JsonObject | undefined, kind: CompiledVersion): FieldSet {
  const before = parsed(annotationsOf(live)[annotation]);
  if (live === undefined || before === undefined || before["apiVersion"] !== kind.apiVersion) return emptySet;
  const { added, removed, modified } = compareFields(before, live, kind.root);
  return subtractSets(subtractSets(subtractSets(fieldsOf(before, kind.root), modified), added), removed);
}

/** Keeps the annotation of an object that has one true to what `kubectl` applied on the server; beyond the limit it goes. */
export function syncLastApplied(object: JsonObject, applied: JsonObject): JsonObject {
  const annotations = annotationsOf(object);
  if (!Object.hasOwn(annotations, annotation)) return object;
  const { [annotation]: _, ...others } = annotations;
  const text = printSorted(withoutAnnotation(applied));
  const total = Object.entries({ ...others, [annotation]: text }).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  const next = total > annotationLimit ? others : { ...annotations, [annotation]: text };
  return { ...object, metadata: { ...(object["metadata"] as JsonObject), annotations: next } };
}

function annotationsOf(object: JsonObject | undefined): JsonObject {
  const metadata = object === undefined ? undefined : getOwn(object, "metadata");
  const annotations = isObject(metadata) ? getOwn(metadata, "annotations") : undefined;
  return isObject(annotations) ? annotations : {};
}

function withoutAnnotation(applied: JsonObject): JsonObject {
  const metadata = getOwn(applied, "metadata");
  if (!isObject(metadata) || !isObject(metadata["annotations"])) return applied;
  const { [annotation]: _, ...annotations } = metadata["annotations"];
  return { ...applied, metadata: { ...metadata, annotations } };
}

function parsed(text: unknown): JsonObject | undefined {
  if (typeof text !== "string" || text === "") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    // Whoever wrote it, it says nothing about who set what.
    return undefined;
  }
}

/** As Go prints a map: keys in order, what HTML would misread escaped, a line end behind it. */
function printSorted(value: JsonObject): string {
  const text = JSON.stringify(value, (_, inner: unknown) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
  return `${text.replaceAll(/[<>&\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`)}\n`;
}
