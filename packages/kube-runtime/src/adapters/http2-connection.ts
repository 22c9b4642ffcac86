import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { TlsIdentity } from "./credentials.ts";
import { abortError, flatHeaders, type HttpAnswer, type OutgoingRequest, RepeatableFailure } from "./exchange.ts";
import { cancel, Http2Answer } from "./http2-answer.ts";
import { idleConnectionMs } from "./timing.ts";
import { KubeTransportFailure } from "./transport-failure.ts";

/** How long a connection may be silent. */
export interface Http2Timing {
  /** Without streams; then it is closed. Default as for HTTP/1.1. */
  readonly idleMs: number;
  /** With streams; then it is asked whether it lives. Default 30 s, as client-go (`ReadIdleTimeout`): watches without events cost a ping each time. */
  readonly silenceMs: number;
  /** For the answer to that. Default 15 s, as client-go (`PingTimeout`): a server that is busy with a list of everything still answers in time. */
  readonly pongMs: number;
  /** How often all this is looked at; each limit may be exceeded by so much. Default 5 s. */
  readonly checkMs: number;
}

export const defaultHttp2Timing: Http2Timing = { idleMs: idleConnectionMs, silenceMs: 30_000, pongMs: 15_000, checkMs: 5_000 };

/** What a watch that nobody reads may hold in our memory. Node gives the connection's window back at once, so it holds up nobody else. */
const streamWindowBytes = 256 * 1024;
/** What may be under way on all streams together: a full window for sixteen. */
const connectionWindowBytes = 4 * 1024 * 1024;
/** Until the server has said how many streams it takes (RFC 9113 recommends that it takes no fewer). */
const assumedStreams = 100;
/**
 * No limit. Node counts what waits to be sent, and never takes off its count what a cancelled stream had waiting; at its own 10 MB it would refuse all
 * further answers (ENHANCE_YOUR_CALM) while nothing is held. What waits is bounded by the callers: so many requests of so many bytes at once.
 */
const sessionMemoryMb = 1_000_000;

/**
 * One TLS connection that speaks HTTP/2 and all its streams.
 *
 * ```
 *   open ──GOAWAY, retire()──▶ retired ──last stream ends──▶ gone
 *     └──────────────socket breaks, no pong, destroy()─────▶ gone
 * ```
 *
 * Only an open connection takes streams. It keeps the process alive while it has some.
 */
export class Http2Connection {
  readonly tls: TlsIdentity;
  readonly #socket: TLSSocket;
  readonly #session: ClientHttp2Session;
  readonly #timing: Http2Timing;
  readonly #authority: string;
  #streams = 0;
  #maxStreams = assumedStreams;
  #isRetired = false;
  #hasAnswered = false;
  #failure: Error | undefined;
  #bytesRead = 0;
  #heardAt = performance.now();
  #idleSince = performance.now();
  #pingedAt: number | undefined;

  /**
   * @param socket connected, verified, and agreed on `h2`
   * @param authority `host:port` as the server is to be called
   * @param onGone called once
   */
  constructor(
    socket: TLSSocket,
    options: { readonly tls: TlsIdentity; readonly authority: string; readonly timing: Http2Timing; readonly onGone: () => void },
  ) {
    this.tls = options.tls;
    this.#socket = socket;
    this.#authority = options.authority;
    this.#timing = options.timing;
    const session = connect(`https://${options.authority}`, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: streamWindowBytes },
      peerMaxConcurrentStreams: assumedStreams,
      maxSessionMemory: sessionMemoryMb,
    });
    this.#session = session;
    session.setLocalWindowSize(connectionWindowBytes);
    session.unref();
    session.on("remoteSettings", ({ maxConcurrentStreams }) => {
      // A server that takes none for now is asked for one all the same: the request waits for its turn, or for its deadline.
      this.#maxStreams = Math.max(1, maxConcurrentStreams ?? Number.POSITIVE_INFINITY);
    });
    session.on("goaway", () => {
      this.#isRetired = true;
    });
    session.on("error", (error) => {
      this.#failure ??= error;
    });
    const timer = setInterval(() => this.#check(), options.timing.checkMs);
    timer.unref();
    session.on("close", () => {
      this.#isRetired = true;
      options.onGone();
    });
    socket.on("close", () => clearInterval(timer));
  }

  /** Whether one more stream may be opened now. */
  get hasRoom(): boolean {
    return !this.#isRetired && !this.#session.closed && !this.#session.destroyed && this.#streams < this.#maxStreams;
  }

  /** Takes no more streams, and ends when the last has. May be repeated. */
  retire(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.#session.close();
  }

  /** Ends it and all its streams. */
  destroy(error?: Error): void {
    this.#isRetired = true;
    this.#failure ??= error;
    this.#session.destroy(error);
    this.#socket.destroy();
  }

  /** @throws RepeatableFailure, or what broke the connection */
  open({ method, path, headers, body, signal }: OutgoingRequest): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const isReused = this.#hasAnswered;
      const readBefore = this.#socket.bytesRead;
      let isAnswered = false;
      const stream = this.#session.request(
        { ":method": method, ":path": path, ":scheme": "https", ":authority": this.#authority, ...headers },
        { endStream: body === undefined },
      );
      this.#opened();
      let failure: Error | undefined;
      const onAbort = (): void => {
        failure = abortError(signal);
        cancel(stream);
        if (!isAnswered) this.#wasWaitedForInVain(signal.reason, readBefore);
      };
      const errorOf = (): Error => {
        const broke = failure ?? this.#failure ?? lostConnection();
        if (isAnswered || failure?.name === "AbortError") return broke;
        if (isUnprocessed(stream, broke)) return new RepeatableFailure("nothing", broke);
        return isReused && this.#hasEnded ? new RepeatableFailure("unknown", lostOr(broke)) : broke;
      };
      signal.addEventListener("abort", onAbort, { once: true });
      stream.on("response", (answer) => {
        isAnswered = true;
        this.#hasAnswered = true;
        resolve(new Http2Answer(stream, answer[":status"] ?? 0, flatHeaders(answer), errorOf));
      });
      stream.on("error", (error) => {
        failure ??= error;
      });
      stream.on("close", () => {
        signal.removeEventListener("abort", onAbort);
        this.#closed();
        if (!isAnswered) reject(errorOf());
      });
      if (signal.aborted) onAbort();
      else if (body !== undefined) stream.end(body);
    });
  }

  /** True when not a stream but the whole connection has ended or is about to. */
  get #hasEnded(): boolean {
    return this.#isRetired || this.#session.closed || this.#session.destroyed || this.#socket.destroyed;
  }

  #opened(): void {
    this.#streams += 1;
    if (this.#streams === 1) this.#session.ref();
  }

  #closed(): void {
    this.#streams -= 1;
    if (this.#streams > 0) return;
    this.#idleSince = performance.now();
    this.#session.unref();
  }

  /** Nothing at all has come while a call waited until its deadline: the next call shall not wait for the same peer, and the others shall soon know. */
  #wasWaitedForInVain(reason: unknown, readBefore: number): void {
    if (!(reason instanceof KubeTransportFailure && reason.code === "TIMEOUT") || this.#socket.bytesRead !== readBefore) return;
    this.#ping();
    this.retire();
  }

  #check(): void {
    const now = performance.now();
    const { idleMs, silenceMs, pongMs } = this.#timing;
    if (this.#socket.bytesRead !== this.#bytesRead) {
      this.#bytesRead = this.#socket.bytesRead;
      this.#heardAt = now;
      this.#pingedAt = undefined;
    }
    if (this.#pingedAt !== undefined && now - this.#pingedAt >= pongMs) {
      this.destroy(Object.assign(new Error(`the server did not answer a ping within ${pongMs} ms`), { code: "ETIMEDOUT" }));
    } else if (this.#streams > 0) {
      if (now - this.#heardAt >= silenceMs) this.#ping();
    } else if (now - this.#idleSince >= idleMs) {
      // A peer that is gone never answers our good-bye either.
      if (this.#isRetired) this.destroy();
      else this.retire();
    }
  }

  #ping(): void {
    if (this.#pingedAt !== undefined || this.#session.destroyed) return;
    this.#pingedAt = performance.now();
    this.#bytesRead = this.#socket.bytesRead;
    // Any byte that comes is an answer; see `#check`.
    this.#session.ping(() => undefined);
  }
}

function lostConnection(): Error {
  return Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
}

/** An end of the connection, in the words of `node:http` where Node's HTTP/2 has its own. */
function lostOr(error: NodeJS.ErrnoException): NodeJS.ErrnoException {
  return error.code?.startsWith("ERR_HTTP2_") === true ? lostConnection() : error;
}

const neverSent: ReadonlySet<string | undefined> = new Set([
  "ERR_HTTP2_INVALID_SESSION",
  "ERR_HTTP2_GOAWAY_SESSION",
  "ERR_HTTP2_OUT_OF_STREAMS",
]);

/** REFUSED_STREAM is also what Node makes of a stream beyond the last that a GOAWAY names. */
function isUnprocessed(stream: ClientHttp2Stream, error: NodeJS.ErrnoException): boolean {
  return stream.rstCode === constants.NGHTTP2_REFUSED_STREAM || neverSent.has(error.code);
}
