import type { ApiUser } from "../request/request.ts";

/** What somebody wants to do. */
export interface AccessAttributes {
  readonly user: ApiUser;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; for paths that are no resource the method in lower case. */
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

/** Says whether it is allowed; members of `system:masters` are never asked about. */
export type Authorize = (attributes: AccessAttributes) => { readonly allowed: boolean; readonly reason?: string };

/** Finds the user behind a bearer token; `undefined` when nobody knows it. */
export type AuthenticateToken = (token: string) => ApiUser | undefined;

/** The user of requests without credentials. */
export const anonymousUser: ApiUser = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/** Paths that everyone may read. */
const publicPaths: readonly string[] = ["/healthz", "/livez", "/readyz", "/version"];

/**
 * The decision: `system:masters` may do everything; public paths are open; nobody else without credentials gets in;
 * for the rest `authorize` decides, and without one whoever is authenticated is allowed.
 */
export function isAllowed(
  attributes: AccessAttributes,
  authorize: Authorize | undefined,
): { readonly allowed: boolean; readonly reason: string } {
  if (attributes.user.groups.includes("system:masters")) {
    return { allowed: true, reason: "" };
  }
  if (publicPaths.some((path) => attributes.path === path || attributes.path.startsWith(`${path}/`))) {
    return { allowed: true, reason: "" };
  }
  if (attributes.user.name === anonymousUser.name) {
    return { allowed: false, reason: "" };
  }
  const verdict = authorize === undefined ? { allowed: true } : authorize(attributes);
  return { allowed: verdict.allowed, reason: "reason" in verdict ? (verdict.reason ?? "") : "" };
}
