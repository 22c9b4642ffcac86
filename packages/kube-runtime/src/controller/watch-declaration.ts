import { keyText, type KubeObject } from "../objects/kube-object.ts";
import type { ObjectKey } from "../request/resource-type.ts";
import type { ControllerWatch, WatchDeclaration } from "./types.ts";

/**
 * Declares that changes of an informer's objects wake the controller.
 *
 * An update wakes the keys of both the old and the new object: an owner that lost the object must look, too.
 */
export function watchOf<T extends KubeObject>({
  informer,
  why,
  map = ownKey,
  predicate,
  priority: usual = "normal",
}: WatchDeclaration<T>): ControllerWatch {
  return {
    why,
    waitForSync: async (signal) => {
      // However long the API server is away, a controller must not begin on half a cache; it must not give up either.
      for (;;) {
        try {
          await informer.waitForSync({ signal, timeoutMs: 600_000 });
          return;
        } catch (thrown) {
          if (signal.aborted) throw thrown;
        }
      }
    },
    start: (wake) =>
      informer.subscribe((delta) => {
        if (predicate !== undefined && !predicate(delta)) return;
        // What was there before we came can wait for what changes now.
        const priority = delta.type === "added" && delta.isInitial ? "low" : usual;
        const keys = delta.type === "updated" ? [...map(delta.object), ...map(delta.previous)] : map(delta.object);
        // Each of them once: a key that is taken at once would be due again by its second wake, and every update would cost two passes.
        for (const key of new Map(keys.map((one) => [keyText(one), one])).values()) wake(key, priority);
      }),
  };
}

/** Mapper to the controller owner of a kind: the object wakes its owner. */
export function toOwner(kind: string, group: string): (object: KubeObject) => readonly ObjectKey[] {
  return (object) =>
    (object.metadata?.ownerReferences ?? [])
      .filter((owner) => owner.controller === true && owner.kind === kind && groupOf(owner.apiVersion) === group)
      .map((owner) => ({ namespace: object.metadata?.namespace, name: owner.name }));
}

function ownKey(object: KubeObject): readonly ObjectKey[] {
  return [{ namespace: object.metadata?.namespace, name: object.metadata?.name ?? "" }];
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}
