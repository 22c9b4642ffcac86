import { keyOf, type KubeObject } from "../objects/kube-object.ts";

/** One change to apply to the cache. */
export type Change<T> =
  | { readonly type: "added"; readonly key: string; readonly object: T }
  | { readonly type: "updated"; readonly key: string; readonly object: T; readonly previous: T }
  | { readonly type: "deleted"; readonly key: string; readonly object: T };

/**
 * What one page of a list says against the cache, in the order of the page. An object of the same name and another uid was deleted and
 * created again; one with the same uid and resourceVersion did not change, and the cache keeps the object that it holds.
 */
export function changesOfPage<T extends KubeObject>(items: readonly T[], known: ReadonlyMap<string, T>): readonly Change<T>[] {
  const listed = new Map<string, T>();
  for (const object of items) listed.set(keyOf(object), object);
  return [...listed].flatMap(([key, object]) => changesOfItem("MODIFIED", key, object, known.get(key)));
}

/** What one event or item says against what the cache holds under its key. */
export function changesOfItem<T extends KubeObject>(
  type: "ADDED" | "MODIFIED" | "DELETED",
  key: string,
  object: T,
  held: T | undefined,
): readonly Change<T>[] {
  const isSame = held !== undefined && held.metadata?.uid === object.metadata?.uid;
  if (type === "DELETED") return isSame ? [{ type: "deleted", key, object }] : [];
  if (held === undefined) return [{ type: "added", key, object }];
  if (!isSame) {
    return [
      { type: "deleted", key, object: held },
      { type: "added", key, object },
    ];
  }
  return held.metadata?.resourceVersion === object.metadata?.resourceVersion ? [] : [{ type: "updated", key, object, previous: held }];
}

/** Keys as they were listed, the newest first: a chain, since a copy of all keys for each event would be quadratic. */
export interface Listed {
  readonly keys: readonly string[];
  /** False: these were listed and then deleted while the stream still told the beginning. */
  readonly isThere: boolean;
  readonly before: Listed | undefined;
}

/** What the cache holds and a complete list did not bring. */
export function unlisted<T>(known: ReadonlyMap<string, T>, listed: Listed | undefined): readonly Change<T>[] {
  // The newest word on a key counts.
  const said = new Map<string, boolean>();
  for (let link = listed; link !== undefined; link = link.before) {
    for (const key of link.keys) if (!said.has(key)) said.set(key, link.isThere);
  }
  return [...known].flatMap(([key, object]) => (said.get(key) === true ? [] : [{ type: "deleted", key, object }]));
}
