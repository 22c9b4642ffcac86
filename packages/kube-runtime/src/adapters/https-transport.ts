import type { KubeCallOptions, KubeRequest, KubeResponse, KubeTransport, KubeWatchEvent } from "@talos-operator/ports";
import { KubeApiError } from "../client/kube-api-error.ts";
import { createEventParser } from "./event-parser.ts";
import { createCredentials } from "./credentials.ts";
import { type HttpAnswer, RepeatableFailure } from "./exchange.ts";
import { createHttp1Exchange } from "./http1-exchange.ts";
import type { HttpsTransportConfig } from "./https-config.ts";
import { createNegotiatedExchange } from "./negotiated-exchange.ts";
import { createSemaphore } from "./semaphore.ts";
import { KubeTransportFailure } from "./transport-failure.ts";
import { watchEvents } from "./watch-events.ts";

const defaultTimeoutMs = 30_000;

/**
 * KubeTransport over HTTPS. With a server that speaks HTTP/2 all requests and watches share one connection. With others, through a proxy and without TLS it
 * is HTTP/1.1: requests one after another share a connection, each open watch holds one.
 *
 * Files of the configuration are followed; after a 401 they are read again and the request is repeated once.
 * Repeated once on another connection is a GET that died on one that the server was just closing, and whatever the server says it has not begun to
 * process (RFC 9113, 8.7); nothing else ever is.
 *
 * @throws KubeApiError `KUBECONFIG_INVALID` when `server` is no URL
 */
export function createHttpsTransport(config: HttpsTransportConfig): KubeTransport {
  const base = parseServer(config.server);
  const isTls = base.protocol === "https:";
  const host = base.hostname.replace(/^\[|\]$/g, "");
  const port = base.port === "" ? undefined : Number(base.port);
  const proxyUrl = config.proxyUrl === undefined ? undefined : checkedProxy(config.proxyUrl);
  const exchange =
    isTls && proxyUrl === undefined
      ? createNegotiatedExchange({ host, port, authority: base.host })
      : createHttp1Exchange({ isTls, host, port, proxyUrl });
  const credentials = createCredentials(config);
  const room = createSemaphore(config.maxConcurrentRequests ?? 32);
  const prefix = base.pathname.replace(/\/+$/, "");
  const closed = new AbortController();

  async function open(request: KubeRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const answer = await openOnce(request, signal);
    if (answer.status !== 401 || !credentials.expire()) return answer;
    answer.discard();
    return openOnce(request, signal);
  }

  async function openOnce(request: KubeRequest, signal: AbortSignal): Promise<HttpAnswer> {
    try {
      return await send(request, signal);
    } catch (thrown) {
      const mayRepeat = thrown instanceof RepeatableFailure && (thrown.effect === "nothing" || request.method === "GET");
      if (!mayRepeat || signal.aborted) throw thrown;
      return send(request, signal);
    }
  }

  async function send(request: KubeRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const { tls, headers } = await credentials.current();
    signal.throwIfAborted();
    const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
    return exchange.open(
      {
        method: request.method,
        path: prefix + request.path + queryText(request),
        headers: {
          accept: "application/json",
          "user-agent": config.userAgent ?? "talos-operator",
          ...(body === undefined ? {} : { "content-type": "application/json", "content-length": String(body.length) }),
          ...request.headers,
          ...headers,
        },
        body,
        signal,
      },
      tls,
    );
  }

  return {
    async send(request, options) {
      const deadline = startDeadline(options, closed.signal);
      try {
        const leave = await room.enter(deadline.signal);
        try {
          return await readAnswer(await open(request, deadline.signal), config.maxAnswerBytes);
        } finally {
          leave();
        }
      } catch (thrown) {
        throw failureOf(thrown, request, deadline.signal);
      } finally {
        deadline.clear();
      }
    },
    async watch(request, options) {
      const deadline = startDeadline(options, closed.signal);
      let answer: HttpAnswer;
      try {
        answer = await open(request, deadline.signal);
        if (answer.status !== 200) {
          const { body, ...rest } = await readAnswer(answer, config.maxAnswerBytes);
          deadline.clear();
          return { ...rest, body, events: noEvents() };
        }
      } catch (thrown) {
        deadline.clear();
        throw failureOf(thrown, request, deadline.signal);
      }
      // From here on only the caller's signal and `close` end the stream.
      deadline.disarm();
      return {
        status: 200,
        headers: answer.headers,
        body: undefined,
        events: watchEvents(answer, {
          parse: createEventParser({ leavesManagedFieldsOut: options?.ignoresManagedFields === true }),
          failureOf: (thrown) => failureOf(thrown, request, deadline.signal),
          onEnd: () => deadline.clear(),
        }),
      };
    },
    close() {
      closed.abort(new KubeTransportFailure("the transport was closed", "CLOSED"));
      exchange.close();
    },
  };
}

interface Deadline {
  readonly signal: AbortSignal;
  /** The time does not matter any more, the caller's signal still does. */
  disarm(): void;
  /** Lets go of the caller's signal. */
  clear(): void;
}

function startDeadline(options: KubeCallOptions = {}, closed: AbortSignal): Deadline {
  const { signal, timeoutMs = defaultTimeoutMs } = options;
  const abort = new AbortController();
  const onSignal = (): void => abort.abort(signal?.reason);
  const onClosed = (): void => abort.abort(closed.reason);
  const timer = setTimeout(() => abort.abort(new KubeTransportFailure(`no answer within ${timeoutMs} ms`, "TIMEOUT")), timeoutMs);
  signal?.addEventListener("abort", onSignal, { once: true });
  closed.addEventListener("abort", onClosed, { once: true });
  if (closed.aborted) onClosed();
  else if (signal?.aborted === true) onSignal();
  return {
    signal: abort.signal,
    disarm: () => clearTimeout(timer),
    clear: () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onSignal);
      closed.removeEventListener("abort", onClosed);
    },
  };
}

async function readAnswer(answer: HttpAnswer, maxBytes = Number.POSITIVE_INFINITY): Promise<KubeResponse> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      answer.destroy();
      throw new KubeTransportFailure(`the answer has more than ${maxBytes} bytes`, "TOO_LARGE");
    }
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  return { status: answer.status, headers: answer.headers, body: parseBody(text) };
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text; // not JSON: the contract says that the text itself is the body
  }
}

async function* noEvents(): AsyncGenerator<KubeWatchEvent> {
  // A refused watch has none.
}

function failureOf(thrown: unknown, request: KubeRequest, signal: AbortSignal): Error {
  if (signal.aborted && signal.reason instanceof KubeTransportFailure) thrown = signal.reason;
  // Missing credentials are not a matter of the network: their own error goes up unchanged.
  if (thrown instanceof Error && thrown.name === "KubeApiError") return thrown;
  return KubeTransportFailure.from(thrown, `${request.method} ${request.path}`);
}

function queryText(request: KubeRequest): string {
  const text = new URLSearchParams(request.query ?? {}).toString();
  return text === "" ? "" : `?${text}`;
}

function parseServer(server: string): URL {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url !== undefined && (url.protocol === "https:" || url.protocol === "http:")) return url;
  throw invalidServer(server);
}

/** Whoever names a proxy in a kubeconfig means it for every host. */
function checkedProxy(proxyUrl: string): string {
  const protocol = URL.canParse(proxyUrl) ? new URL(proxyUrl).protocol : undefined;
  if (protocol === "http:" || protocol === "https:") return proxyUrl;
  throw new KubeApiError("KUBECONFIG_INVALID", {
    call: "connect",
    detail: `a proxy must be given as http:// or https:// URL${protocol === undefined ? "" : `, not ${protocol}//`}`,
  });
}

function invalidServer(server: string): KubeApiError {
  return new KubeApiError("KUBECONFIG_INVALID", { call: "connect", detail: `the server "${server}" is not an http(s) URL` });
}
