import type { KubeApiError } from "../client/kube-api-error.ts";
import type { KubeObject } from "../objects/kube-object.ts";
import { createCacheWaiters } from "./cache-waiters.ts";
import { createGuards } from "./guards.ts";
import { createIndexedStore } from "./indexed-store.ts";
import { createInformerReader } from "./informer-reader.ts";
import type { Delta, Informer, InformerOptions } from "./informer-types.ts";
import type { Change } from "./relist-diff.ts";
import { compareResourceVersions } from "./resource-version.ts";
import { type InformerInput, type InformerOrder, type InformerState, stepInformer } from "./step.ts";

/**
 * Makes an informer. It does nothing before `run`; handlers may subscribe and waits may begin earlier.
 */
export function createInformer<T extends KubeObject = KubeObject>(options: InformerOptions<T>): Informer<T> {
  const { type, timers, random, log, listBy = "stream" } = options;
  const guards = createGuards(type.kind, options);
  const store = createIndexedStore<T>(guards.indexers(options.indexers ?? {}));
  const waiters = createCacheWaiters(timers);
  let handlers: readonly ((delta: Delta<T>) => void)[] = [];
  let state: InformerState = { phase: "empty" };
  let isSynced = false;
  let lastError: KubeApiError | undefined;
  let lists = 0;
  let watches = 0;

  function take(input: InformerInput<T>): InformerOrder {
    const result = stepInformer(state, input, store.objects);
    const isFirst = !isSynced;
    const wasListing = state.phase === "listing";
    state = result.state;
    if (input.kind === "watch-opened") watches += 1;
    for (const change of result.changes) {
      store.apply(change);
      if (handlers.length === 0) continue;
      const delta = deltaOf(change, isFirst);
      for (const handler of handlers) guards.tell(handler, delta);
    }
    if (wasListing && state.phase === "watching") {
      lists += 1;
      isSynced = true;
    }
    if (waiters.size > 0) waiters.check();
    return result.order;
  }

  function failed(error: KubeApiError, doing: string): void {
    lastError = error;
    log?.debug({ err: error, kind: type.kind, doing }, "Informer will try again");
  }

  const reader = createInformerReader(options, { take, transform: guards.transform, failed, isListing: () => state.phase === "listing" });

  const completeUpTo = (): string | undefined =>
    state.phase === "watching" ? state.resourceVersion : state.phase === "listing" ? state.previous : undefined;

  return {
    type,
    store,
    get isSynced() {
      return isSynced;
    },
    async run(signal) {
      let order = take({ kind: "start", canStream: listBy === "stream" });
      while (!signal.aborted) {
        if (order.do === "read") throw new Error(`informer of ${type.plural}: an order to read came without an open watch`);
        const delayMs = order.wait.atLeastMs + Math.round(order.wait.jitterMs * random.fraction());
        if (delayMs > 0) {
          try {
            await timers.sleep(delayMs, signal);
          } catch {
            return; // the signal ended the sleep
          }
        }
        order = order.do === "list" ? take(await reader.list(order, signal)) : await reader.follow(order, signal);
      }
    },
    waitForSync: (wait) => waiters.wait(() => isSynced, `first list of ${type.plural}`, wait),
    waitForResourceVersion: (resourceVersion, wait) =>
      waiters.wait(
        () => {
          const seen = completeUpTo();
          return seen !== undefined && (compareResourceVersions(seen, resourceVersion) ?? -1) >= 0;
        },
        `cache of ${type.plural} at resourceVersion ${resourceVersion}`,
        wait,
      ),
    subscribe(handler) {
      for (const object of store.list()) guards.tell(handler, { type: "added", object, isInitial: true });
      const own = (delta: Delta<T>): void => handler(delta);
      handlers = [...handlers, own];
      return () => {
        handlers = handlers.filter((other) => other !== own);
      };
    },
    addIndexers: (indexers) => store.addIndexes(guards.indexers(indexers)),
    status: () => ({
      phase: state.phase,
      isSynced,
      resourceVersion: completeUpTo(),
      objects: store.size,
      failures: state.phase === "empty" ? 0 : state.failures,
      lastError,
      lists,
      watches,
    }),
  };
}

function deltaOf<T>(change: Change<T>, isInitial: boolean): Delta<T> {
  switch (change.type) {
    case "added":
      return { type: "added", object: change.object, isInitial };
    case "updated":
      return { type: "updated", object: change.object, previous: change.previous };
    case "deleted":
      return { type: "deleted", object: change.object };
  }
}
