import type { JsonObject } from "../json.ts";
import type { CompiledVersion } from "../schema/index.ts";

/** Facts that every write with field ownership needs. */
export interface OwnershipContext {
  readonly kind: CompiledVersion;
  readonly manager: string;
  /** `""` for the object itself, else `status`, `scale`, ... */
  readonly subresource: string;
  /** Of the request, for example `example.com/v1`. */
  readonly apiVersion: string;
  readonly now: Date;
}

/** One field that somebody else owns with another value. */
export interface ApplyConflict {
  readonly manager: string;
  /** As `kubectl` prints it: `.spec.replicas`. */
  readonly field: string;
  /** Text of the cause in the Status. */
  readonly message: string;
}

/** Result of a server-side apply. `conflicts` is a 409 with `conflictMessage`; `invalid` a 400 or 500 as `status` says. */
export type ApplyOutcome =
  | { readonly kind: "applied"; readonly object: JsonObject }
  | { readonly kind: "conflicts"; readonly conflicts: readonly ApplyConflict[]; readonly message: string }
  | { readonly kind: "invalid"; readonly status: 400 | 422 | 500; readonly message: string };

/**
 * Server-side apply. `live` is the stored object or undefined on creation; `applied` what the request carried. Neither is changed.
 * The result is not yet defaulted, pruned or validated, and its resourceVersion is that of `live`.
 */
export function serverSideApply(
  _input: OwnershipContext & { readonly live: JsonObject | undefined; readonly applied: JsonObject; readonly force: boolean },
): ApplyOutcome {
  throw new Error("in work");
}

/**
 * Field ownership of create, update and patch: returns `updated` (a shallow copy) with `metadata.managedFields` brought up to date.
 * Call it after defaulting and pruning. `live` is undefined on creation.
 */
export function trackUpdate(_input: OwnershipContext & { readonly live: JsonObject | undefined; readonly updated: JsonObject }): JsonObject {
  throw new Error("in work");
}
