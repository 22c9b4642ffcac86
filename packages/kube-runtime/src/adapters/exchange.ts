import type { TlsIdentity } from "./credentials.ts";

/** One request as it goes on the wire. */
export interface OutgoingRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer | undefined;
  /** Ends the request and its answer, whoever reads it then, and nothing else. */
  readonly signal: AbortSignal;
}

/** What a server says: status and headers have come, the body comes as it is read. */
export interface HttpAnswer extends AsyncIterable<Buffer> {
  readonly status: number;
  /** Lower-case names; values of a repeated header are joined. */
  readonly headers: Readonly<Record<string, string>>;
  /** Nobody will read the body; the connection goes on. */
  discard(): void;
  /** No more of the body is wanted, also while somebody reads it. May be repeated. */
  destroy(): void;
}

/** Sends requests to one server over connections that it keeps. */
export interface HttpExchange {
  /**
   * Resolves when status and headers have come. Reading a body that breaks off before its end throws.
   *
   * @throws RepeatableFailure, and whatever the network throws
   */
  open(request: OutgoingRequest, tls: TlsIdentity): Promise<HttpAnswer>;
  close(): void;
}

/** A connection ended before the answer to a request that may be sent once more. */
export class RepeatableFailure extends Error {
  override readonly name = "RepeatableFailure";
  readonly code: string;
  /**
   * What the request may have done. `unknown`: the server closed a kept connection while it was on its way. `nothing`: the server, or the protocol on its
   * behalf, promises that it was not processed (RFC 9113, 8.7).
   */
  readonly effect: "unknown" | "nothing";
  constructor(effect: RepeatableFailure["effect"], cause: NodeJS.ErrnoException) {
    super(cause.message, { cause });
    this.effect = effect;
    this.code = cause.code ?? (effect === "unknown" ? "ECONNRESET" : "UNPROCESSED");
  }
}

/** What a caller of an aborted request gets, as `node:http` words it. */
export function abortError(signal: AbortSignal): Error {
  return Object.assign(new Error("The operation was aborted", { cause: signal.reason }), { name: "AbortError", code: "ABORT_ERR" });
}

/** Headers with one text each. */
export function flatHeaders(headers: Readonly<Record<string, string | string[] | number | undefined>>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    // What begins with a colon is HTTP/2's status line.
    if (value !== undefined && !name.startsWith(":")) flat[name] = Array.isArray(value) ? value.join(", ") : String(value);
  }
  return flat;
}
