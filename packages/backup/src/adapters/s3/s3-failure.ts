import type { ObjectStoreFailureKind } from "@talos-operator/ports";
import { isStoreFailure, StoreFailure } from "../../store/failure.ts";
import { connectionCause } from "./connection-cause.ts";

/** S3's error codes, and those of its likes. */
const CODES: Readonly<Record<string, ObjectStoreFailureKind>> = {
  AccessDenied: "denied",
  AllAccessDisabled: "denied",
  InvalidAccessKeyId: "denied",
  SignatureDoesNotMatch: "denied",
  InvalidToken: "denied",
  // versitygw's word for keys of nobody.
  XAdminUserNotFound: "denied",
  MissingAuthenticationToken: "denied",
  CredentialsProviderError: "denied",
  ExpiredToken: "expired",
  ExpiredTokenException: "expired",
  TokenRefreshRequired: "expired",
  RequestTimeTooSkewed: "clock",
  RequestExpired: "clock",
  NoSuchBucket: "missing",
  NoSuchUpload: "missing",
  PreconditionFailed: "exists",
  ConditionalRequestConflict: "conflict",
  OperationAborted: "conflict",
  NotImplemented: "unsupported",
  SlowDown: "slow-down",
  SlowDownRead: "slow-down",
  SlowDownWrite: "slow-down",
  Throttling: "slow-down",
  ThrottlingException: "slow-down",
  TooManyRequests: "slow-down",
  ServiceUnavailable: "slow-down",
  Busy: "slow-down",
  QuotaExceeded: "full",
  EntityTooLarge: "invalid",
  InsufficientCapacity: "full",
  XMinioStorageFull: "full",
  XMinioAdminBucketQuotaExceeded: "full",
  BadDigest: "damaged",
  XAmzContentSHA256Mismatch: "damaged",
  InvalidDigest: "damaged",
  InvalidPart: "damaged",
  IncompleteBody: "cut-off",
  ObjectLocked: "locked",
  PermanentRedirect: "redirected",
  TemporaryRedirect: "redirected",
  Redirect: "redirected",
  AuthorizationHeaderMalformed: "redirected",
  InvalidBucketName: "invalid",
  InvalidArgument: "invalid",
  InvalidRequest: "invalid",
  KeyTooLongError: "invalid",
  InternalError: "failing",
};

const STATUSES: Readonly<Record<number, ObjectStoreFailureKind>> = {
  301: "redirected",
  302: "redirected",
  307: "redirected",
  308: "redirected",
  401: "denied",
  403: "denied",
  409: "conflict",
  412: "exists",
  429: "slow-down",
  501: "unsupported",
  503: "slow-down",
  507: "full",
};

/** What Node says of a connection. */
const SYSTEM: Readonly<Record<string, ObjectStoreFailureKind>> = {
  ECONNREFUSED: "unreachable",
  ECONNRESET: "unreachable",
  EHOSTUNREACH: "unreachable",
  ENETUNREACH: "unreachable",
  ENOTFOUND: "unreachable",
  EAI_AGAIN: "unreachable",
  EPIPE: "unreachable",
  ETIMEDOUT: "unreachable",
  TimeoutError: "unreachable",
};

const WORDS: Readonly<Record<ObjectStoreFailureKind, string>> = {
  unreachable: "it does not answer",
  tls: "its certificate is not trusted: name its CA in caBundle",
  handshake: "no TLS connection comes about",
  denied: "it refuses the keys: correct them, or give them the right",
  expired: "the keys have expired: give new ones",
  clock: "its clock and ours are too far apart: set them",
  missing: "there is no such bucket or upload",
  exists: "there is an object of this name",
  unsupported: "it does not know this request",
  conflict: "another write of the same object goes on",
  full: "no room is left: make some, or raise the quota",
  "slow-down": "it asks to be asked less often",
  failing: "it fails by itself",
  "cut-off": "fewer bytes came than were announced",
  damaged: "a checksum differs",
  redirected: "it sends us to another host: correct endpoint or region",
  locked: "object lock keeps the object",
  invalid: "it takes no such request: correct bucket and prefix",
};

/** More than the kind says. */
const OWN_WORDS: Readonly<Record<string, string>> = {
  CredentialsProviderError: "no keys are given, and this process has none of its own",
  AuthorizationHeaderMalformed: "it is of another region: correct region",
};

/**
 * What went wrong, in words of ours: those of the SDK hold hosts, request ids and now and then what was signed. An abort stays what it is.
 *
 * @param place what the store is called in messages
 */
export function failureOf(thrown: unknown, place: string): unknown {
  if (isStoreFailure(thrown) || isAbort(thrown)) return thrown;
  const { kind, code, words } = causeOf(thrown);
  return new StoreFailure(kind, `${place}: ${words ?? OWN_WORDS[code] ?? WORDS[kind]} (${code}).`);
}

interface Cause {
  readonly kind: ObjectStoreFailureKind;
  readonly code: string;
  /** More than kind and code say. */
  readonly words?: string;
}

function causeOf(thrown: unknown): Cause {
  for (let at: unknown = thrown; at instanceof Error; at = at.cause) {
    const { code, $metadata } = at as { readonly code?: unknown; readonly $metadata?: { readonly httpStatusCode?: number } };
    for (const word of [code, at.name]) {
      if (typeof word !== "string") continue;
      const kind = CODES[word] ?? SYSTEM[word];
      if (kind !== undefined) return { kind, code: word, ...(kind === "redirected" ? regionWords(at) : {}) };
      const cause = connectionCause(at, word);
      if (cause !== undefined) return cause;
    }
    const status = $metadata?.httpStatusCode;
    if (status !== undefined && STATUSES[status] !== undefined) return { kind: STATUSES[status], code: `status ${status}` };
    if (status !== undefined && status >= 500) return { kind: "failing", code: `status ${status}` };
  }
  return { kind: "failing", code: thrown instanceof Error ? plainWord(thrown.name) : "unknown" };
}

/** The region that the store names, where it names one that can be written into `region`. */
function regionWords(thrown: Error): { readonly words?: string } {
  const { Region, $response } = thrown as {
    readonly Region?: unknown;
    readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
  };
  const region = [Region, $response?.headers?.["x-amz-bucket-region"]].find(
    (text): text is string => typeof text === "string" && /^[a-z0-9-]{1,40}$/.test(text),
  );
  return region === undefined ? {} : { words: `it is of region ${region}: correct region` };
}

function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === "AbortError";
}

function plainWord(word: string): string {
  return /^[A-Za-z]{1,60}$/.test(word) ? word : "unknown";
}
