import type { KubeApiErrorCode } from "./error-codes.ts";
import { KubeApiError } from "./kube-api-error.ts";

const has =
  (...codes: readonly KubeApiErrorCode[]) =>
  (thrown: unknown): thrown is KubeApiError =>
    thrown instanceof KubeApiError && codes.includes(thrown.code);

/** The server said that this object does not exist. A path that is not served, a refusal or silence is never "not found". */
export const isNotFound = has("NOT_FOUND");
/** An object of this name exists. */
export const isAlreadyExists = has("ALREADY_EXISTS");
/** The object changed since it was read, or a precondition did not hold. */
export const isConflict = has("CONFLICT");
/** Another field manager owns a field of this apply. */
export const isApplyConflict = has("APPLY_CONFLICT");
/** The object was refused by schema, CEL rule or admission. */
export const isInvalid = has("INVALID");
/** Credentials were refused (401) or lack the right (403). */
export const isForbidden = has("FORBIDDEN", "UNAUTHORIZED");
/** 410. */
export const isExpired = has("EXPIRED");
/** The kind itself is not served, for example because its CRD is missing. */
export const isNotServed = has("NOT_SERVED");
/** The call may or may not have taken effect. */
export const isOutcomeUnknown = has("NO_ANSWER", "SERVER_TIMEOUT", "SERVER_ERROR", "UNAVAILABLE", "UNEXPECTED_ANSWER", "CANCELED");

/** The fields of a server-side apply that other managers own; empty for every other error. */
export function fieldConflictsOf(thrown: unknown): readonly { readonly field: string; readonly manager: string }[] {
  if (!isApplyConflict(thrown)) return [];
  return thrown.causes.map((cause) => ({ field: cause.field, manager: /"([^"]*)"/.exec(cause.message)?.[1] ?? "unknown" }));
}
