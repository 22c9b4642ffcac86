import { Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import type { KubeCallOptions, KubeRequest, KubeResponse, KubeTransport, KubeWatchEvent } from "@talos-operator/ports";
import { KubeApiError } from "../client/kube-api-error.ts";
import { createEventParser } from "./event-parser.ts";
import { createCredentials } from "./credentials.ts";
import type { HttpsTransportConfig } from "./https-config.ts";
import { createSemaphore } from "./semaphore.ts";
import { KubeTransportFailure } from "./transport-failure.ts";
import { watchEvents } from "./watch-events.ts";

const defaultTimeoutMs = 30_000;
/** Below the idle time of every server that matters, so that we close an idle connection before the server does in the middle of a request. */
const idleSocketMs = 20_000;
const keepAliveProbeMs = 15_000;

/**
 * KubeTransport over HTTPS with one pool of keep-alive connections: requests one after another share one connection, each open watch holds one.
 *
 * Files of the configuration are followed; after a 401 they are read again and the request is repeated once.
 * A GET that died on a connection the server was just closing is repeated once on a new one; nothing else is ever repeated here.
 *
 * @throws KubeApiError `KUBECONFIG_INVALID` when `server` is no URL
 */
export function createHttpsTransport(config: HttpsTransportConfig): KubeTransport {
  const base = parseServer(config.server);
  const isTls = base.protocol === "https:";
  const agentOptions = {
    keepAlive: true,
    keepAliveMsecs: keepAliveProbeMs,
    timeout: idleSocketMs,
    scheduling: "lifo",
    ...(config.proxyUrl === undefined ? {} : { proxyEnv: proxyOf(config.proxyUrl) }),
  } as const;
  const agent = isTls ? new Agent(agentOptions) : new HttpAgent(agentOptions);
  const credentials = createCredentials(config);
  const room = createSemaphore(config.maxConcurrentRequests ?? 32);
  const prefix = base.pathname.replace(/\/+$/, "");
  const closed = new AbortController();

  async function open(request: KubeRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const answer = await openOnce(request, signal);
    if (answer.statusCode !== 401 || !credentials.expire()) return answer;
    answer.resume();
    return openOnce(request, signal);
  }

  async function openOnce(request: KubeRequest, signal: AbortSignal): Promise<IncomingMessage> {
    try {
      return await exchange(request, signal);
    } catch (thrown) {
      if (request.method !== "GET" || signal.aborted || !(thrown instanceof StaleConnection)) throw thrown;
      return exchange(request, signal);
    }
  }

  async function exchange(request: KubeRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const { tls, headers } = await credentials.current();
    signal.throwIfAborted();
    const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
    return new Promise((resolve, reject) => {
      const options = {
        agent,
        host: base.hostname.replace(/^\[|\]$/g, ""),
        ...(base.port === "" ? {} : { port: Number(base.port) }),
        method: request.method,
        path: prefix + request.path + queryText(request),
        signal,
        headers: {
          accept: "application/json",
          "user-agent": config.userAgent ?? "talos-operator",
          ...(body === undefined ? {} : { "content-type": "application/json", "content-length": String(body.length) }),
          ...request.headers,
          ...headers,
        },
      };
      const outgoing = isTls ? httpsRequest({ ...options, ...tls }) : httpRequest(options);
      outgoing.setNoDelay(true);
      outgoing.on("response", (answer) => {
        // A connection may break before anybody reads; whoever reads then gets the error.
        answer.on("error", () => undefined);
        resolve(answer);
      });
      outgoing.on("error", (error: NodeJS.ErrnoException) => {
        const isStale = outgoing.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
        reject(isStale ? new StaleConnection(error) : error);
      });
      outgoing.end(body);
    });
  }

  return {
    async send(request, options) {
      const deadline = startDeadline(options, closed.signal);
      try {
        const leave = await room.enter(deadline.signal);
        try {
          return await readAnswer(await open(request, deadline.signal));
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
      let answer: IncomingMessage;
      try {
        answer = await open(request, deadline.signal);
        if (answer.statusCode !== 200) {
          const { body, ...rest } = await readAnswer(answer);
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
        headers: flat(answer.headers),
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
      agent.destroy();
    },
  };
}

/** The server closed a kept connection while the request was on its way. */
class StaleConnection extends Error {
  override readonly name = "StaleConnection";
  readonly code: string;
  constructor(cause: NodeJS.ErrnoException) {
    super(cause.message, { cause });
    this.code = cause.code ?? "ECONNRESET";
  }
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

async function readAnswer(answer: IncomingMessage): Promise<KubeResponse> {
  const chunks: Buffer[] = [];
  // A connection that breaks before the announced end makes this loop throw.
  for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  return { status: answer.statusCode ?? 0, headers: flat(answer.headers), body: parseBody(text) };
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

function flat(headers: IncomingHttpHeaders): Record<string, string> {
  const entries = Object.entries(headers).filter((entry): entry is [string, string | string[]] => entry[1] !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]));
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

/** The form in which Node's agents take a proxy; whoever names one in a kubeconfig means it for every host. */
function proxyOf(proxyUrl: string): { readonly HTTPS_PROXY: string; readonly HTTP_PROXY: string } {
  const protocol = URL.canParse(proxyUrl) ? new URL(proxyUrl).protocol : undefined;
  if (protocol === "http:" || protocol === "https:") return { HTTPS_PROXY: proxyUrl, HTTP_PROXY: proxyUrl };
  throw new KubeApiError("KUBECONFIG_INVALID", {
    call: "connect",
    detail: `a proxy must be given as http:// or https:// URL${protocol === undefined ? "" : `, not ${protocol}//`}`,
  });
}

function invalidServer(server: string): KubeApiError {
  return new KubeApiError("KUBECONFIG_INVALID", { call: "connect", detail: `the server "${server}" is not an http(s) URL` });
}
