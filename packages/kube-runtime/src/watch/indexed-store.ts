import type { KubeObject } from "../objects/kube-object.ts";
import { keyText } from "../objects/kube-object.ts";
import type { Store } from "./informer-types.ts";
import type { Change } from "./relist-diff.ts";

/** Index functions by name. */
export type Indexers<T> = Readonly<Record<string, (object: T) => readonly string[]>>;

/** The cache itself: a map and its indexes. Only the informer writes. */
export interface IndexedStore<T> extends Store<T> {
  readonly objects: ReadonlyMap<string, T>;
  apply(change: Change<T>): void;
}

/** An empty cache. Index functions must be pure: they are called again with the old object to take it out. */
export function createIndexedStore<T extends KubeObject>(indexers: Indexers<T> = {}): IndexedStore<T> {
  const objects = new Map<string, T>();
  const indexes = new Map<string, Map<string, Map<string, T>>>(Object.keys(indexers).map((name) => [name, new Map()]));

  function unlink(key: string, object: T): void {
    for (const [name, index] of indexes) {
      for (const value of indexers[name]?.(object) ?? []) {
        const bucket = index.get(value);
        bucket?.delete(key);
        if (bucket?.size === 0) index.delete(value);
      }
    }
  }

  function link(key: string, object: T): void {
    for (const [name, index] of indexes) {
      for (const value of indexers[name]?.(object) ?? []) {
        const bucket = index.get(value) ?? new Map<string, T>();
        index.set(value, bucket);
        bucket.set(key, object);
      }
    }
  }

  return {
    objects,
    get size() {
      return objects.size;
    },
    get: (key) => objects.get(keyText(key)),
    list(namespace) {
      const all = [...objects.values()];
      return namespace === undefined ? all : all.filter((object) => object.metadata?.namespace === namespace);
    },
    byIndex(name, value) {
      const index = indexes.get(name);
      if (index === undefined) throw new RangeError(`no index "${name}" was declared for this informer`);
      return [...(index.get(value)?.values() ?? [])];
    },
    apply(change) {
      const old = objects.get(change.key);
      if (old !== undefined) unlink(change.key, old);
      if (change.type === "deleted") {
        objects.delete(change.key);
        return;
      }
      objects.set(change.key, change.object);
      link(change.key, change.object);
    },
  };
}
