import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, objectsAt, stringAt } from "../request/json.ts";
import type { ApiUser } from "../request/request.ts";
import { forbidden, notFound } from "../request/status.ts";
import { isAllowed } from "./authorize.ts";
import type { Authorize } from "./authorize.ts";
import { joinVerbs, printRule, toPolicyRule, uncovered } from "./policy-rule.ts";
import type { PolicyRule } from "./policy-rule.ts";
import { printProblems, rbacGroup } from "./rbac.ts";
import type { RbacAuthorizer } from "./rbac.ts";

/** A write of a Role, ClusterRole or binding. */
export interface PermissionWrite {
  readonly user: ApiUser;
  readonly plural: string;
  readonly namespace: string;
  readonly object: JsonObject;
  /** `undefined` on creation. */
  readonly live: JsonObject | undefined;
}

/**
 * Nobody may grant what he does not have himself, unless the verbs `escalate` (on roles) or `bind` (on the role that is bound) allow it.
 *
 * @throws 403 with the rules that are missing, 404 for a binding to a role that does not exist
 */
export function refuseEscalation(rbac: RbacAuthorizer, authorize: Authorize, write: PermissionWrite): void {
  if (write.user.groups.includes("system:masters")) return;
  if (write.plural.endsWith("bindings")) refuseBinding(rbac, authorize, write);
  else refuseRole(rbac, authorize, write);
}

function refuseRole(rbac: RbacAuthorizer, authorize: Authorize, write: PermissionWrite): void {
  const { user, plural, object, live } = write;
  const isSame = (field: string): boolean => equalJson(live?.[field] ?? null, object[field] ?? null);
  if (live !== undefined && isSame("rules") && isSame("aggregationRule")) return;
  if (may(authorize, write, "escalate", plural, "")) return;
  const name = stringAt(metadataOf(object), "name") ?? "";
  if (object["aggregationRule"] !== undefined && !isSame("aggregationRule")) {
    const everything: readonly PolicyRule[] = [
      { ...noRule, verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
      { ...noRule, verbs: ["*"], nonResourceURLs: ["*"] },
    ];
    if (uncovered(rbac.rulesFor(user, "").rules, everything).length > 0) {
      throw forbidden({ group: rbacGroup, plural }, name, "must have cluster-admin privileges to use the aggregationRule");
    }
  }
  refuseUncovered(rbac, write, name, objectsAt(object, "rules").map(toPolicyRule));
}

function refuseBinding(rbac: RbacAuthorizer, authorize: Authorize, write: PermissionWrite): void {
  const { plural, object, live } = write;
  const isSame = (field: string): boolean => equalJson(live?.[field] ?? null, object[field] ?? null);
  if (live !== undefined && isSame("subjects") && isSame("roleRef")) return;
  const reference = objectAt(object, "roleRef");
  const role = stringAt(reference, "name") ?? "";
  if (may(authorize, write, "bind", stringAt(reference, "kind") === "ClusterRole" ? "clusterroles" : "roles", role)) return;
  const problems: string[] = [];
  const rules = rbac.rulesOf(object, problems);
  if (problems.length > 0) throw notFound({ group: rbacGroup, plural }, role);
  refuseUncovered(rbac, write, stringAt(metadataOf(object), "name") ?? "", rules);
}

const noRule: PolicyRule = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };

function may(authorize: Authorize, { user, namespace }: PermissionWrite, verb: string, resource: string, name: string): boolean {
  return isAllowed({ user, verb, group: rbacGroup, version: "*", resource, subresource: "", namespace, name, path: "" }, authorize).allowed;
}

function refuseUncovered(rbac: RbacAuthorizer, write: PermissionWrite, name: string, wanted: readonly PolicyRule[]): void {
  const { user, namespace, plural } = write;
  const owned = rbac.rulesFor(user, namespace);
  const missing = uncovered(owned.rules, wanted);
  if (missing.length === 0) return;
  const lines = joinVerbs(missing).map(printRule).toSorted();
  const groups = user.groups.map((group) => JSON.stringify(group)).join(" ");
  const problems = owned.problems.length === 0 ? "" : `; resolution errors: ${printProblems(owned.problems)}`;
  throw forbidden(
    { group: rbacGroup, plural },
    name,
    `user ${JSON.stringify(user.name)} (groups=[${groups}]) is attempting to grant RBAC permissions not currently held:\n${lines.join("\n")}${problems}`,
  );
}
