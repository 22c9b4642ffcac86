import { createHash } from "node:crypto";
import { anonymousUser } from "../auth/authorize.ts";
import { audiencesOf } from "../auth/tokens.ts";
import type { TokenUser } from "../auth/tokens.ts";
import type { ApiUser } from "../request/request.ts";
import { badRequest, unauthorized } from "../request/status.ts";
import type { ServedRequest } from "./served-request.ts";

/** What a client certificate says; kept as long as its connection, for reading it costs more than many a request. */
interface CertificateUser {
  /** Absent for a certificate that names nobody or does not chain to a given CA. */
  readonly user: ApiUser | undefined;
  readonly expiresAt: number;
}

const certificates = new WeakMap<object, CertificateUser | "none">();

/** Users by the hash of their token, so the time of a look-up says nothing about a token. */
export function hashTokens(tokens: ReadonlyMap<string, TokenUser>): ReadonlyMap<string, TokenUser> {
  return new Map([...tokens].map(([token, user]) => [hash(token), user]));
}

/**
 * Who sent the request: a client certificate that chains to a given CA, else a bearer token, else nobody.
 *
 * @param findUser asked about tokens that are not in the list
 * @throws 400 for two Authorization headers; 401 for a certificate or token that is presented and not good, or has expired since the
 * connection began: a wrong credential is never treated as none
 */
export function userOf(
  request: Pick<ServedRequest, "connection" | "socket" | "headers">,
  tokens: ReadonlyMap<string, TokenUser>,
  findUser: (token: string) => TokenUser | undefined,
): ApiUser {
  let certificate = certificates.get(request.connection);
  if (certificate === undefined) {
    certificate = readCertificate(request.socket);
    certificates.set(request.connection, certificate);
  }
  if (certificate !== "none") {
    if (certificate.user === undefined || Date.now() >= certificate.expiresAt) throw unauthorized();
    return certificate.user;
  }
  const { authorization } = request.headers;
  if (authorization === undefined) return anonymousUser;
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  const user = token === undefined ? undefined : (tokens.get(hash(token)) ?? findUser(token));
  if (user === undefined || audiencesOf(user, Date.now()).length === 0) throw unauthorized();
  return { ...user, groups: user.groups.includes("system:authenticated") ? user.groups : [...user.groups, "system:authenticated"] };
}

function readCertificate(socket: ServedRequest["socket"]): CertificateUser | "none" {
  const certificate = socket.getPeerCertificate();
  if (Object.keys(certificate).length === 0) return "none";
  const expiresAt = Date.parse(certificate.valid_to);
  const subject = certificate.subject as unknown as { readonly CN?: string | readonly string[]; readonly O?: string | readonly string[] };
  const [name, ...more] = asList(subject.CN);
  const isGood = socket.authorized && name !== undefined && name !== "" && more.length === 0;
  const fingerprint = certificate.fingerprint256.replaceAll(":", "").toLowerCase();
  const extra = { "authentication.kubernetes.io/credential-id": [`X509SHA256=${fingerprint}`] };
  return { user: isGood ? { name, groups: [...asList(subject.O), "system:authenticated"], extra } : undefined, expiresAt };
}

function asList(value: string | readonly string[] | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}

function hash(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/** Headers that decide who asks for what: two of one are two opinions, and a proxy in front may have another favourite than we. */
const decisive = new Set(["authorization", "content-type", "host", "impersonate-user", "impersonate-uid"]);

/** @throws 400 for a header that stands twice and may not */
export function refuseRepeatedHeaders(rawHeaders: readonly string[]): void {
  let seen: Set<string> | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? "").toLowerCase();
    if (!decisive.has(name)) continue;
    seen ??= new Set();
    if (seen.has(name)) throw badRequest(`the header ${name} stands more than once; send it once`);
    seen.add(name);
  }
}
