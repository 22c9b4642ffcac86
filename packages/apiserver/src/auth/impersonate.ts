import type { ApiUser } from "../request/request.ts";
import { badRequest } from "../request/status.ts";
import { anonymousUser, isAllowed } from "./authorize.ts";
import type { AccessAttributes, Authorize } from "./authorize.ts";
import { forbiddenAccess } from "./forbidden-access.ts";

const accountPrefix = "system:serviceaccount:";
const extraPrefix = "impersonate-extra-";

/**
 * The user that a request acts as: that of its `Impersonate-*` headers when its own user may impersonate him, else its own.
 *
 * Several groups, or values of one extra key, are separated by line feeds: the front end joins repeated headers so.
 *
 * @throws 403 for what the user may not impersonate; 400 for an empty name beside other such headers
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
 */
export function impersonatedUser(authorize: Authorize, user: ApiUser, headers: Readonly<Record<string, string>>): ApiUser {
  const name = headers["impersonate-user"] ?? "";
  const groups = valuesOf(headers["impersonate-group"]);
  const uid = headers["impersonate-uid"] ?? "";
  const extraHeaders = Object.keys(headers).filter((header) => header.startsWith(extraPrefix));
  if (name === "") {
    if (groups.length > 0 || uid !== "" || extraHeaders.length > 0) {
      throw badRequest("requested groups, a uid or extra without impersonating a user name");
    }
    return user;
  }
  const [, namespace = "", account = ""] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name) ?? [];
  const need = (group: string, resource: string, subresource: string, inNamespace: string, wanted: string): void => {
    const attributes: AccessAttributes = {
      user,
      verb: "impersonate",
      group,
      version: "v1",
      resource,
      subresource,
      namespace: inNamespace,
      name: wanted,
      path: "",
    };
    const verdict = isAllowed(attributes, authorize);
    if (!verdict.allowed) throw forbiddenAccess(attributes, verdict.reason);
  };
  if (account === "") need("", "users", "", "", name);
  else need("", "serviceaccounts", "", namespace, account);
  for (const group of groups) need("", "groups", "", "", group);
  const extra: Record<string, readonly string[]> = {};
  for (const header of extraHeaders) {
    const key = decodeKey(header.slice(extraPrefix.length));
    extra[key] = valuesOf(headers[header]);
    for (const value of extra[key]) need("authentication.k8s.io", "userextras", key, "", value);
  }
  if (uid !== "") need("authentication.k8s.io", "uids", "", "", uid);
  return {
    name,
    groups: withImpliedGroups(name, groups, namespace),
    ...(uid === "" ? {} : { uid }),
    ...(extraHeaders.length === 0 ? {} : { extra }),
  };
}

function withImpliedGroups(name: string, groups: readonly string[], accountNamespace: string): readonly string[] {
  const all = [...groups];
  // Given groups replace those of a service account, as on the genuine server.
  if (accountNamespace !== "" && groups.length === 0)
    all.push("system:serviceaccounts", `${accountPrefix.slice(0, -1)}s:${accountNamespace}`);
  const implied = name === anonymousUser.name ? "system:unauthenticated" : "system:authenticated";
  if (!all.includes("system:unauthenticated") && !all.includes(implied)) all.push(implied);
  return all;
}

function valuesOf(header: string | undefined): readonly string[] {
  return header === undefined ? [] : header.split("\n");
}

function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch (cause) {
    throw Object.assign(badRequest(`the header Impersonate-Extra-${key} is not valid percent-encoding`), { cause });
  }
}
