/** What went wrong, as a closed set; see `docs/reference/errors/kube-runtime.md`. */
export type KubeApiErrorCode =
  /** 404 with a Status that names the object. */
  | "NOT_FOUND"
  /** 404 without such a Status: the path itself is not served. Says nothing about the object. */
  | "NOT_SERVED"
  | "ALREADY_EXISTS"
  /** 409: resourceVersion or another precondition did not match. */
  | "CONFLICT"
  /** 409 of a server-side apply; `causes` names fields and managers. */
  | "APPLY_CONFLICT"
  | "INVALID"
  | "BAD_REQUEST"
  | "UNAUTHORIZED"
  | "FORBIDDEN"
  /** 410: resourceVersion or continue token too old. */
  | "EXPIRED"
  | "TOO_MANY_REQUESTS"
  | "TOO_LARGE"
  | "UNSUPPORTED"
  | "UNAVAILABLE"
  | "SERVER_TIMEOUT"
  | "SERVER_ERROR"
  /** The answer was not what a Kubernetes API says, for example a proxy's HTML page. */
  | "UNEXPECTED_ANSWER"
  /** No complete answer arrived. */
  | "NO_ANSWER"
  | "CANCELED"
  /** The call cannot be expressed as a request; nothing was sent. */
  | "INVALID_CALL"
  /** The cache did not reach the wanted state in time. */
  | "CACHE_TIMEOUT"
  | "KUBECONFIG_INVALID"
  | "CREDENTIALS_UNAVAILABLE"
  /** A server of ours (probes, metrics) cannot listen there. */
  | "ADDRESS_UNUSABLE";

/** `now`: after reading again. `backoff`: later. `never`: not without a change. */
export type RetryAdvice = "now" | "backoff" | "never";

/** One cause of a Status. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  /** Path of the field, for example `.spec.replicas`. */
  readonly field: string;
}

/** Facts from which an error is made. */
export interface ErrorFacts {
  readonly call: string;
  readonly detail: string;
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
  readonly causes?: readonly StatusCause[] | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
  /** The call can change nothing, so nothing about its effect is unknown. */
  readonly isRead?: boolean;
}
