import { quoteGo } from "../go-print.ts";
import type { JsonObject } from "../json.ts";
import { StatusError } from "./status-error.ts";

export { StatusError };

/** Why one field was refused, as in a Status's `details.causes`. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

/** What a failure is about: fills `details` of the Status. */
export interface ResourceName {
  readonly group: string;
  /** Plural, as in URLs. */
  readonly plural: string;
}

/** `secrets` or `leases.coordination.k8s.io`. */
function qualifiedResource(resource: ResourceName): string {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}

function detailsOf(resource: ResourceName, name: string, causes?: readonly StatusCause[]): JsonObject {
  return {
    ...(name === "" ? {} : { name }),
    ...(resource.group === "" ? {} : { group: resource.group }),
    kind: resource.plural,
    ...(causes === undefined || causes.length === 0 ? {} : { causes }),
  };
}

/** 404 for an object. */
export function notFound(resource: ResourceName, name: string): StatusError {
  return new StatusError(404, "NotFound", `${qualifiedResource(resource)} "${name}" not found`, detailsOf(resource, name));
}

/** 404 for a path under a served group that names no resource. */
export function unknownResource(): StatusError {
  return new StatusError(404, "NotFound", "the server could not find the requested resource", {});
}

/** 409 for a name that is taken. */
export function alreadyExists(resource: ResourceName, name: string): StatusError {
  return new StatusError(409, "AlreadyExists", `${qualifiedResource(resource)} "${name}" already exists`, detailsOf(resource, name));
}

/** 409 for a lost race; `why` is the part after the colon. */
export function conflict(
  resource: ResourceName,
  name: string,
  why = "the object has been modified; please apply your changes to the latest version and try again",
): StatusError {
  return new StatusError(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${qualifiedResource(resource)} "${name}": ${why}`,
    detailsOf(resource, name),
  );
}

/** 409 of server-side apply; one cause per field that another manager owns. */
export function applyConflict(causes: readonly StatusCause[], message: string): StatusError {
  return new StatusError(409, "Conflict", message, { causes });
}

/** 422 for field errors. `kind` is the Kind, as kube-apiserver puts it into `details.kind` here. */
export function invalid(group: string, kind: string, name: string, causes: readonly StatusCause[]): StatusError {
  // The message says the same thing once; the causes are as many as there are.
  const described = [...new Set(causes.map((cause) => `${cause.field ?? "<nil>"}: ${cause.message}`))];
  const text = described.length === 1 ? described[0] : `[${described.join(", ")}]`;
  const qualified = group === "" ? kind : `${kind}.${group}`;
  return new StatusError(422, "Invalid", `${qualified} ${quoteGo(name)} is invalid: ${text}`, {
    ...(name === "" ? {} : { name }),
    ...(group === "" ? {} : { group }),
    kind,
    causes,
  });
}

/** 400. */
export function badRequest(message: string): StatusError {
  return new StatusError(400, "BadRequest", message);
}

/** 403 that admission gives; `why` is the part after the colon. */
export function forbidden(resource: ResourceName, name: string, why: string, causes?: readonly StatusCause[]): StatusError {
  const quoted = name === "" ? qualifiedResource(resource) : `${qualifiedResource(resource)} "${name}"`;
  return new StatusError(403, "Forbidden", `${quoted} is forbidden: ${why}`, detailsOf(resource, name, causes));
}

/** 401. */
export function unauthorized(): StatusError {
  return new StatusError(401, "Unauthorized", "Unauthorized");
}

/** 405. */
export function methodNotAllowed(): StatusError {
  return new StatusError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});
}

/** 410: the wanted revision is compacted away. */
export function expired(message: string): StatusError {
  return new StatusError(410, "Expired", message);
}

/** 413. */
export function tooLarge(limitBytes: number): StatusError {
  return new StatusError(413, "RequestEntityTooLarge", `Request entity too large: limit is ${limitBytes}`);
}

/** 415; `accepted` lists the media types of this call. */
export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  return new StatusError(
    415,
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  );
}

/** 406. */
export function notAcceptable(accepted: readonly string[]): StatusError {
  return new StatusError(406, "NotAcceptable", `406: Not Acceptable\n\nAvailable representations: ${accepted.join(", ")}`, {});
}

/** 429: nothing is wrong with the request, there are too many like it. Clients come back after a second. */
export function tooManyRequests(message: string): StatusError {
  return new StatusError(429, "TooManyRequests", message, { retryAfterSeconds: 1 });
}

/** 504 for a resourceVersion that does not exist yet; clients retry after a second. */
export function tooLargeResourceVersion(wanted: bigint | number, current: number): StatusError {
  return new StatusError(504, "Timeout", `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}

/** 500: something broke inside; nothing was stored. */
export function internalError(message: string): StatusError {
  return new StatusError(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ reason: "", message }] });
}
