/**
 * The Talos machine API as a transport of protocol messages.
 *
 * One implementation speaks gRPC (`talos/grpc`), one calls simulated machines in the same process (`simulator`).
 * The typed client of the `talos` package is built on a channel and does not know which one it has.
 */
export interface TalosDialer {
  /**
   * Prepares a channel to exactly one address. Connects on first use.
   * TLS decides whom we talk to: a channel never becomes less strict after it was made.
   */
  dial(target: TalosTarget, credentials: TalosCredentials): TalosChannel;
  /**
   * Whether somebody takes a connection there within `timeoutMs`: it is opened and closed at once, without TLS, and nothing is sent. It tells no more than that:
   * who took it, or whether Talos is well, is for a channel to find out. Never throws.
   */
  reaches(target: TalosTarget, timeoutMs: number): Promise<boolean>;
  /**
   * Opens a connection without TLS, sends nothing on it, and waits until it ends. While it stands the systems of both sides ask each other whether they are
   * there, which costs neither process anything; a machine takes such a connection for two minutes. Never throws.
   */
  hold(target: TalosTarget, options: { readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<HeldUntil>;
}

/**
 * How a held connection ended.
 *
 * - `unreached`: nobody took it within `timeoutMs`
 * - `closed`: the other side ended it, or does not know it any more: its time was over, its API stopped, or it booted
 * - `silent`: nobody answered for eleven seconds
 * - `released`: the signal aborted
 */
export type HeldUntil = "unreached" | "closed" | "silent" | "released";

export interface TalosTarget {
  /** IPv4, IPv6 (no brackets) or DNS name. */
  readonly address: string;
  /** Default 50000. */
  readonly port?: number;
  /** Name that the server's certificate must hold, where `address` was found by looking that name up. Default: `address`. */
  readonly serverName?: string;
}

export type TalosCredentials =
  /** Maintenance mode: the server certificate is self-signed. With `expectedSpki` any other key is refused before a byte of the call is sent. */
  | { readonly kind: "maintenance"; readonly expectedSpki?: string }
  /** Mutual TLS: PEM texts (standard PEM labels are not required, Talos's own Ed25519 label is accepted). */
  | { readonly kind: "mutual"; readonly ca: string; readonly certificate: string; readonly key: string };

export interface TalosChannel {
  readonly target: TalosTarget;
  unary<I, O>(method: TalosMethod<I, O>, request: I, options: TalosCallOptions): Promise<O>;
  /** Messages as they arrive; back-pressure is the consumer's pace; leaving the loop cancels the call. */
  serverStream<I, O>(method: TalosMethod<I, O>, request: I, options: TalosCallOptions): AsyncIterable<O>;
  /**
   * Sends messages and gets one reply. The next message is asked for when the transport has room for it.
   * A reply or failure before the last message ends `requests`; a failure of `requests` cancels the call and is thrown as it is.
   */
  upload<I, O>(method: TalosMethod<I, O>, requests: AsyncIterable<I>, options: TalosCallOptions): Promise<O>;
  /** base64(SHA-256(SubjectPublicKeyInfo)) of the certificate that the server presented on the current connection; `undefined` before the first answer. */
  peerSpki(): string | undefined;
  close(): void;
}

/** One RPC. `I` and `O` are protobuf messages; a transport inside one process hands them over without encoding. */
export interface TalosMethod<I, O> {
  /** `/machine.MachineService/Version` */
  readonly path: string;
  readonly encode: (request: I) => Uint8Array;
  readonly decode: (bytes: Uint8Array) => O;
}

export interface TalosCallOptions {
  /** Deadline of the whole call (of the whole stream for streams). Always given. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** `node` request metadata: the machine behind the endpoint that should answer. */
  readonly node?: string;
}

/**
 * What a transport throws for a call that did not succeed; the typed client turns it into `TalosError`.
 * `code` is the gRPC status (4 DEADLINE_EXCEEDED, 14 UNAVAILABLE, ...), `message` the server's text.
 * `tls` is set when the handshake failed: nothing was sent.
 */
export interface TalosCallFailure extends Error {
  readonly name: "TalosCallFailure";
  readonly code: number;
  readonly tls?: "untrusted-server" | "unexpected-identity" | "client-refused" | "not-tls";
  /** Set with `tls` when a certificate would have been taken at another time: it begins later, or is over, by the clock of whoever checked it. */
  readonly byTime?: true;
  /** Set when whoever answered speaks another protocol inside TLS, for example plain HTTP. */
  readonly peer?: "not-grpc";
}
