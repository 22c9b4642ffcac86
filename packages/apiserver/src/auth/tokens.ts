import type { ApiUser } from "../request/request.ts";

/** What a server calls itself in tokens that name whom they are for. */
export const serverAudience = "https://kubernetes.default.svc";

/** The user of a bearer token, and how far the token reaches. */
export interface TokenUser extends ApiUser {
  /** Milliseconds since 1970 from which on the token is nobody's. Default: never. */
  readonly expiresAt?: number;
  /** Whom the token is for. Default: this server. */
  readonly audiences?: readonly string[];
}

/**
 * The audiences among `wanted` that a token is for; empty for one that has expired or is for others.
 *
 * @param wanted default this server
 * @param now milliseconds since 1970
 */
export function audiencesOf(user: TokenUser, now: number, wanted: readonly string[] = [serverAudience]): readonly string[] {
  if (user.expiresAt !== undefined && now >= user.expiresAt) return [];
  const reached = user.audiences ?? [serverAudience];
  return wanted.filter((audience) => reached.includes(audience));
}
