import type { KubeWatchEvent, KubeWatchResponse, ScheduledTimer } from "@talos-operator/ports";
import { errorOfResponse, parseStatus } from "../client/error-of-response.ts";
import { KubeApiError } from "../client/kube-api-error.ts";
import type { KubeObject } from "../objects/kube-object.ts";
import { buildWatch } from "../request/build.ts";
import { createCacheWaiters } from "./cache-waiters.ts";
import { createIndexedStore, type Indexers } from "./indexed-store.ts";
import type { Delta, Informer, InformerOptions } from "./informer-types.ts";
import type { Change } from "./relist-diff.ts";
import { compareResourceVersions } from "./resource-version.ts";
import { type InformerInput, type InformerOrder, type InformerState, livedLongEnoughMs, stepInformer } from "./step.ts";
import { stripManagedFields } from "./strip.ts";

const listTimeoutMs = 60_000;
const silenceGraceMs = 10_000;
/** Between two objects of a streamed list, and before its end. */
const listSilenceMs = 30_000;
const streamedList = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" } as const;

/**
 * Makes an informer. It does nothing before `run`; handlers may subscribe and waits may begin earlier.
 */
export function createInformer<T extends KubeObject = KubeObject>(options: InformerOptions<T>): Informer<T> {
  const { client, type, timers, random, log, pageSize = 500, watchTimeoutSeconds = 180, listBy = "stream" } = options;
  const guards = new Map<(object: T) => readonly string[], (object: T) => readonly string[]>();
  const store = createIndexedStore<T>(guarded(options.indexers ?? {}));
  const waiters = createCacheWaiters(timers);
  const resource = client.resource<T>(type);
  const selected = { namespace: options.namespace, labelSelector: options.labelSelector, fieldSelector: options.fieldSelector };
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
    for (const change of result.changes) {
      store.apply(change);
      if (handlers.length === 0) continue;
      const delta = deltaOf(change, isFirst);
      for (const handler of handlers) tell(handler, delta);
    }
    if (wasListing && state.phase === "watching") {
      lists += 1;
      isSynced = true;
    }
    if (waiters.size > 0) waiters.check();
    return result.order;
  }

  function tell(handler: (delta: Delta<T>) => void, delta: Delta<T>): void {
    try {
      handler(delta);
    } catch (err) {
      log?.error({ err, kind: type.kind }, "Informer handler failed");
    }
  }

  /** A transform that throws must not stop the cache: the object is kept as the default transform leaves it. */
  function transform(object: T): T {
    try {
      return options.transform === undefined ? stripManagedFields(object) : options.transform(object);
    } catch (err) {
      log?.error({ err, kind: type.kind }, "Informer transform failed");
      return stripManagedFields(object);
    }
  }

  /** An index function that throws leaves the object out of its index; the same function gives the same guard. */
  function guarded(indexers: Indexers<T>): Indexers<T> {
    const guard = (name: string, index: (object: T) => readonly string[]) => (object: T) => {
      try {
        return index(object);
      } catch (err) {
        log?.error({ err, kind: type.kind, index: name }, "Informer index function failed");
        return [];
      }
    };
    return Object.fromEntries(
      Object.entries(indexers).map(([name, index]) => {
        const own = guards.get(index) ?? guard(name, index);
        guards.set(index, own);
        return [name, own];
      }),
    );
  }

  function failed(error: KubeApiError, doing: string): void {
    lastError = error;
    log?.debug({ err: error, kind: type.kind, doing }, "Informer will try again");
  }

  async function list(order: InformerOrder & { do: "list" }, signal: AbortSignal): Promise<InformerInput<T>> {
    try {
      const page = await resource.listPage({
        ...selected,
        ...(order.isPaged ? { limit: pageSize } : {}),
        ...(order.next === undefined ? {} : { continue: order.next }),
        signal,
        timeoutMs: listTimeoutMs,
      });
      return { kind: "page", items: page.items.map((item) => transform(item)), resourceVersion: page.resourceVersion, next: page.continue };
    } catch (thrown) {
      const error = KubeApiError.from(thrown, `list ${type.plural}`, true);
      failed(error, "list");
      return { kind: "list-failed", status: error.status, retryAfterMs: error.retryAfterMs };
    }
  }

  /** Opens a watch, or the stream of a list, and follows it to its end. Returns the order that the end or an event gave. */
  async function follow(order: InformerOrder & { do: "watch" | "stream" }, outer: AbortSignal): Promise<InformerOrder> {
    const timeoutSeconds = Math.ceil(watchTimeoutSeconds * (1 + random.fraction() / 2));
    const abort = new AbortController();
    const onOuter = (): void => abort.abort(outer.reason);
    outer.addEventListener("abort", onOuter, { once: true });
    if (outer.aborted) onOuter();
    // A connection on which nobody answers any more looks like a quiet one; the server must end the watch by itself, so its end is overdue.
    const overdue = timers.schedule(timeoutSeconds * 1000 + silenceGraceMs, () => abort.abort(new Error("the watch did not end in time")));
    let isStalled = false;
    let stall: ScheduledTimer | undefined;
    let eventsSeen = 0;
    // A server that does not know streamed lists may take the request for a plain watch, whose beginning never ends.
    const expectList = (seenBefore: number): void => {
      stall = timers.schedule(listSilenceMs, () => {
        if (state.phase !== "listing") return;
        if (eventsSeen > seenBefore) {
          expectList(eventsSeen);
          return;
        }
        isStalled = true;
        abort.abort(new Error("the list stopped before its end"));
      });
    };
    let hasLived = false;
    let lived: ScheduledTimer | undefined;
    try {
      const from = order.do === "stream" ? streamedList : { resourceVersion: order.resourceVersion };
      const request = buildWatch(type, { ...selected, ...from, timeoutSeconds });
      const response = await client.transport.watch(request, {
        signal: abort.signal,
        ignoresManagedFields: options.transform === undefined,
      });
      if (response.status !== 200) return take(refusal(response));
      watches += 1;
      take({ kind: "watch-opened" });
      lived = timers.schedule(livedLongEnoughMs, () => {
        hasLived = true;
        take({ kind: "watch-lived" });
      });
      if (order.do === "stream") expectList(0);
      const { events } = response;
      for await (const first of events) {
        for (let event: KubeWatchEvent | undefined = first; event !== undefined; event = events.nextReady?.()) {
          eventsSeen += 1;
          const next = take({ kind: "event", event: transformed(event) });
          if (next.do === "read") continue;
          if (event.type === "ERROR") failed(errorOfEvent(event.object), "watch");
          return next;
        }
      }
      return take({ kind: "watch-ended", isClean: true, livedMs: hasLived ? livedLongEnoughMs : 0, isStalled });
    } catch (thrown) {
      if (outer.aborted) return order;
      failed(KubeApiError.from(thrown, `watch ${type.plural}`, true), "watch");
      return take({ kind: "watch-ended", isClean: false, livedMs: hasLived ? livedLongEnoughMs : 0, isStalled });
    } finally {
      overdue.cancel();
      stall?.cancel();
      lived?.cancel();
      outer.removeEventListener("abort", onOuter);
      abort.abort();
    }
  }

  function transformed(event: KubeWatchEvent): KubeWatchEvent {
    if (event.type === "ERROR" || event.type === "BOOKMARK") return event;
    const object = transform(event.object as T);
    return object === event.object ? event : { type: event.type, object };
  }

  function refusal(response: KubeWatchResponse): InformerInput<T> {
    const error = errorOfResponse(response, { verb: "watch", plural: type.plural, key: options.namespace ?? "" });
    failed(error, "watch");
    const isVersionTooNew = error.causes.some((cause) => cause.reason === "ResourceVersionTooLarge");
    return { kind: "watch-refused", status: response.status, retryAfterMs: error.retryAfterMs, isVersionTooNew };
  }

  function errorOfEvent(object: unknown): KubeApiError {
    const status = parseStatus(object)?.code ?? 500;
    return errorOfResponse({ status, headers: {}, body: object }, { verb: "watch", plural: type.plural, key: options.namespace ?? "" });
  }

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
        order = order.do === "list" ? take(await list(order, signal)) : await follow(order, signal);
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
      for (const object of store.list()) tell(handler, { type: "added", object, isInitial: true });
      const own = (delta: Delta<T>): void => handler(delta);
      handlers = [...handlers, own];
      return () => {
        handlers = handlers.filter((other) => other !== own);
      };
    },
    addIndexers: (indexers) => store.addIndexes(guarded(indexers)),
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
