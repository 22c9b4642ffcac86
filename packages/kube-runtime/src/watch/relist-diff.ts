import { keyOf, type KubeObject } from "../objects/kube-object.ts";

/** One change to apply to the cache. */
export type Change<T> =
  | { readonly type: "added"; readonly key: string; readonly object: T }
  | { readonly type: "updated"; readonly key: string; readonly object: T; readonly previous: T }
  | { readonly type: "deleted"; readonly key: string; readonly object: T };

/**
 * What a complete list says against the cache: deletions first, then additions and updates in the order of the list.
 * An object of the same name and another uid was deleted and created again; one with the same uid and resourceVersion did not change.
 */
export function diffRelist<T extends KubeObject>(known: ReadonlyMap<string, T>, pages: readonly (readonly T[])[]): readonly Change<T>[] {
  const listed = new Map<string, T>();
  for (const page of pages) for (const object of page) listed.set(keyOf(object), object);

  const changes: Change<T>[] = [];
  for (const [key, object] of known) {
    if (listed.get(key)?.metadata?.uid !== object.metadata?.uid || !listed.has(key)) changes.push({ type: "deleted", key, object });
  }
  for (const [key, object] of listed) {
    const previous = known.get(key);
    if (previous === undefined || previous.metadata?.uid !== object.metadata?.uid) changes.push({ type: "added", key, object });
    else if (previous.metadata?.resourceVersion !== object.metadata?.resourceVersion)
      changes.push({ type: "updated", key, object, previous });
  }
  return changes;
}
