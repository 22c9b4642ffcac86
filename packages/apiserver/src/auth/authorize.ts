import type { ApiUser } from "../request/request.ts";
import type { TokenUser } from "./tokens.ts";

/** What somebody wants to do. */
export interface AccessAttributes {
  readonly user: ApiUser;
  /**
   * `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, and what has no request of its own: `impersonate`,
   * `escalate`, `bind`. For paths that are no resource the method in lower case.
   */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Set for paths that are no resource. */
  readonly path: string;
}

/** The decision; `reason` says why, for people. */
export interface Verdict {
  readonly allowed: boolean;
  readonly reason?: string;
}

/** Says whether it is allowed; members of `system:masters` are never asked about. */
export type Authorize = (attributes: AccessAttributes) => Verdict;

/** Finds the user behind a bearer token; `undefined` when nobody knows it. */
export type AuthenticateToken = (token: string) => TokenUser | undefined;

/** The user of requests without credentials. */
export const anonymousUser: ApiUser = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/** Paths that everyone may read whatever the authorizer says: probes must work. */
const probePaths: readonly string[] = ["/healthz", "/livez", "/readyz"];

/** The decision: `system:masters` may do everything, probes are open, for the rest `authorize` decides. */
export function isAllowed(attributes: AccessAttributes, authorize: Authorize): { readonly allowed: boolean; readonly reason: string } {
  if (attributes.user.groups.includes("system:masters") || probePaths.includes(attributes.path)) {
    return { allowed: true, reason: "" };
  }
  const verdict = authorize(attributes);
  return { allowed: verdict.allowed, reason: verdict.reason ?? "" };
}
