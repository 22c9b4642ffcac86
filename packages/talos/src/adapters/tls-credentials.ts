import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { checkServerIdentity, connect, createSecureContext } from "node:tls";
import type { ConnectionOptions, PeerCertificate, SecureContext, TLSSocket } from "node:tls";

import { CallCredentials, ChannelCredentials } from "@grpc/grpc-js";
import type { TalosCredentials, TalosTarget } from "@talos-operator/ports";

import { opensslKey } from "./pem.ts";
import { classifyTlsError } from "./tls-failure.ts";
import type { ConnectFailure } from "./tls-failure.ts";

/** From TCP connection to the end of the handshake, and for the server's first bytes after it. */
const HANDSHAKE_TIMEOUT_MS = 10_000;

/**
 * How long to wait for the server's first HTTP/2 frame before we speak. Servers of gRPC send it as soon as they have accepted us
 * (grpc-go flushes it before it reads our preface, `internal/transport/http2_server.go`); one that waits for our preface costs this
 * much once per connection.
 */
const FIRST_FRAME_TIMEOUT_MS = 1_000;

type SecureConnector = ReturnType<ChannelCredentials["_createSecureConnector"]>;
type SecureConnectResult = Awaited<ReturnType<SecureConnector["connect"]>>;

/** An attempt that failed, and how to find it again in what grpc-js reports. */
export interface SeenConnectFailure extends ConnectFailure {
  /** The error's message, which grpc-js quotes. */
  readonly quoted: string;
  /** The same for people: equal failures give equal texts, without OpenSSL's thread ids and source lines. */
  readonly text: string;
}

/** Facts about the connections of one channel. */
export interface ConnectionRecord {
  /** Key of the server on the last connection that was accepted. */
  spki: string | undefined;
  /** Last attempt that failed in TLS. */
  failure: SeenConnectFailure | undefined;
}

/**
 * TLS as we want it, in place of grpc-js's own: the identity is checked against the dialled address also when it is an IP address
 * (grpc-js would put it into SNI, which Node refuses), a pinned key is checked before HTTP/2 begins, and errors keep their codes.
 *
 * ```
 * TCP ─► handshake ─► chain and name (mutual) or key (pinned) ─► server's first frame ─► HTTP/2 ─► calls
 *            └────────────────┴──────────────────┴─► refused: socket destroyed, nothing of a call was sent
 * ```
 * Waiting for the server's first frame matters with TLS 1.3: our side of the handshake ends before the server has looked at our
 * certificate. Had we sent something by then, the reset that follows its alert could overtake the alert, and a refused certificate
 * would look like a broken network.
 *
 * Nothing here ever becomes less strict after a failure.
 */
export class TlsCredentials extends ChannelCredentials {
  readonly #secureContext: SecureContext;
  readonly #connectOptions: ConnectionOptions;
  readonly #expectedSpki: string | undefined;
  readonly #record: ConnectionRecord;
  readonly #pending = new Set<Socket>();

  /** @throws Error when a certificate or key of `credentials` cannot be read */
  constructor(target: TalosTarget, credentials: TalosCredentials, record: ConnectionRecord) {
    super();
    this.#record = record;
    const isMutual = credentials.kind === "mutual";
    this.#expectedSpki = isMutual ? undefined : credentials.expectedSpki;
    this.#secureContext = secureContextFor(credentials);
    this.#connectOptions = {
      rejectUnauthorized: isMutual,
      checkServerIdentity: (_host: string, certificate: PeerCertificate) =>
        checkServerIdentity(target.serverName ?? target.address, certificate),
      // SNI names DNS names only (RFC 6066 section 3).
      ...(isDnsName(target.serverName ?? target.address) ? { servername: target.serverName ?? target.address } : {}),
    };
  }

  /** Ends connection attempts that have not come to an end. Established connections are grpc-js's. */
  abandonPending(): void {
    for (const socket of this.#pending) socket.destroy();
  }

  override _isSecure(): boolean {
    return true;
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  override _createSecureConnector(...[, , callCredentials]: Parameters<ChannelCredentials["_createSecureConnector"]>): SecureConnector {
    // Between two attempts grpc-js plans the next one, also for a channel that is closed meanwhile: nobody would ever close that connection.
    let isDestroyed = false;
    return {
      connect: (socket) => this.#connect(socket),
      waitForReady: () => (isDestroyed ? Promise.reject(new Error("the channel is closed")) : Promise.resolve()),
      getCallCredentials: () => callCredentials ?? CallCredentials.createEmpty(),
      destroy: () => {
        isDestroyed = true;
        this.abandonPending();
      },
    };
  }

  async #connect(socket: Socket): Promise<SecureConnectResult> {
    this.#pending.add(socket);
    try {
      const { tlsSocket, spki } = await this.#handshake(socket);
      this.#record.spki = spki;
      this.#record.failure = undefined;
      return { socket: tlsSocket, secure: true };
    } catch (thrown) {
      socket.destroy();
      throw this.#fail(thrown);
    } finally {
      this.#pending.delete(socket);
    }
  }

  async #handshake(socket: Socket): Promise<{ readonly tlsSocket: TLSSocket; readonly spki: string }> {
    const tlsSocket = connect({ ...this.#connectOptions, socket, secureContext: this.#secureContext, ALPNProtocols: ["h2"] });
    // Also for errors after this function, when HTTP/2 has taken over: an alert that comes late.
    tlsSocket.on("error", (error) => this.#fail(error));
    await untilEvent(tlsSocket, "secureConnect", HANDSHAKE_TIMEOUT_MS);
    const spki = spkiOf(tlsSocket);
    if (this.#expectedSpki !== undefined && this.#expectedSpki !== spki) {
      tlsSocket.destroy();
      throw new Refusal(`server key ${spki} is not the expected ${this.#expectedSpki}`, { tls: "unexpected-identity" });
    }
    await this.#firstFrame(tlsSocket);
    return { tlsSocket, spki };
  }

  /** Waits for the first bytes and looks at them without taking them. */
  async #firstFrame(tlsSocket: TLSSocket): Promise<void> {
    const isHere = await untilEvent(tlsSocket, "readable", FIRST_FRAME_TIMEOUT_MS).then(
      () => true,
      (thrown: unknown) => {
        if (thrown instanceof TimedOut) return false;
        throw thrown;
      },
    );
    const bytes = isHere ? (tlsSocket.read() as Buffer | null) : null;
    if (bytes !== null) tlsSocket.unshift(bytes);
    // A server's first frame is SETTINGS, type 4 (RFC 9113 section 3.4). Without ALPN and without a frame it waits for HTTP/1.
    const isHttp2 = bytes === null ? tlsSocket.alpnProtocol === "h2" : bytes.length < 4 || bytes[3] === 4;
    if (!isHttp2) throw new Refusal("server does not speak HTTP/2", { peer: "not-grpc" });
  }

  #fail(thrown: unknown): Error {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    this.#record.failure = {
      quoted: error.message,
      text: "reason" in error && typeof error.reason === "string" ? `TLS: ${error.reason}` : error.message,
      ...(error instanceof Refusal ? error.failure : classifyTlsError(error)),
    };
    return error;
  }
}

/** One for each set of credentials, however many machines are met with it: OpenSSL takes time and memory for each. */
const secureContexts = new WeakMap<TalosCredentials, SecureContext>();
let anonymousContext: SecureContext | undefined;

function secureContextFor(credentials: TalosCredentials): SecureContext {
  if (credentials.kind !== "mutual") return (anonymousContext ??= createSecureContext({ minVersion: "TLSv1.2" }));
  let context = secureContexts.get(credentials);
  if (context === undefined) {
    const { ca, certificate, key } = credentials;
    context = createSecureContext({ minVersion: "TLSv1.2", ca, cert: certificate, key: opensslKey(key) });
    secureContexts.set(credentials, context);
  }
  return context;
}

class TimedOut extends Error {}

/** A verdict of ours, where TLS itself had nothing against the peer. */
class Refusal extends Error {
  readonly failure: ConnectFailure;

  constructor(message: string, failure: ConnectFailure) {
    super(message);
    this.failure = failure;
  }
}

/** Resolves with the event, rejects with the socket's error, its end, or after `timeoutMs`. */
function untilEvent(socket: TLSSocket, event: "secureConnect" | "readable", timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => (): void => {
      clearTimeout(timer);
      socket.off(event, onEvent);
      socket.off("error", onError);
      socket.off("close", onClose);
      finish();
    };
    const onEvent = settle(resolve);
    const onError = (error: Error): void => settle(() => reject(error))();
    const onClose = settle(() => reject(new Error("connection closed during the TLS handshake")));
    const timer = setTimeout(
      settle(() => reject(new TimedOut(`no answer to the TLS handshake within ${timeoutMs} ms`))),
      timeoutMs,
    );
    socket.on(event, onEvent);
    socket.on("error", onError);
    socket.on("close", onClose);
  });
}

function spkiOf(socket: TLSSocket): string {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) throw new Error("server presented no certificate");
  return createHash("sha256")
    .update(certificate.publicKey.export({ type: "spki", format: "der" }))
    .digest("base64");
}

function isDnsName(address: string): boolean {
  return !address.includes(":") && !/^[\d.]+$/.test(address);
}
