import type { ErrorFacts, KubeApiErrorCode, RetryAdvice, StatusCause } from "./error-codes.ts";

/**
 * The one error class of this package.
 *
 * `message` starts with the code, names the call and the object, and says what to do. Texts of the server about Secrets are left out,
 * because they may quote values.
 */
export class KubeApiError extends Error {
  override readonly name = "KubeApiError";
  readonly code: KubeApiErrorCode;
  readonly retry: RetryAdvice;
  /** HTTP status; `undefined` when there was no answer. */
  readonly status: number | undefined;
  /** `reason` of the Status object, verbatim, for example `AlreadyExists`. */
  readonly reason: string | undefined;
  /** One entry per field or conflict that the server complained about. */
  readonly causes: readonly StatusCause[];
  /** How long the server asked to wait. */
  readonly retryAfterMs: number | undefined;
  /** What the call was, for example `update taloscontrolplanes default/a`. */
  readonly call: string;

  constructor(code: KubeApiErrorCode, facts: ErrorFacts) {
    const remedy = (facts.isRead === true ? readRemedies[code] : undefined) ?? remedies[code];
    super(`${code}: ${facts.call}: ${facts.detail}. ${remedy}`, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.retry = advice[code];
    this.status = facts.status;
    this.reason = facts.reason;
    this.causes = facts.causes ?? [];
    this.retryAfterMs = facts.retryAfterMs;
    this.call = facts.call;
  }

  /**
   * Turns anything that was thrown into a KubeApiError: an own error stays, an aborted call is `CANCELED`,
   * everything else (the transport's failure above all) is `NO_ANSWER`: whether a call that is no read took effect is unknown.
   */
  static from(thrown: unknown, call: string, isRead = false): KubeApiError {
    if (thrown instanceof KubeApiError) return thrown;
    if (isAbort(thrown)) return new KubeApiError("CANCELED", { call, detail: "the caller gave the call up", cause: thrown });
    return new KubeApiError("NO_ANSWER", {
      call,
      detail: thrown instanceof Error ? thrown.message : "no complete answer arrived",
      cause: thrown,
      isRead,
    });
  }
}

/** Every code once; codes are never re-used. The page `docs/reference/errors/kube-runtime.md` has an entry for each. */
export const kubeApiErrorCodes = [
  "NOT_FOUND",
  "NOT_SERVED",
  "ALREADY_EXISTS",
  "CONFLICT",
  "APPLY_CONFLICT",
  "INVALID",
  "BAD_REQUEST",
  "UNAUTHORIZED",
  "FORBIDDEN",
  "EXPIRED",
  "TOO_MANY_REQUESTS",
  "TOO_LARGE",
  "UNSUPPORTED",
  "UNAVAILABLE",
  "SERVER_TIMEOUT",
  "SERVER_ERROR",
  "UNEXPECTED_ANSWER",
  "NO_ANSWER",
  "CANCELED",
  "INVALID_CALL",
  "CACHE_TIMEOUT",
  "KUBECONFIG_INVALID",
  "CREDENTIALS_UNAVAILABLE",
  "ADDRESS_UNUSABLE",
] as const satisfies readonly KubeApiErrorCode[];

const advice: Readonly<Record<KubeApiErrorCode, RetryAdvice>> = {
  NOT_FOUND: "never",
  NOT_SERVED: "backoff",
  ALREADY_EXISTS: "never",
  CONFLICT: "now",
  APPLY_CONFLICT: "never",
  INVALID: "never",
  BAD_REQUEST: "never",
  UNAUTHORIZED: "backoff",
  FORBIDDEN: "backoff",
  EXPIRED: "now",
  TOO_MANY_REQUESTS: "backoff",
  TOO_LARGE: "never",
  UNSUPPORTED: "never",
  UNAVAILABLE: "backoff",
  SERVER_TIMEOUT: "backoff",
  SERVER_ERROR: "backoff",
  UNEXPECTED_ANSWER: "backoff",
  NO_ANSWER: "backoff",
  CANCELED: "never",
  INVALID_CALL: "never",
  CACHE_TIMEOUT: "backoff",
  KUBECONFIG_INVALID: "never",
  CREDENTIALS_UNAVAILABLE: "backoff",
  ADDRESS_UNUSABLE: "never",
};

const remedies: Readonly<Record<KubeApiErrorCode, string>> = {
  NOT_FOUND: "Create the object first, or check name and namespace",
  NOT_SERVED: "Install the CRD (or API) that serves this kind, or check the server's address",
  ALREADY_EXISTS: "Read the existing object and decide whether it is yours",
  CONFLICT: "Read the object again and repeat the decision on its new state",
  APPLY_CONFLICT: "Another field manager owns these fields: leave them out, or apply with force if they are yours",
  INVALID: "Correct the named fields",
  BAD_REQUEST: "Correct the request; this is a fault of the caller",
  UNAUTHORIZED: "Renew the credentials (token, client certificate)",
  FORBIDDEN: "Grant the missing right to this user; the object may exist all the same",
  EXPIRED: "List again and continue from the new resourceVersion",
  TOO_MANY_REQUESTS: "Wait as long as the server asks, then repeat",
  TOO_LARGE: "Make the object smaller (the server's limit is about 1.5 MiB)",
  UNSUPPORTED: "Use a verb, patch type or content type that this server supports",
  UNAVAILABLE: "The API server is starting, stopping or overloaded: repeat with backoff",
  SERVER_TIMEOUT: "The server did not finish in time; look whether the call took effect, then repeat",
  SERVER_ERROR: "Look at the API server's log; repeat with backoff",
  UNEXPECTED_ANSWER: "Something other than a Kubernetes API answered: check address, proxies and load balancers",
  NO_ANSWER: "It is unknown whether the call took effect: look before repeating it",
  CANCELED: "Nothing to do",
  INVALID_CALL: "Correct the call; nothing was sent",
  CACHE_TIMEOUT: "Do not go on with what the cache holds; try the pass again later",
  KUBECONFIG_INVALID: "Correct the kubeconfig",
  ADDRESS_UNUSABLE: "Name an address of this machine whose port is free, as host:port or :port",
  CREDENTIALS_UNAVAILABLE: "Make the token, certificate or credential program available to this process",
};

/** What differs where nothing could be changed. */
const readRemedies: Partial<Readonly<Record<KubeApiErrorCode, string>>> = {
  SERVER_TIMEOUT: "The server did not finish in time: repeat with backoff",
  NO_ANSWER: "Check that the API server runs and can be reached, then repeat",
};

function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === "AbortError";
}
