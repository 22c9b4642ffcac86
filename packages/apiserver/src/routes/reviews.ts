import type { AccessAttributes } from "../auth/authorize.ts";
import { isAllowed } from "../auth/authorize.ts";
import { printProblems } from "../auth/rbac.ts";
import { audiencesOf } from "../auth/tokens.ts";
import { isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { objectAt, stringAt, stringsAt } from "../request/json.ts";
import type { ApiUser } from "../request/request.ts";
import { badRequest, invalid, methodNotAllowed } from "../request/status.ts";
import type { FieldError } from "../schema/index.ts";
import { decodeObject } from "./body.ts";
import { timestampOf } from "./context.ts";
import type { ApiContext, ResourceCall } from "./context.ts";

/** Requests that are answered and never stored: who am I, may I, whose token is this. */
export function reviewRoute(context: ApiContext, call: ResourceCall): JsonObject {
  const object = decodeObject(call);
  const spec = objectAt(object, "spec");
  const { user } = call.request;
  switch (`${call.kind.group}/${call.kind.plural}`) {
    case "authentication.k8s.io/tokenreviews":
      return { ...object, status: reviewToken(context, spec) };
    case "authentication.k8s.io/selfsubjectreviews":
      return {
        ...object,
        metadata: { creationTimestamp: timestampOf(context.clock.now()) },
        status: { userInfo: describeUser(user) },
      };
    case "authorization.k8s.io/selfsubjectaccessreviews":
      refuseIncompleteReview(call, spec);
      return { ...object, status: reviewAccess(context, user, spec) };
    case "authorization.k8s.io/selfsubjectrulesreviews":
      return { ...object, status: reviewRules(context, user, stringAt(spec, "namespace") ?? "") };
    case "authorization.k8s.io/subjectaccessreviews":
    case "authorization.k8s.io/localsubjectaccessreviews":
      refuseIncompleteReview(call, spec);
      return { ...object, status: reviewAccess(context, { name: stringAt(spec, "user") ?? "", groups: stringsAt(spec, "groups") }, spec) };
    default:
      throw methodNotAllowed();
  }
}

/** Rules cannot be listed where a function decides; then the answer says that it is incomplete. */
function reviewRules(context: ApiContext, user: ApiUser, namespace: string): JsonObject {
  if (!context.decidesByRbac && !user.groups.includes("system:masters")) {
    return {
      resourceRules: [],
      nonResourceRules: [],
      incomplete: true,
      evaluationError: "this server decides each request by itself and has no list of rules",
    };
  }
  const { rules, problems } = context.rbac.rulesFor(user, namespace);
  return {
    resourceRules: rules
      .filter((rule) => rule.resources.length > 0)
      .map(({ verbs, apiGroups, resources, resourceNames }) => ({
        verbs,
        apiGroups,
        resources,
        ...(resourceNames.length === 0 ? {} : { resourceNames }),
      })),
    nonResourceRules: rules
      .filter((rule) => rule.nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: problems.length > 0,
    ...(problems.length === 0 ? {} : { evaluationError: printProblems(problems) }),
  };
}

function reviewToken(context: ApiContext, spec: JsonObject): JsonObject {
  const token = stringAt(spec, "token") ?? "";
  if (token === "") throw badRequest("token is required for TokenReview in authentication");
  const asked = stringsAt(spec, "audiences");
  const outcome = context.accountTokens.check(token, asked.length === 0 ? undefined : asked);
  if (outcome.ok) return { authenticated: true, user: describeUser(outcome.user), audiences: outcome.audiences };
  const user = context.authenticateToken?.(token);
  const reached = user === undefined ? [] : audiencesOf(user, context.clock.now(), asked.length === 0 ? undefined : asked);
  if (user === undefined || reached.length === 0) return { user: {}, error: outcome.why };
  return { authenticated: true, user: describeUser(user), ...(asked.length === 0 ? {} : { audiences: reached }) };
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

function refuseIncompleteReview(call: ResourceCall, spec: JsonObject): void {
  const hasResource = isObject(spec["resourceAttributes"]);
  const errors: FieldError[] = [];
  if (hasResource === isObject(spec["nonResourceAttributes"])) {
    errors.push({
      reason: "FieldValueInvalid",
      field: hasResource ? "spec.nonResourceAttributes" : "spec.resourceAttributes",
      message: hasResource
        ? "Invalid value: cannot be specified in combination with resourceAttributes"
        : "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified",
    });
  }
  const isAboutOthers = !call.kind.plural.startsWith("self");
  if (isAboutOthers && (stringAt(spec, "user") ?? "") === "" && stringsAt(spec, "groups").length === 0) {
    errors.push({
      reason: "FieldValueInvalid",
      field: "spec.user",
      message: 'Invalid value: "": at least one of user or group must be specified',
    });
  }
  const namespace = stringAt(objectAt(spec, "resourceAttributes"), "namespace") ?? "";
  if (call.kind.namespaced && namespace !== call.namespace) {
    errors.push({
      reason: "FieldValueInvalid",
      field: "spec.resourceAttributes.namespace",
      message: `Invalid value: ${JSON.stringify(namespace)}: must match metadata.namespace`,
    });
  }
  if (errors.length > 0) throw invalid("authorization.k8s.io", "", "", errors);
}
