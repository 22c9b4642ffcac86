import { Agent as HttpAgent, type ClientRequestArgs, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent, request as httpsRequest, type RequestOptions } from "node:https";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { sameIdentity, type TlsIdentity } from "./credentials.ts";
import { flatHeaders, type HttpAnswer, type HttpExchange, type OutgoingRequest, RepeatableFailure } from "./exchange.ts";
import { idleConnectionMs, keepAliveProbeMs } from "./timing.ts";

/** Where to, and how. */
export interface Http1Target {
  readonly isTls: boolean;
  readonly host: string;
  readonly port: number | undefined;
  /** Of a proxy for every request. */
  readonly proxyUrl: string | undefined;
}

/** HTTP/1.1 with one pool of keep-alive connections: requests one after another share one, each open watch holds one. */
export interface Http1Exchange extends HttpExchange {
  /** Connections that are open, in use or idle. */
  readonly connections: number;
  /** Takes an open connection into the pool. */
  adopt(socket: TLSSocket, tls: TlsIdentity): void;
}

/** No connection is opened yet. */
export function createHttp1Exchange(target: Http1Target): Http1Exchange {
  const options = {
    keepAlive: true,
    keepAliveMsecs: keepAliveProbeMs,
    timeout: idleConnectionMs,
    scheduling: "lifo",
    ...(target.proxyUrl === undefined ? {} : { proxyEnv: { HTTPS_PROXY: target.proxyUrl, HTTP_PROXY: target.proxyUrl } }),
  } as const;
  const tlsAgent = target.isTls ? new AdoptingAgent(options) : undefined;
  const agent = tlsAgent ?? new HttpAgent(options);
  return {
    get connections() {
      return tlsAgent?.connections ?? 0;
    },
    adopt: (socket, tls) => tlsAgent?.adopt(socket, tls),
    open: (request, tls) => {
      const { host, port } = target;
      const { method, path, headers, signal } = request;
      const sent = { agent, host, ...(port === undefined ? {} : { port }), method, path, signal, headers };
      return answerTo(request, target.isTls ? httpsRequest({ ...sent, ...tls }) : httpRequest(sent));
    },
    close: () => agent.destroy(),
  };
}

function answerTo({ body }: OutgoingRequest, outgoing: ReturnType<typeof httpRequest>): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    outgoing.setNoDelay(true);
    outgoing.on("response", (answer) => {
      // A connection may break before anybody reads; whoever reads then gets the error.
      answer.on("error", () => undefined);
      resolve(new Http1Answer(answer));
    });
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      const isStale = outgoing.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
      reject(isStale ? new RepeatableFailure("unknown", error) : error);
    });
    outgoing.end(body);
  });
}

class Http1Answer implements HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly #message: IncomingMessage;

  constructor(message: IncomingMessage) {
    this.status = message.statusCode ?? 0;
    this.headers = flatHeaders(message.headers);
    this.#message = message;
  }

  [Symbol.asyncIterator](): AsyncIterator<Buffer> {
    // A connection that breaks before the announced end makes this throw.
    return (this.#message as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  discard(): void {
    this.#message.resume();
  }

  destroy(): void {
    this.#message.destroy();
  }
}

/** An agent that uses connections which others opened, and knows how many it has. */
class AdoptingAgent extends Agent {
  connections = 0;
  #adopted: { readonly socket: TLSSocket; readonly tls: TlsIdentity }[] = [];

  adopt(socket: TLSSocket, tls: TlsIdentity): void {
    this.#count(socket);
    socket.setTimeout(idleConnectionMs);
    const adopted = { socket, tls };
    this.#adopted.push(adopted);
    const letGo = (): void => {
      this.#adopted = this.#adopted.filter((one) => one !== adopted);
    };
    socket.once("close", letGo);
    // Nobody came for it, for whoever wanted it has given up.
    socket.once("timeout", () => {
      if (this.#adopted.includes(adopted)) socket.destroy();
    });
    socket.unref();
  }

  override createConnection(options: ClientRequestArgs & RequestOptions, callback?: (error: Error | null, stream: Duplex) => void) {
    const found = this.#adopted.find(({ socket, tls }) => !socket.destroyed && sameIdentity(tls, options));
    if (found !== undefined) {
      this.#adopted = this.#adopted.filter((one) => one !== found);
      found.socket.ref();
      return found.socket;
    }
    const socket = super.createConnection(options, callback);
    if (socket !== undefined && socket !== null) this.#count(socket);
    return socket;
  }

  override destroy(): void {
    for (const { socket } of this.#adopted) socket.destroy();
    super.destroy();
  }

  #count(socket: Duplex): void {
    this.connections += 1;
    socket.once("close", () => {
      this.connections -= 1;
    });
  }
}
