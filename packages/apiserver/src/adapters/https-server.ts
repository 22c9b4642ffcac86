import type { IncomingMessage, ServerOptions, ServerResponse } from "node:http";
import { createSecureServer } from "node:http2";
import type { Http2SecureServer, IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { KeyPair } from "@talos-operator/ports";
import { ApiServerError } from "../api-server-error.ts";
import { anonymousUser } from "../auth/authorize.ts";
import type { TokenUser } from "../auth/tokens.ts";
import type { ApiAnswer, ApiRequest, ApiStream } from "../request/request.ts";
import { internalError, StatusError } from "../request/status.ts";
import type { ApiServer } from "../server.ts";
import { BodyBudget } from "./body-budget.ts";
import type { BodyRoom } from "./body-budget.ts";
import { answerClientError } from "./client-error.ts";
import { Connections } from "./connections.ts";
import { defaultHttpLimits } from "./http-limits.ts";
import type { HttpLimits } from "./http-limits.ts";
import { http1Request } from "./http1-request.ts";
import { http2Request } from "./http2-request.ts";
import { keepAliveTimeoutMs, limitSession } from "./http2-sessions.ts";
import { hashTokens, refuseRepeatedHeaders, userOf } from "./peer.ts";
import { parseBody, readBody, type ParsedBody } from "./read-body.ts";
import type { ServedRequest } from "./served-request.ts";

/** Where and how to serve. */
export interface HttpsOptions {
  /** IP address to listen on, for example `127.0.0.1`. */
  readonly address: string;
  /** 0 lets the operating system choose; see `HttpsFrontEnd.port`. */
  readonly port: number;
  /** Server certificate and key, PEM. */
  readonly certificate: KeyPair;
  /** CAs (PEM) whose client certificates are believed: CN is the user, each O a group. */
  readonly clientAuthorities: readonly string[];
  /** Users by bearer token. */
  readonly tokens?: ReadonlyMap<string, TokenUser>;
  /** What differs from `defaultHttpLimits`. */
  readonly limits?: Partial<HttpLimits>;
  /** The flag that chose the port, named when the port is taken. Default `--listen`. */
  readonly portFlag?: string;
}

/** A listening front end. */
export interface HttpsFrontEnd {
  readonly address: string;
  readonly port: number;
  /** `https://<address>:<port>`. */
  readonly url: string;
  /** Stops accepting, ends watches cleanly, lets requests in flight finish for 2 s, then cuts what is left. May be repeated. */
  close(): Promise<void>;
}

/** How long requests in flight may go on after `close`. */
const graceMs = 2000;
/** A watch whose client does not read is cut when this much waits for it; the client lists again. */
const maxWatchBacklogBytes = 64 * 1024 * 1024;

/**
 * No limit. Node counts what waits to be sent and never takes off its count what a cancelled stream had waiting: at its own 10 MB a connection whose
 * watches come and go would soon be refused every request. What may wait is bounded for each watch.
 */
const sessionMemoryMb = 1_000_000;

/**
 * Serves the API over HTTPS: HTTP/2 or HTTP/1.1 on one port, as the client likes.
 *
 * @throws ApiServerError `PORT_IN_USE`, `ADDRESS_NOT_AVAILABLE`, `CERTIFICATE_UNUSABLE`
 */
export async function serveHttps(apiServer: ApiServer, options: HttpsOptions): Promise<HttpsFrontEnd> {
  const watches = new Set<() => void>();
  const limits = { ...defaultHttpLimits, ...options.limits };
  const connections = new Connections(limits.maxConnections);
  const front: FrontEnd = { apiServer, tokens: hashTokens(options.tokens ?? new Map()), watches, bodies: new BodyBudget(), connections };
  const server = createTlsServer(options, limits, connections, (request) => {
    // The client went away or a stream broke: nobody is left to answer.
    serveRequest(front, request).catch(() => request.destroy());
  });
  const sockets = new Set<TLSSocket>();
  server.on("secureConnection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  const host = options.address.includes(":") ? `[${options.address}]` : options.address;
  let closed: Promise<void> | undefined;
  return {
    address: options.address,
    port,
    url: `https://${host}:${port}`,
    close: () => (closed ??= shutDown(server, watches, sockets)),
  };
}

/** What every request is served with. */
interface FrontEnd {
  readonly apiServer: ApiServer;
  readonly tokens: ReadonlyMap<string, TokenUser>;
  /** Ends one open watch each. */
  readonly watches: Set<() => void>;
  readonly bodies: BodyBudget;
  readonly connections: Connections;
}

function createTlsServer(
  options: HttpsOptions,
  limits: HttpLimits,
  connections: Connections,
  onRequest: (request: ServedRequest) => void,
): Http2SecureServer {
  // Node's types do not know that these are taken here, too.
  const http1: ServerOptions = {
    keepAliveTimeout: keepAliveTimeoutMs,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    maxHeaderSize: limits.maxHeaderBytes,
    // How often the two timeouts are looked at.
    connectionsCheckingInterval: Math.min(5000, limits.headersTimeoutMs),
  };
  try {
    const server = createSecureServer({
      allowHTTP1: true,
      cert: options.certificate.certificate,
      // OpenSSL knows Talos's Ed25519 keys under the common label only; the bytes are the same.
      key: options.certificate.key.replaceAll("ED25519 PRIVATE KEY", "PRIVATE KEY"),
      ca: [...options.clientAuthorities],
      // Everyone may connect; who presents a certificate must prove it, see `userOf`.
      requestCert: true,
      rejectUnauthorized: false,
      minVersion: "TLSv1.2",
      handshakeTimeout: limits.handshakeTimeoutMs,
      settings: { maxConcurrentStreams: limits.maxConcurrentStreams, maxHeaderListSize: limits.maxHeaderBytes },
      maxSessionMemory: sessionMemoryMb,
      ...http1,
    });
    server.on("connection", (socket: Socket) => connections.add(socket));
    server.on("clientError", answerClientError);
    // Node would pass these on to the listener above. An answer that is written before the handshake ends waits for its end, and Node dies of an HTTP/2
    // session that begins beside it.
    server.removeAllListeners("tlsClientError");
    server.on("tlsClientError", (_, socket) => socket.destroy());
    server.on("session", (session) => limitSession(session, limits));
    // With the listener below only HTTP/1.1 comes here, and it comes as `node:http` has it.
    server.on("request", (request, response) => {
      onRequest(http1Request(request as unknown as IncomingMessage, response as unknown as ServerResponse));
    });
    // Whether a body is wanted is known when its headers were looked at; Node would ask for all of them.
    server.on("checkContinue", (request, response) => {
      onRequest(http1Request(request as unknown as IncomingMessage, response as unknown as ServerResponse, true));
    });
    // Node made one that would dress HTTP/2 up as HTTP/1.1, which hides whether a body was cut.
    server.removeAllListeners("stream");
    server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, rawHeaders: readonly string[]) => {
      const session = stream.session as ServerHttp2Session | undefined;
      if (session !== undefined) onRequest(http2Request(session, stream, { headers, rawHeaders }, limits.requestTimeoutMs));
    });
    return server;
  } catch (cause) {
    throw new ApiServerError(
      "CERTIFICATE_UNUSABLE",
      "the server certificate, its key or a client CA cannot be used for TLS; give matching PEM texts",
      { cause },
    );
  }
}

function listen(server: Http2SecureServer, options: HttpsOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (cause: NodeJS.ErrnoException): void => {
      const place = `${options.address}:${options.port}`;
      const flag = options.portFlag ?? "--listen";
      reject(
        cause.code === "EADDRINUSE"
          ? new ApiServerError("PORT_IN_USE", `another process listens on ${place}; stop it, or choose another port with ${flag}`, {
              cause,
            })
          : new ApiServerError(
              "ADDRESS_NOT_AVAILABLE",
              `cannot listen on ${place} (${cause.code ?? cause.message}); choose an address of this machine and a port you may use with ${flag}`,
              { cause },
            ),
      );
    };
    server.once("error", onError);
    server.listen(options.port, options.address, () => {
      server.off("error", onError);
      resolve();
    });
  });
}

async function shutDown(server: Http2SecureServer, watches: Set<() => void>, sockets: ReadonlySet<TLSSocket>): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    // Tells HTTP/2 clients to open nothing more here (GOAWAY), and closes idle connections.
    server.close(() => resolve());
  });
  for (const end of watches) end();
  const timer = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, graceMs);
  await closed;
  clearTimeout(timer);
}

/** Methods whose body means nothing: it is not read. */
const bodiless: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
const noBody = Buffer.alloc(0);

async function serveRequest(front: FrontEnd, request: ServedRequest): Promise<void> {
  const { method, target } = request;
  let result: ApiAnswer | ApiStream;
  let held: BodyRoom | undefined;
  const room = (user: string): BodyRoom => (held = front.bodies.roomFor(user));
  try {
    refuseRepeatedHeaders(request.rawHeaders);
    const user = userOf(request, front.tokens, (token) => front.apiServer.authenticateToken(token));
    if (user !== anonymousUser) front.connections.know(request.socket);
    const url = new URL(target, "https://localhost");
    const headers = headersOf(request);
    // Not `url.pathname`, which resolves `..` before anybody could refuse it.
    const asked = { method, path: target.split("?")[0] ?? "/", query: Object.fromEntries(url.searchParams), headers, user };
    const takesBody = request.body !== undefined && !bodiless.has(method);
    // Who may not ask is told so before a byte of the body is read, let alone parsed.
    const refused = takesBody ? front.apiServer.refuseByHeaders(asked) : undefined;
    if (refused === undefined) {
      const body = takesBody ? await readBody(request, room(user.name)) : noBody;
      result = front.apiServer.handle({ ...asked, ...bodyOf(headers["content-type"], body, url.searchParams.get("fieldValidation")) });
    } else result = refused;
  } catch (err) {
    const refusal = err instanceof StatusError ? err : internalError("the request could not be read");
    const retryAfter = refusal.code === 429 ? { "retry-after": "1" } : {};
    result = {
      kind: "answer",
      status: refusal.code,
      headers: { "content-type": "application/json", ...retryAfter },
      body: refusal.toStatus(),
    };
  } finally {
    held?.release();
  }
  if (result.kind === "answer") {
    sendAnswer(request, result, wantsPretty(request));
  } else {
    sendStream(request, result, front.watches);
  }
}

/** Who asks for it, and who looks at answers by curl, wget or a browser and does not say. */
function wantsPretty({ target, headers }: ServedRequest): boolean {
  const said = target.includes("pretty=") ? (new URLSearchParams(target.split("?")[1] ?? "").get("pretty") ?? "") : "";
  return said === "" ? /^(?:curl|Wget|Mozilla\/5\.0)/.test(headers["user-agent"] ?? "") : /^(?:1|t|T|TRUE|true|True)$/.test(said);
}

/** The parsed body, or why there is none: whether the request may be made at all is looked at first. */
function bodyOf(
  contentType: string | undefined,
  body: Buffer,
  fieldValidation: string | null,
): ParsedBody & Pick<ApiRequest, "bodyRefusal"> {
  try {
    return parseBody(contentType, body, fieldValidation);
  } catch (err) {
    if (err instanceof StatusError) return { body: undefined, bodyRefusal: err };
    throw err;
  }
}

/** `isPretty` is for people: two blanks per level, as with `?pretty=true`. */
function sendAnswer(request: ServedRequest, answer: ApiAnswer, isPretty: boolean): void {
  const body =
    typeof answer.body === "string" ? answer.body : isPretty ? JSON.stringify(answer.body, null, 2) : `${JSON.stringify(answer.body)}\n`;
  request.answer(answer.status, { ...answer.headers, "cache-control": "no-cache, private" }, body);
}

function sendStream(request: ServedRequest, stream: ApiStream, watches: Set<() => void>): void {
  const served = request.stream({ ...stream.headers, "cache-control": "no-cache, private" });
  let stop = (): void => undefined;
  const end = (): void => {
    stop();
    watches.delete(end);
    served.end();
  };
  watches.add(end);
  served.onClose(() => {
    stop();
    watches.delete(end);
  });
  stop = stream.start((event) => {
    served.write(`${JSON.stringify(event)}\n`);
    if (served.backlogBytes > maxWatchBacklogBytes) served.destroy();
  }, end);
  if (served.isOver) stop();
}

function headersOf(request: ServedRequest): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (name === ":authority") headers["host"] ??= String(value);
    // What else begins with a colon is HTTP/2's request line.
    if (value !== undefined && !name.startsWith(":")) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  // Group names may hold commas, so these are told apart by what no header can hold.
  const distinct = new Map<string, string[]>();
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const name = (request.rawHeaders[index] ?? "").toLowerCase();
    if (!/^impersonate-(group|extra-)/.test(name)) continue;
    const value = request.rawHeaders[index + 1] ?? "";
    distinct.set(name, [...(distinct.get(name) ?? []), value]);
  }
  for (const [name, values] of distinct) headers[name] = values.join("\n");
  return headers;
}
