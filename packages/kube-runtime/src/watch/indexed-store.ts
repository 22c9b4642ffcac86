import type { KubeObject } from "../objects/kube-object.ts";
import { keyText } from "../objects/kube-object.ts";
import type { Store } from "./informer-types.ts";
import type { Change } from "./relist-diff.ts";

/** Index functions by name. */
export type Indexers<T> = Readonly<Record<string, (object: T) => readonly string[]>>;

/** One index: objects by the values that its function gave, and each bucket by key. */
interface Index<T> {
  readonly valuesOf: (object: T) => readonly string[];
  readonly buckets: Map<string, Map<string, T>>;
}

function link<T>({ valuesOf, buckets }: Index<T>, key: string, object: T): void {
  for (const value of valuesOf(object)) {
    const bucket = buckets.get(value) ?? new Map<string, T>();
    buckets.set(value, bucket);
    bucket.set(key, object);
  }
}

function unlink<T>({ valuesOf, buckets }: Index<T>, key: string, object: T): void {
  for (const value of valuesOf(object)) {
    const bucket = buckets.get(value);
    bucket?.delete(key);
    if (bucket?.size === 0) buckets.delete(value);
  }
}

/** The cache itself: a map and its indexes. Only the informer writes. */
export interface IndexedStore<T> extends Store<T> {
  readonly objects: ReadonlyMap<string, T>;
  apply(change: Change<T>): void;
  /**
   * Adds indexes over what is there and what will come. An index that exists is left as it is.
   *
   * @throws RangeError when a name stands for another function
   */
  addIndexes(more: Indexers<T>): void;
}

/** An empty cache. Index functions must be pure: they are called again with the old object to take it out. */
export function createIndexedStore<T extends KubeObject>(indexers: Indexers<T> = {}): IndexedStore<T> {
  const objects = new Map<string, T>();
  const indexes = new Map<string, Index<T>>();
  addIndexes(indexers);

  function addIndexes(more: Indexers<T>): void {
    for (const [name, valuesOf] of Object.entries(more)) {
      const known = indexes.get(name);
      if (known !== undefined && known.valuesOf !== valuesOf) {
        throw new RangeError(`the index "${name}" is declared twice, with different functions`);
      }
      if (known !== undefined) continue;
      const index: Index<T> = { valuesOf, buckets: new Map() };
      indexes.set(name, index);
      for (const [key, object] of objects) link(index, key, object);
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
      return [...(index.buckets.get(value)?.values() ?? [])];
    },
    apply(change) {
      if (indexes.size > 0) {
        const old = objects.get(change.key);
        if (old !== undefined) for (const index of indexes.values()) unlink(index, change.key, old);
      }
      if (change.type === "deleted") {
        objects.delete(change.key);
        return;
      }
      objects.set(change.key, change.object);
      for (const index of indexes.values()) link(index, change.key, change.object);
    },
    addIndexes,
  };
}
