import type { KubeWatchEvent, KubeWatchResponse, ScheduledTimer } from "@talos-operator/ports";
import { errorOfResponse, parseStatus } from "../client/error-of-response.ts";
import { KubeApiError } from "../client/kube-api-error.ts";
import type { KubeObject } from "../objects/kube-object.ts";
import { buildWatch } from "../request/build.ts";
import type { InformerOptions } from "./informer-types.ts";
import { type InformerInput, type InformerOrder, livedLongEnoughMs } from "./step.ts";
import { createWatchTimers } from "./watch-timers.ts";

const listTimeoutMs = 60_000;
const streamedList = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" } as const;

/** The informer that a reader reads for. */
export interface ReaderOwner<T> {
  /** Takes what was read into the cache, and says what to do next. */
  take(input: InformerInput<T>): InformerOrder;
  readonly transform: (object: T) => T;
  failed(error: KubeApiError, doing: string): void;
  readonly isListing: () => boolean;
}

/** Carries out the orders of an informer against the API. */
export interface InformerReader<T> {
  /** Reads one page. */
  list(order: InformerOrder & { do: "list" }, signal: AbortSignal): Promise<InformerInput<T>>;
  /** Opens a watch, or the stream of a list, and follows it to its end. Returns the order that the end or an event gave. */
  follow(order: InformerOrder & { do: "watch" | "stream" }, signal: AbortSignal): Promise<InformerOrder>;
}

/** Reader of the objects that `options` select. */
export function createInformerReader<T extends KubeObject>(options: InformerOptions<T>, owner: ReaderOwner<T>): InformerReader<T> {
  const { client, type, timers, random, pageSize = 500, watchTimeoutSeconds = 180 } = options;
  const selected = { namespace: options.namespace, labelSelector: options.labelSelector, fieldSelector: options.fieldSelector };
  const watching = { verb: "watch", plural: type.plural, key: options.namespace ?? "" };

  async function list(order: InformerOrder & { do: "list" }, signal: AbortSignal): Promise<InformerInput<T>> {
    try {
      const page = await client.resource<T>(type).listPage({
        ...selected,
        ...(order.isPaged ? { limit: pageSize } : {}),
        ...(order.next === undefined ? {} : { continue: order.next }),
        signal,
        timeoutMs: listTimeoutMs,
      });
      const items = page.items.map((item) => owner.transform(item));
      return { kind: "page", items, resourceVersion: page.resourceVersion, next: page.continue };
    } catch (thrown) {
      const error = KubeApiError.from(thrown, `list ${type.plural}`, true);
      owner.failed(error, "list");
      return { kind: "list-failed", status: error.status, retryAfterMs: error.retryAfterMs };
    }
  }

  async function follow(order: InformerOrder & { do: "watch" | "stream" }, outer: AbortSignal): Promise<InformerOrder> {
    const timeoutSeconds = Math.ceil(watchTimeoutSeconds * (1 + random.fraction() / 2));
    const abort = new AbortController();
    const onOuter = (): void => abort.abort(outer.reason);
    outer.addEventListener("abort", onOuter, { once: true });
    if (outer.aborted) onOuter();
    const limits = createWatchTimers(timers, timeoutSeconds, abort);
    let eventsSeen = 0;
    let livedMs = 0;
    let lived: ScheduledTimer | undefined;
    try {
      const from = order.do === "stream" ? streamedList : { resourceVersion: order.resourceVersion };
      const request = buildWatch(type, { ...selected, ...from, timeoutSeconds });
      const response = await client.transport.watch(request, {
        signal: abort.signal,
        ignoresManagedFields: options.transform === undefined,
      });
      if (response.status !== 200) return owner.take(refusal(response));
      owner.take({ kind: "watch-opened" });
      lived = timers.schedule(livedLongEnoughMs, () => {
        livedMs = livedLongEnoughMs;
        owner.take({ kind: "watch-lived" });
      });
      if (order.do === "stream") limits.expectList(owner.isListing, () => eventsSeen);
      const { events } = response;
      for await (const first of events) {
        for (let event: KubeWatchEvent | undefined = first; event !== undefined; event = events.nextReady?.()) {
          eventsSeen += 1;
          const next = owner.take({ kind: "event", event: transformed(event) });
          if (next.do === "read") continue;
          if (event.type === "ERROR") owner.failed(errorOfEvent(event.object), "watch");
          return next;
        }
      }
      return owner.take({ kind: "watch-ended", isClean: true, livedMs, isStalled: limits.isStalled });
    } catch (thrown) {
      if (outer.aborted) return order;
      owner.failed(KubeApiError.from(thrown, `watch ${type.plural}`, true), "watch");
      return owner.take({ kind: "watch-ended", isClean: false, livedMs, isStalled: limits.isStalled });
    } finally {
      limits.stop();
      lived?.cancel();
      outer.removeEventListener("abort", onOuter);
      abort.abort();
    }
  }

  function transformed(event: KubeWatchEvent): KubeWatchEvent {
    if (event.type === "ERROR" || event.type === "BOOKMARK") return event;
    const object = owner.transform(event.object as T);
    return object === event.object ? event : { type: event.type, object };
  }

  function refusal(response: KubeWatchResponse): InformerInput<T> {
    const error = errorOfResponse(response, watching);
    owner.failed(error, "watch");
    const isVersionTooNew = error.causes.some((cause) => cause.reason === "ResourceVersionTooLarge");
    return { kind: "watch-refused", status: response.status, retryAfterMs: error.retryAfterMs, isVersionTooNew };
  }

  function errorOfEvent(object: unknown): KubeApiError {
    return errorOfResponse({ status: parseStatus(object)?.code ?? 500, headers: {}, body: object }, watching);
  }

  return { list, follow };
}
