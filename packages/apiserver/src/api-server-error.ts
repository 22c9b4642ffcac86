/** Every code once; codes are never re-used. Causes and remedies: `docs/reference/errors/apiserver.md`. */
export const apiServerErrorCodes = [
  "DATA_FOLDER_IN_USE",
  "DATA_FOLDER_NOT_WRITABLE",
  "DATA_FILE_DAMAGED",
  "DATA_FILE_NEWER",
  "STORE_WRITE_FAILED",
  "PORT_IN_USE",
  "ADDRESS_NOT_AVAILABLE",
  "CERTIFICATE_UNUSABLE",
] as const;

/** Closed set of failures to start or to store. */
export type ApiServerErrorCode = (typeof apiServerErrorCodes)[number];

/** A failure outside a request. Refusals of requests are Status objects and never this. */
export class ApiServerError extends Error {
  override readonly name = "ApiServerError";
  readonly code: ApiServerErrorCode;
  /** `backoff` where the world may change by itself (a full disk), else a person must act. */
  readonly retry: "never" | "backoff";

  /** @param text what happened to which object, and what to do */
  constructor(code: ApiServerErrorCode, text: string, options: { readonly cause?: unknown; readonly retry?: "never" | "backoff" } = {}) {
    super(`${code}: ${text}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retry = options.retry ?? "never";
  }
}
