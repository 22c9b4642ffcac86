/** One call as it arrives at a machine, after the TLS handshake. */
export interface IncomingCall {
  /** `/machine.MachineService/Version` */
  readonly path: string;
  /** A message of the generated protocol; for client streams the messages as they arrive. */
  readonly request: unknown;
  /** Lower-case names. */
  readonly metadata: Readonly<Record<string, readonly string[]>>;
  /** Certificate that the caller presented and that the handshake accepted, PEM; `undefined` in maintenance mode without one. */
  readonly clientCertificate: string | undefined;
  /** Aborts when the caller gives up. */
  readonly signal: AbortSignal;
}

/** What a machine answers. Failures are thrown as `RpcError`. */
export type Reply =
  { readonly kind: "unary"; readonly message: unknown } | { readonly kind: "stream"; readonly messages: AsyncIterable<unknown> };

/** gRPC status codes by name. */
export const grpcStatus = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** A gRPC status other than OK, with the text that a genuine node sends. */
export class RpcError extends Error {
  /** gRPC status code. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = "RpcError";
    this.code = code;
  }
}
