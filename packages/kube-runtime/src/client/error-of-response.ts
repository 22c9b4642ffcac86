import type { KubeResponse } from "@talos-operator/ports";
import type { KubeApiErrorCode, StatusCause } from "./error-codes.ts";
import { KubeApiError } from "./kube-api-error.ts";

/** What a call was about, for error texts and for what may be quoted. */
export interface CallSubject {
  readonly verb: string;
  readonly plural: string;
  /** `namespace/name`, `namespace`, or empty. */
  readonly key: string;
  readonly name?: string | undefined;
}

/** True for a call that can change nothing. */
export function isRead({ verb }: CallSubject): boolean {
  return verb === "get" || verb === "list" || verb === "watch";
}

/** `update taloscontrolplanes default/a` */
export function callText(subject: CallSubject): string {
  return [subject.verb, subject.plural, subject.key].filter((part) => part !== "").join(" ");
}

/** The error that an answer with a status of 400 or more stands for. */
export function errorOfResponse(response: Pick<KubeResponse, "status" | "headers" | "body">, subject: CallSubject): KubeApiError {
  const status = parseStatus(response.body);
  const code = codeFor(response.status, status, subject);
  return new KubeApiError(code, {
    call: callText(subject),
    detail: detailFor(response, status, subject),
    isRead: isRead(subject),
    status: response.status,
    reason: status?.reason,
    causes: subject.plural === "secrets" ? status?.causes.map((cause) => ({ ...cause, message: "" })) : status?.causes,
    retryAfterMs: retryAfterOf(response.headers, status),
  });
}

/** A Status object as far as it is one. */
export interface StatusFacts {
  readonly code: number | undefined;
  readonly reason: string | undefined;
  readonly message: string;
  readonly name: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly causes: readonly StatusCause[];
}

/** Reads a Status object; `undefined` when the value is none. */
export function parseStatus(body: unknown): StatusFacts | undefined {
  if (!isRecord(body) || body["kind"] !== "Status") return undefined;
  const details = isRecord(body["details"]) ? body["details"] : {};
  const causes = Array.isArray(details["causes"]) ? details["causes"].filter(isRecord) : [];
  return {
    code: typeof body["code"] === "number" ? body["code"] : undefined,
    reason: textOf(body["reason"]),
    message: textOf(body["message"]) ?? "",
    name: textOf(details["name"]),
    retryAfterSeconds: typeof details["retryAfterSeconds"] === "number" ? details["retryAfterSeconds"] : undefined,
    causes: causes.map((cause) => ({
      reason: textOf(cause["reason"]) ?? "",
      message: textOf(cause["message"]) ?? "",
      field: textOf(cause["field"]) ?? "",
    })),
  };
}

/** Wait that the server asked for: the header in seconds (an HTTP date is not used by Kubernetes), else the Status detail. */
export function retryAfterOf(headers: Readonly<Record<string, string>>, status: StatusFacts | undefined): number | undefined {
  const header = headers["retry-after"];
  if (header !== undefined && /^\d+$/.test(header)) return Number(header) * 1000;
  return status?.retryAfterSeconds === undefined ? undefined : status.retryAfterSeconds * 1000;
}

function codeFor(http: number, status: StatusFacts | undefined, subject: CallSubject): KubeApiErrorCode {
  switch (http) {
    case 400:
      return status === undefined ? "UNEXPECTED_ANSWER" : "BAD_REQUEST";
    case 401:
      return "UNAUTHORIZED";
    case 403:
      return "FORBIDDEN";
    case 404:
      return isAboutObject(status, subject) ? "NOT_FOUND" : "NOT_SERVED";
    case 405:
    case 406:
    case 415:
      return "UNSUPPORTED";
    case 409:
      if (status?.reason === "AlreadyExists") return "ALREADY_EXISTS";
      return status?.causes.some((cause) => cause.reason === "FieldManagerConflict") === true ? "APPLY_CONFLICT" : "CONFLICT";
    case 410:
      return "EXPIRED";
    case 413:
      return "TOO_LARGE";
    case 422:
      return "INVALID";
    case 429:
      return "TOO_MANY_REQUESTS";
    case 502:
    case 503:
      return "UNAVAILABLE";
    case 504:
      return "SERVER_TIMEOUT";
    default:
      return http >= 500 && status !== undefined ? "SERVER_ERROR" : "UNEXPECTED_ANSWER";
  }
}

// A proxy's 404 page, or a kind whose CRD is gone, must never be read as "this object does not exist".
function isAboutObject(status: StatusFacts | undefined, subject: CallSubject): boolean {
  if (status?.reason !== "NotFound") return false;
  return status.name !== undefined && (subject.name === undefined || status.name === subject.name || subject.verb === "create");
}

function detailFor(response: Pick<KubeResponse, "status" | "headers">, status: StatusFacts | undefined, subject: CallSubject): string {
  if (status === undefined) {
    return `status ${response.status} with content type ${response.headers["content-type"] ?? "unknown"} instead of a Kubernetes Status`;
  }
  if (subject.plural !== "secrets") return status.message === "" ? `status ${response.status}` : status.message.replace(/\.$/, "");
  const fields = status.causes.map((cause) => cause.field).filter((field) => field !== "");
  return `${status.reason ?? `status ${response.status}`}${fields.length > 0 ? ` in ${fields.join(", ")}` : ""}`;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Plain JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
