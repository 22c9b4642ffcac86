import type { KubeApiErrorCode } from "./error-codes.ts";

/** What a person reads about each code. `npm run generate` writes `docs/reference/errors/kube-runtime.md` from it; nothing at run time loads it. */
export const errorReference: {
  readonly page: string;
  readonly title: string;
  /** Lines above the codes, Markdown. */
  readonly intro: readonly string[];
  readonly codes: Readonly<Record<KubeApiErrorCode, { readonly cause: string; readonly effect: string; readonly remedy: string }>>;
} = {
  page: "kube-runtime",
  title: "Errors of kube-runtime",
  intro: [
    "All are `KubeApiError` with `code`, `retry` (`now`, `backoff`, `never`), `status`, `reason`, `causes`, `retryAfterMs` and `call`. The message begins with the code.",
    "Texts of the server about Secrets are left out.",
  ],
  codes: {
    NOT_FOUND: {
      cause: "The server answered 404 with a Status whose `reason` is `NotFound` and which names the object.",
      effect: "The object does not exist. `tryGet` returns `undefined` instead of throwing.",
      remedy: "Create the object first, or check name and namespace.",
    },
    NOT_SERVED: {
      cause: "404 without such a Status: the CRD or API is not installed, the path is wrong, or a proxy answered.",
      effect: "Nothing is known about the object. It is never treated as absent.",
      remedy: "Install the CRD, or check the server's address.",
    },
    ALREADY_EXISTS: {
      cause: "`create` met an object of that name.",
      effect: "Nothing was changed.",
      remedy: "Read the existing object and decide whether it is yours.",
    },
    CONFLICT: {
      cause: "409: the resourceVersion, or a precondition of a delete, did not match.",
      effect: "Nothing was changed. A controller repeats the pass soon and logs this at debug only.",
      remedy: "Read the object again and repeat the decision on its new state.",
    },
    APPLY_CONFLICT: {
      cause: "A server-side apply touched fields that another field manager owns; `fieldConflictsOf(error)` lists fields and managers.",
      effect: "Nothing was changed.",
      remedy: "Leave those fields out, or apply with `force` if they are yours. Two managers that force in turn never end.",
    },
    INVALID: {
      cause: "422: schema, CEL rule or admission refused the object; `causes` names the fields.",
      effect: "Nothing was changed.",
      remedy: "Correct the named fields.",
    },
    BAD_REQUEST: {
      cause: "400: the server could not understand the request.",
      effect: "Nothing was changed.",
      remedy: "This is a fault of the program; report it with the message.",
    },
    UNAUTHORIZED: {
      cause: "401: token or client certificate expired or unknown, also after token files were read again.",
      effect: "Nothing was done. Informers keep trying with backoff.",
      remedy: "Renew the credentials.",
    },
    FORBIDDEN: {
      cause: "403: the user lacks the right.",
      effect: "Nothing was done. Says nothing about whether the object exists.",
      remedy: "Grant the right named in the message (role and binding).",
    },
    EXPIRED: {
      cause: "410: a resourceVersion or continue token is older than what the server keeps.",
      effect: "Informers list again by themselves.",
      remedy: "List again and continue from the new resourceVersion.",
    },
    TOO_MANY_REQUESTS: {
      cause: "429: the server is protecting itself, or an eviction is held by a disruption budget.",
      effect: "Calls that may be repeated were, up to four times; a longer wait than 10 s is left to the caller in `retryAfterMs`.",
      remedy: "Wait as long as the server asks, then repeat.",
    },
    TOO_LARGE: {
      cause: "413: the request is larger than the server takes.",
      effect: "Nothing was changed.",
      remedy: "Make the object smaller; the limit is about 1.5 MiB.",
    },
    UNSUPPORTED: {
      cause: "405, 406 or 415: verb, patch type or content type is not served for this kind.",
      effect: "Nothing was changed.",
      remedy: "Use one that is; custom resources take merge, JSON and apply patches.",
    },
    UNAVAILABLE: {
      cause: "502 or 503: the API server is starting, stopping or overloaded, or a load balancer found none.",
      effect: "For writes it is unknown whether they took effect.",
      remedy: "Repeat with backoff; look first if the call was a write.",
    },
    SERVER_TIMEOUT: {
      cause: "504: the server did not finish in time.",
      effect: "For writes it is unknown whether they took effect.",
      remedy: "Look whether the call took effect, then repeat.",
    },
    SERVER_ERROR: {
      cause: "500 with a Status: mostly the server's storage or a webhook.",
      effect: "For writes it is unknown whether they took effect.",
      remedy: "Look at the API server's log; repeat with backoff.",
    },
    UNEXPECTED_ANSWER: {
      cause: "Something answered that is not a Kubernetes API: an HTML page, a list without items or version, an object without metadata.",
      effect: "The answer was not used; a cache is never emptied by it.",
      remedy: "Check address, proxies and load balancers.",
    },
    NO_ANSWER: {
      cause: "The connection was refused, broke or timed out before a complete answer.",
      effect: "It is unknown whether a write took effect; of a read nothing is. Nothing is repeated behind the caller's back.",
      remedy: "Look before a write is repeated. For a read, check that the API server runs and can be reached.",
    },
    CANCELED: {
      cause: "The caller's signal aborted: the process stops, leadership was lost, or a pass exceeded its deadline.",
      effect: "The call may or may not have taken effect.",
      remedy: "None.",
    },
    INVALID_CALL: {
      cause: "The call cannot be a request: no namespace for a namespaced kind, an empty name, a name with a slash.",
      effect: "Nothing was sent.",
      remedy: "Correct the call.",
    },
    CACHE_TIMEOUT: {
      cause: "A cache did not reach its first list, or a wanted resourceVersion, in time.",
      effect: "The cache must not be relied on for this decision.",
      remedy: "Try the pass again later; if it lasts, look at the informer's `status().lastError`.",
    },
    KUBECONFIG_INVALID: {
      cause:
        "The kubeconfig is missing, is not YAML, lacks an entry, impersonates nobody, or wants a proxy that is neither `http://` nor `https://`.",
      effect: "No connection was made.",
      remedy: "Correct the file and entry that the message names.",
    },
    CREDENTIALS_UNAVAILABLE: {
      cause: "A token, CA or certificate file is missing or empty, a login program failed, or the process is in no pod.",
      effect: "Nothing was sent.",
      remedy: "Make the file or program available to this process.",
    },
    ADDRESS_UNUSABLE: {
      cause:
        "The server for probes or metrics cannot listen at the given address: it is not written as `host:port` or `:port`, the port is taken, or the address is not this machine's.",
      effect: "The process does not serve them. `manager` ends when the address was asked for, and only says so when it was its default.",
      remedy: "Name a free address (`--health-probe-bind-address`, `--metrics-bind-address`), or `0` to serve nothing.",
    },
  },
};
