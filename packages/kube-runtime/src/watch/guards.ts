import type { Logger } from "@talos-operator/ports";
import type { KubeObject } from "../objects/kube-object.ts";
import type { Indexers } from "./indexed-store.ts";
import type { Delta } from "./informer-types.ts";
import { stripManagedFields } from "./strip.ts";

/** Calls the functions that the user of an informer gave. One that throws is logged and must not stop the cache. */
export interface Guards<T> {
  tell(handler: (delta: Delta<T>) => void, delta: Delta<T>): void;
  /** Where the transform throws, the object is kept as the default transform leaves it. */
  readonly transform: (object: T) => T;
  /** An index function that throws leaves the object out of its index; the same function gives the same guard. */
  indexers(given: Indexers<T>): Indexers<T>;
}

/** Guards of one informer. */
export function createGuards<T extends KubeObject>(
  kind: string,
  given: { readonly log?: Logger | undefined; readonly transform?: ((object: T) => T) | undefined },
): Guards<T> {
  const { log } = given;
  const known = new Map<(object: T) => readonly string[], (object: T) => readonly string[]>();
  const guarded = (name: string, index: (object: T) => readonly string[]) => (object: T) => {
    try {
      return index(object);
    } catch (err) {
      log?.error({ err, kind, index: name }, "Informer index function failed");
      return [];
    }
  };
  return {
    tell(handler, delta) {
      try {
        handler(delta);
      } catch (err) {
        log?.error({ err, kind }, "Informer handler failed");
      }
    },
    transform(object) {
      try {
        return given.transform === undefined ? stripManagedFields(object) : given.transform(object);
      } catch (err) {
        log?.error({ err, kind }, "Informer transform failed");
        return stripManagedFields(object);
      }
    },
    indexers: (indexers) =>
      Object.fromEntries(
        Object.entries(indexers).map(([name, index]) => {
          const own = known.get(index) ?? guarded(name, index);
          known.set(index, own);
          return [name, own];
        }),
      ),
  };
}
