import type { KubeCallOptions, KubeRequest, KubeResponse, KubeTransport, KubeWatchEvent } from "@talos-operator/ports";

/** What the scripted server does with one request. */
export type ScriptedAnswer =
  /** Header names in lower case. Default content type is JSON. */
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** No answer: the call fails as a broken connection does. */
  | { readonly failWith: string }
  /** No answer at all until the caller gives up. */
  | { readonly hang: true }
  /** A watch: these events, then the end. */
  | { readonly events: readonly KubeWatchEvent[]; readonly after: "end" | "break" | "stay" };

/** A transport that answers from a script and keeps what it was asked. */
export interface ScriptedTransport extends KubeTransport {
  readonly requests: readonly KubeRequest[];
  readonly isClosed: boolean;
}

/**
 * Transport for tests that need an exact answer to an exact request.
 *
 * @param script called for each request; `attempt` counts from 0. `undefined` is answered with a break and the request's path.
 */
export function createScriptedTransport(script: (request: KubeRequest, attempt: number) => ScriptedAnswer | undefined): ScriptedTransport {
  const requests: KubeRequest[] = [];
  let isClosed = false;

  async function answer(request: KubeRequest, options: KubeCallOptions): Promise<ScriptedAnswer> {
    const found = script(request, requests.length) ?? { failWith: `nothing scripted for ${request.method} ${request.path}` };
    requests.push(request);
    if ("failWith" in found) throw brokenConnection(found.failWith);
    if ("hang" in found) await untilAborted(options.signal);
    return found;
  }

  return {
    requests,
    get isClosed() {
      return isClosed;
    },
    async send(request, options = {}) {
      const found = await answer(request, options);
      if (!("status" in found)) throw brokenConnection(`a watch is scripted for ${request.path}`);
      return responseOf(found);
    },
    async watch(request, options = {}) {
      const found = await answer(request, options);
      if ("status" in found) return { ...responseOf(found), events: eventsOf([], "end", options.signal) };
      if (!("events" in found)) throw brokenConnection(`no watch is scripted for ${request.path}`);
      return { status: 200, headers: {}, body: undefined, events: eventsOf(found.events, found.after, options.signal) };
    },
    close() {
      isClosed = true;
    },
  };
}

/** The error that a transport throws when no complete answer arrived. */
export function brokenConnection(message: string): Error {
  const error = new Error(message);
  error.name = "KubeTransportFailure";
  return error;
}

/** Rejects when the signal aborts; without a signal it never settles. */
export function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = (): void => reject(brokenConnection("aborted"));
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
  });
}

function responseOf(found: {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}): KubeResponse {
  return { status: found.status, headers: { "content-type": "application/json", ...found.headers }, body: found.body };
}

async function* eventsOf(
  events: readonly KubeWatchEvent[],
  after: "end" | "break" | "stay",
  signal: AbortSignal | undefined,
): AsyncGenerator<KubeWatchEvent> {
  yield* events;
  if (after === "break") throw brokenConnection("the connection broke");
  if (after === "stay") await untilAborted(signal);
}
