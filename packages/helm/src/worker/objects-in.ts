import { CORE_SCHEMA, loadAll } from "js-yaml";

/** An object of a manifest, as far as everything of it is known. */
export interface ManifestObject {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/**
 * Objects of what `helm get manifest` prints. Each document is read by itself: one that Helm takes and this reader does not, or that was cut because all of them
 * are too long, hides none of the others. A key that stands twice counts as it does to Helm, the last one.
 */
export function objectsIn(manifest: string): { readonly objects: readonly ManifestObject[]; readonly unread: number } {
  const read = manifest.split(/^---[ \t]*$/m).map(documentsOf);
  const objects = read
    .flatMap((documents) => documents ?? [])
    .filter(isObject)
    .flatMap((one) => (one.kind === "List" && Array.isArray(one["items"]) ? one["items"].filter(isObject) : [one]));
  return { objects, unread: read.filter((documents) => documents === undefined).length };
}

function documentsOf(text: string): readonly unknown[] | undefined {
  try {
    return loadAll(text, null, { schema: CORE_SCHEMA, json: true });
  } catch {
    return undefined;
  }
}

function isObject(one: unknown): one is ManifestObject {
  return typeof one === "object" && one !== null && "kind" in one && typeof one.kind === "string";
}
