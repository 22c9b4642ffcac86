import type { KubeCallOptions, KubeRequest, KubeResponse, KubeTransport, KubeWatchEvent, KubeWatchResponse } from "@talos-operator/ports";
import { withoutManagedFields } from "./apply/index.ts";
import { depthExceeds } from "./json.ts";
import { maxNestingDepth, wireCopy } from "./request/json.ts";
import type { ApiAnswer, ApiRequest, ApiStream, ApiUser, ApiWatchEvent } from "./request/request.ts";
import { badRequest } from "./request/status.ts";

/** What `KubeTransport` throws when no complete answer arrived. */
class KubeTransportFailure extends Error {
  override readonly name = "KubeTransportFailure";
}

/** Calls the server in the same process. Bodies are copied on the way in and out, as if they had gone over a wire. */
export function createInProcessTransport(handle: (request: ApiRequest) => ApiAnswer | ApiStream, user: ApiUser): KubeTransport {
  let isClosed = false;
  const open = new Set<() => void>();

  const call = (request: KubeRequest, options: KubeCallOptions | undefined): ApiAnswer | ApiStream => {
    if (isClosed) throw new KubeTransportFailure("the transport is closed; create a new one");
    if (options?.signal?.aborted === true)
      throw new KubeTransportFailure("the call was cancelled before it was sent", { cause: options.signal.reason });
    if (request.body !== undefined && depthExceeds(request.body, maxNestingDepth)) {
      const refusal = badRequest(`the request body nests deeper than ${maxNestingDepth} levels; flatten it`);
      return { kind: "answer", status: refusal.code, headers: {}, body: refusal.toStatus() };
    }
    const body = request.body === undefined ? undefined : wireCopy(request.body);
    const headers = { "content-type": "application/json", ...request.headers };
    return handle({ method: request.method, path: request.path, query: request.query ?? {}, headers, body, user });
  };

  return {
    async send(request: KubeRequest, options?: KubeCallOptions): Promise<KubeResponse> {
      await Promise.resolve();
      const result = call(request, options);
      if (result.kind === "stream") {
        throw new KubeTransportFailure("a watch was asked for with send; use watch");
      }
      return { status: result.status, headers: result.headers, body: wireCopy(result.body) };
    },
    async watch(request: KubeRequest, options?: KubeCallOptions): Promise<KubeWatchResponse> {
      await Promise.resolve();
      const result = call(request, options);
      if (result.kind === "answer") {
        return { status: result.status, headers: result.headers, body: wireCopy(result.body), events: noEvents() };
      }
      const events = new EventQueue(options, () => open.delete(events.fail));
      open.add(events.fail);
      events.begin(result);
      return { status: result.status, headers: result.headers, body: undefined, events };
    },
    close(): void {
      isClosed = true;
      for (const fail of open) fail();
    },
  };
}

async function* noEvents(): AsyncGenerator<KubeWatchEvent> {
  // A refused watch delivers nothing.
}

/** Events between a watch and its reader: filled synchronously by the server, emptied at the reader's pace. */
class EventQueue implements AsyncIterable<KubeWatchEvent>, AsyncIterator<KubeWatchEvent> {
  readonly #pending: ApiWatchEvent[] = [];
  readonly #signal: AbortSignal | undefined;
  readonly #copyOf: (event: ApiWatchEvent) => KubeWatchEvent;
  readonly #onClosed: () => void;
  #waiting: { resolve(result: IteratorResult<KubeWatchEvent>): void; reject(error: Error): void } | undefined;
  #stop: () => void = () => undefined;
  #state: "open" | "ended" | "failed" = "open";
  /** Breaks the stream as a lost connection would. */
  readonly fail: () => void;
  readonly #onAbort: () => void;

  constructor({ signal, ignoresManagedFields = false }: KubeCallOptions = {}, onClosed: () => void) {
    this.#signal = signal;
    this.#copyOf = ignoresManagedFields ? leanCopyOf : copyOf;
    this.#onClosed = onClosed;
    this.fail = () => this.#finish("failed");
    this.#onAbort = () => this.#finish("failed");
    signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  begin(stream: ApiStream): void {
    this.#stop = stream.start(
      (event) => this.#push(event),
      () => this.#finish("ended"),
    );
    if (this.#state !== "open") this.#stop();
  }

  [Symbol.asyncIterator](): AsyncIterator<KubeWatchEvent> {
    return this;
  }

  next(): Promise<IteratorResult<KubeWatchEvent>> {
    const event = this.#pending.shift();
    if (event !== undefined) {
      return Promise.resolve({ done: false, value: this.#copyOf(event) });
    }
    if (this.#state === "failed") return Promise.reject(this.#failure());
    if (this.#state === "ended") return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  return(): Promise<IteratorResult<KubeWatchEvent>> {
    this.#pending.length = 0;
    this.#finish("ended");
    return Promise.resolve({ done: true, value: undefined });
  }

  #push(event: ApiWatchEvent): void {
    if (this.#state !== "open") return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#pending.push(event);
    else waiting.resolve({ done: false, value: this.#copyOf(event) });
  }

  #finish(state: "ended" | "failed"): void {
    if (this.#state !== "open") return;
    this.#state = state;
    this.#stop();
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#onClosed();
    // What arrived before a broken connection is lost with it, as on a socket that is reset.
    if (state === "failed") this.#pending.length = 0;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (state === "failed") waiting?.reject(this.#failure());
    else waiting?.resolve({ done: true, value: undefined });
  }

  #failure(): KubeTransportFailure {
    return new KubeTransportFailure("the watch was cut off", { cause: this.#signal?.reason });
  }
}

function copyOf(event: ApiWatchEvent): KubeWatchEvent {
  return { type: event.type, object: wireCopy(event.object) };
}

/** For a reader who does not look at `metadata.managedFields`, which are a third of most objects. */
function leanCopyOf({ type, object }: ApiWatchEvent): KubeWatchEvent {
  return { type, object: wireCopy(withoutManagedFields(object)) };
}
