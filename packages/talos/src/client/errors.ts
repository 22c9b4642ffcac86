import type { TalosCallFailure } from "@talos-operator/ports";

import { describeNodeText } from "./node-text.ts";

/**
 * What went wrong with a call to the machine API. Closed; a code is never re-used.
 * Each has an entry in `docs/reference/errors/talos.md`.
 */
export type TalosErrorCode =
  | "UNAVAILABLE"
  | "NO_ENDPOINT"
  | "DEADLINE_EXCEEDED"
  | "CANCELED"
  | "UNTRUSTED_SERVER"
  | "UNEXPECTED_IDENTITY"
  | "CLIENT_REFUSED"
  | "NOT_TLS"
  | "NOT_GRPC"
  | "UNAUTHENTICATED"
  | "PERMISSION_DENIED"
  | "INVALID_ARGUMENT"
  | "NOT_FOUND"
  | "ALREADY_EXISTS"
  | "FAILED_PRECONDITION"
  | "UNIMPLEMENTED"
  | "RESOURCE_EXHAUSTED"
  | "ABORTED"
  | "NODE_FAILED"
  | "SNAPSHOT_DAMAGED"
  | "INSTALL_FAILED"
  | "MALFORMED_REPLY";

/** `now`: the call had no effect and may be sent again at once. `backoff`: look first, then try later. `never`: something must change before. */
export type TalosRetry = "now" | "backoff" | "never";

/** Which call it was. */
export interface TalosErrorFacts {
  /** The machine that was asked: the `node` of the call, else the address of the channel. */
  readonly node: string;
  /** `/machine.MachineService/Version` */
  readonly method: string;
}

interface CodeFacts {
  readonly retry: TalosRetry;
  /** What a person does next. */
  readonly remedy: string;
}

/** One line for each code; the message of every error ends with the remedy. */
export const TALOS_ERROR_CODES: Readonly<Record<TalosErrorCode, CodeFacts>> = {
  UNAVAILABLE: { retry: "backoff", remedy: "Check that the machine runs, its address is right and port 50000 is reachable." },
  NO_ENDPOINT: {
    retry: "backoff",
    remedy: "No control plane forwards calls: look at the machine itself, and check the control planes' addresses and port 50000.",
  },
  DEADLINE_EXCEEDED: {
    retry: "backoff",
    remedy: "The machine may be overloaded or still starting: look at its state before sending again.",
  },
  CANCELED: { retry: "never", remedy: "The caller gave up; nothing to do." },
  UNTRUSTED_SERVER: {
    retry: "never",
    remedy:
      "The machine's certificate is not signed by this cluster's CA, is expired or is too weak: check that the address belongs to this cluster.",
  },
  UNEXPECTED_IDENTITY: {
    retry: "never",
    remedy: "The machine is not the one that was expected: check its address, the certificate's names, and the pinned fingerprint.",
  },
  CLIENT_REFUSED: {
    retry: "never",
    remedy: "The machine refuses our certificate: it belongs to another cluster, is already configured, or a clock is wrong.",
  },
  NOT_TLS: { retry: "never", remedy: "Something else than Talos answers there: check the address and port." },
  NOT_GRPC: { retry: "never", remedy: "Something else than Talos answers there, perhaps a proxy: check the address and port." },
  UNAUTHENTICATED: { retry: "never", remedy: "The credentials are missing or wrong: issue a new client certificate." },
  PERMISSION_DENIED: {
    retry: "never",
    remedy: "The role of the client certificate does not allow this call: use a certificate with a role that does.",
  },
  INVALID_ARGUMENT: { retry: "never", remedy: "The machine refuses what was sent: correct it as its answer says." },
  NOT_FOUND: { retry: "never", remedy: "The machine has no such thing: check the name." },
  ALREADY_EXISTS: { retry: "never", remedy: "It is done already: continue by looking at the machine's state." },
  FAILED_PRECONDITION: {
    retry: "backoff",
    remedy: "The machine cannot do this in its present state: wait for the state that its answer names.",
  },
  UNIMPLEMENTED: { retry: "never", remedy: "This machine's role, mode or Talos version has no such call." },
  RESOURCE_EXHAUSTED: {
    retry: "never",
    remedy: "A message was larger than 32 MiB or a limit of the machine is reached: make the request smaller.",
  },
  ABORTED: { retry: "now", remedy: "Another call got in between: send it again." },
  NODE_FAILED: { retry: "backoff", remedy: "The machine failed to do it: read its answer and its logs." },
  SNAPSHOT_DAMAGED: {
    retry: "backoff",
    remedy: "Throw away what was received and take the snapshot again, best from another control plane.",
  },
  INSTALL_FAILED: {
    retry: "never",
    remedy: "Read the installer's messages; the machine goes on with the version that it runs.",
  },
  MALFORMED_REPLY: {
    retry: "never",
    remedy: "The reply breaks the protocol: check that Talos answers there and that its version is supported.",
  },
};

const CODE_BY_STATUS: Readonly<Record<number, TalosErrorCode>> = {
  1: "CANCELED",
  2: "NODE_FAILED",
  3: "INVALID_ARGUMENT",
  4: "DEADLINE_EXCEEDED",
  5: "NOT_FOUND",
  6: "ALREADY_EXISTS",
  7: "PERMISSION_DENIED",
  8: "RESOURCE_EXHAUSTED",
  9: "FAILED_PRECONDITION",
  10: "ABORTED",
  11: "INVALID_ARGUMENT",
  12: "UNIMPLEMENTED",
  13: "NODE_FAILED",
  14: "UNAVAILABLE",
  15: "NODE_FAILED",
  16: "UNAUTHENTICATED",
};

const CODE_BY_TLS = {
  "untrusted-server": "UNTRUSTED_SERVER",
  "unexpected-identity": "UNEXPECTED_IDENTITY",
  "client-refused": "CLIENT_REFUSED",
  "not-tls": "NOT_TLS",
} as const satisfies Record<NonNullable<TalosCallFailure["tls"]>, TalosErrorCode>;

/**
 * A call that did not succeed. The message starts with the code, names machine and method, and ends with what to do.
 *
 * The machine's own text is part of the message except where it may quote a machine config: there values and diffs are left out.
 */
export class TalosError extends Error {
  override readonly name = "TalosError";
  readonly code: TalosErrorCode;
  /** gRPC status; `undefined` when the error was found on our side. */
  readonly grpcCode: number | undefined;
  readonly node: string;
  readonly method: string;
  readonly retry: TalosRetry;
  /** What the machine or the transport said, without our words around it; free of secrets. */
  readonly nodeText: string;
  /** True when a certificate was refused for its dates alone: it expired, or somebody's clock is wrong. */
  readonly isByTime: boolean;

  constructor(
    code: TalosErrorCode,
    facts: TalosErrorFacts,
    text: string,
    options: { readonly grpcCode?: number; readonly cause?: unknown; readonly isByTime?: boolean } = {},
  ) {
    const nodeText = describeNodeText(facts.method, text);
    const call = facts.method.slice(facts.method.lastIndexOf("/") + 1);
    super(
      `${code}: ${call} on ${facts.node}: ${nodeText}${/[.!?]$/.test(nodeText) ? "" : "."} ${TALOS_ERROR_CODES[code].remedy}`,
      // The cause of a refused config carries the text that was left out above.
      options.cause === undefined || nodeText !== text ? {} : { cause: options.cause },
    );
    this.code = code;
    this.grpcCode = options.grpcCode;
    this.node = facts.node;
    this.method = facts.method;
    this.retry = TALOS_ERROR_CODES[code].retry;
    this.nodeText = nodeText;
    this.isByTime = options.isByTime === true;
  }

  /**
   * Any thrown value as a TalosError.
   *
   * Rules: a TalosError stays itself; a TalosCallFailure is mapped by its `tls`, then by its `peer`, then by its gRPC code; an abort is `CANCELED`;
   * anything else is a fault in decoding or in our code and becomes `MALFORMED_REPLY` with the value as `cause`.
   */
  static from(thrown: unknown, facts: TalosErrorFacts): TalosError {
    if (thrown instanceof TalosError) return thrown;
    if (isCallFailure(thrown)) {
      const code = codeOf(thrown);
      return new TalosError(code, facts, thrown.message, { grpcCode: thrown.code, cause: thrown, isByTime: thrown.byTime === true });
    }
    if (thrown instanceof Error && thrown.name === "AbortError") {
      return new TalosError("CANCELED", facts, thrown.message, { cause: thrown });
    }
    return new TalosError("MALFORMED_REPLY", facts, thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown });
  }
}

/** True for a `TalosError`, with one of `codes` when any are given. */
export function isTalosError(thrown: unknown, ...codes: readonly TalosErrorCode[]): thrown is TalosError {
  return thrown instanceof TalosError && (codes.length === 0 || codes.includes(thrown.code));
}

/** True when nobody answered, or not in time: whether the call took effect is unknown. */
export function isUnanswered(thrown: unknown): boolean {
  return isTalosError(thrown, "UNAVAILABLE", "DEADLINE_EXCEEDED");
}

/** True when TLS proved that we must not talk to this peer, or it must not talk to us. Never to be answered by a weaker mode. */
export function isIdentityFailure(thrown: unknown): boolean {
  return isTalosError(thrown, "UNTRUSTED_SERVER", "UNEXPECTED_IDENTITY", "CLIENT_REFUSED");
}

function codeOf(failure: TalosCallFailure): TalosErrorCode {
  if (failure.tls !== undefined) return CODE_BY_TLS[failure.tls];
  if (failure.peer === "not-grpc") return "NOT_GRPC";
  return CODE_BY_STATUS[failure.code] ?? "NODE_FAILED";
}

function isCallFailure(thrown: unknown): thrown is TalosCallFailure {
  return thrown instanceof Error && thrown.name === "TalosCallFailure";
}
