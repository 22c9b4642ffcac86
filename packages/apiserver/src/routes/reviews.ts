import type { AccessAttributes } from "../auth/authorize.ts";
import { isAllowed } from "../auth/authorize.ts";
import { isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { objectAt, stringAt, stringsAt } from "../request/json.ts";
import type { ApiUser } from "../request/request.ts";
import { badRequest, methodNotAllowed } from "../request/status.ts";
import { decodeObject } from "./body.ts";
import type { ApiContext, ResourceCall } from "./context.ts";

/** Requests that are answered and never stored: who am I, may I, whose token is this. */
export function reviewRoute(context: ApiContext, call: ResourceCall): JsonObject {
  const object = decodeObject(call);
  const spec = objectAt(object, "spec");
  const { user } = call.request;
  switch (`${call.kind.group}/${call.kind.plural}`) {
    case "authentication.k8s.io/tokenreviews":
      return { ...object, status: reviewToken(context, stringAt(spec, "token") ?? "") };
    case "authentication.k8s.io/selfsubjectreviews":
      return { ...object, status: { userInfo: describeUser(user) } };
    case "authorization.k8s.io/selfsubjectaccessreviews":
      return { ...object, status: reviewAccess(context, user, spec) };
    case "authorization.k8s.io/selfsubjectrulesreviews":
      return { ...object, status: reviewRules(context, user) };
    case "authorization.k8s.io/subjectaccessreviews":
    case "authorization.k8s.io/localsubjectaccessreviews":
      return { ...object, status: reviewAccess(context, { name: stringAt(spec, "user") ?? "", groups: stringsAt(spec, "groups") }, spec) };
    default:
      throw methodNotAllowed();
  }
}

/** Rules cannot be listed where a function decides; then the answer says that it is incomplete. */
function reviewRules(context: ApiContext, user: ApiUser): JsonObject {
  if (context.authorize !== undefined && !user.groups.includes("system:masters")) {
    return {
      resourceRules: [],
      nonResourceRules: [],
      incomplete: true,
      evaluationError: "this server decides each request by itself and has no list of rules",
    };
  }
  return {
    resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
    nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
    incomplete: false,
  };
}

function reviewToken(context: ApiContext, token: string): JsonObject {
  const user = token === "" ? undefined : context.authenticateToken?.(token);
  return user === undefined
    ? { user: {}, error: "the token belongs to nobody known to this server" }
    : { authenticated: true, user: describeUser(user) };
}

function describeUser(user: ApiUser): JsonObject {
  return {
    username: user.name,
    groups: [...user.groups],
    ...(user.uid === undefined ? {} : { uid: user.uid }),
    ...(user.extra === undefined ? {} : { extra: user.extra }),
  };
}

function reviewAccess(context: ApiContext, user: ApiUser, spec: JsonObject): JsonObject {
  if (!isObject(spec["resourceAttributes"]) && !isObject(spec["nonResourceAttributes"])) {
    throw badRequest("spec: exactly one of nonResourceAttributes or resourceAttributes must be specified");
  }
  const resource = objectAt(spec, "resourceAttributes");
  const other = objectAt(spec, "nonResourceAttributes");
  const attributes: AccessAttributes = {
    user,
    verb: stringAt(resource, "verb") ?? stringAt(other, "verb") ?? "",
    group: stringAt(resource, "group") ?? "",
    version: stringAt(resource, "version") ?? "",
    resource: stringAt(resource, "resource") ?? "",
    subresource: stringAt(resource, "subresource") ?? "",
    namespace: stringAt(resource, "namespace") ?? "",
    name: stringAt(resource, "name") ?? "",
    path: stringAt(other, "path") ?? "",
  };
  const verdict = isAllowed(attributes, context.authorize);
  return { allowed: verdict.allowed, ...(verdict.reason === "" ? {} : { reason: verdict.reason }) };
}
