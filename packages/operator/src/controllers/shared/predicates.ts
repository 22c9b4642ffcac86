import type { Delta, KubeObject } from "@talos-operator/kube-runtime";

/** True unless only the status changed: what a controller wrote itself must not wake it. A status that was taken away does. */
export function specOrMetadataChanged<
  T extends KubeObject & { readonly spec?: unknown; readonly status?: { readonly conditions?: readonly unknown[] } | undefined },
>(delta: Delta<T>): boolean {
  if (delta.type !== "updated") return true;
  if (delta.previous.status?.conditions !== undefined && delta.object.status?.conditions === undefined) return true;
  try {
    return textOf(delta.previous) !== textOf(delta.object);
  } catch {
    // Nested deeper than can be written out: somebody changed it, and the pass says what is wrong.
    return true;
  }
}

/** True when an object appears, goes, or is paused or taken out of a pause by its annotations. */
export function annotationsChanged<T extends KubeObject>(delta: Delta<T>): boolean {
  if (delta.type !== "updated") return true;
  const annotationsOf = ({ metadata }: KubeObject): string => JSON.stringify(metadata?.annotations ?? {});
  return annotationsOf(delta.previous) !== annotationsOf(delta.object);
}

/** Spec and metadata without bookkeeping. */
function textOf({ metadata, spec }: KubeObject & { readonly spec?: unknown }): string {
  return JSON.stringify([{ ...metadata, resourceVersion: "", managedFields: [] }, spec]);
}
