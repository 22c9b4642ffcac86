import type { JsonObject } from "../json.ts";
import { keyOf } from "../kinds/kind.ts";
import { metadataOf, objectAt, objectsAt, stringAt } from "../request/json.ts";
import type { ApiUser } from "../request/request.ts";
import type { ObjectState } from "../store/state.ts";
import type { AccessAttributes, Verdict } from "./authorize.ts";
import { allows, toPolicyRule } from "./policy-rule.ts";
import type { PolicyRule } from "./policy-rule.ts";

/** API group of Roles and bindings. */
export const rbacGroup = "rbac.authorization.k8s.io";

/** What a user may do in one place, and what could not be found out. */
export interface ResolvedRules {
  readonly rules: readonly PolicyRule[];
  /** A binding to a role that does not exist, in kube-apiserver's words. */
  readonly problems: readonly string[];
}

interface Grant {
  readonly binding: JsonObject;
  readonly subject: JsonObject;
}

/**
 * Decides by the Roles and bindings in the store.
 *
 * @see https://kubernetes.io/docs/reference/access-authn-authz/rbac/
 */
export class RbacAuthorizer {
  readonly #state: ObjectState;
  /** Rules of a stored role, read once per version of it. */
  readonly #rules = new WeakMap<JsonObject, readonly PolicyRule[]>();

  constructor(state: ObjectState) {
    this.#state = state;
  }

  authorize(wanted: AccessAttributes): Verdict {
    const problems: string[] = [];
    for (const grant of this.#grantsTo(wanted.user, wanted.namespace)) {
      const rules = this.rulesOf(grant.binding, problems);
      if (rules.some((rule) => allows(rule, wanted))) {
        return { allowed: true, reason: `RBAC: allowed by ${describe(grant)}` };
      }
    }
    return { allowed: false, reason: problems.length === 0 ? "" : `RBAC: ${printProblems(problems)}` };
  }

  /** Everything that this user may do in a namespace, or at cluster scope when it is empty. */
  rulesFor(user: ApiUser, namespace: string): ResolvedRules {
    const problems: string[] = [];
    const rules = this.#grantsTo(user, namespace).flatMap(({ binding }) => this.rulesOf(binding, problems));
    return { rules, problems };
  }

  /** The rules of the role that a binding names; a role that does not exist has none and is added to `problems`. */
  rulesOf(binding: JsonObject, problems: string[] = []): readonly PolicyRule[] {
    const reference = objectAt(binding, "roleRef");
    const name = stringAt(reference, "name") ?? "";
    const isCluster = stringAt(reference, "kind") === "ClusterRole";
    const namespace = isCluster ? "" : (stringAt(metadataOf(binding), "namespace") ?? "");
    const entry = this.#state.get(`${rbacGroup}/${isCluster ? "clusterroles" : "roles"}`, keyOf(namespace, name));
    if (entry === undefined) {
      problems.push(`${isCluster ? "clusterrole" : "role"}.${rbacGroup} ${JSON.stringify(name)} not found`);
      return [];
    }
    let rules = this.#rules.get(entry.object);
    if (rules === undefined) {
      rules = objectsAt(entry.object, "rules").map(toPolicyRule);
      this.#rules.set(entry.object, rules);
    }
    return rules;
  }

  #grantsTo(user: ApiUser, namespace: string): readonly Grant[] {
    const bindings = [
      ...this.#state.list(`${rbacGroup}/clusterrolebindings`),
      ...(namespace === "" ? [] : this.#state.list(`${rbacGroup}/rolebindings`, `${namespace}/`)),
    ];
    return bindings.flatMap(({ object: binding }) => {
      const own = stringAt(metadataOf(binding), "namespace") ?? "";
      const subject = objectsAt(binding, "subjects").find((candidate) => isSubject(candidate, user, own));
      return subject === undefined ? [] : [{ binding, subject }];
    });
  }
}

/** `[a, b]` for several, as Go prints an aggregate of errors. */
export function printProblems(problems: readonly string[]): string {
  const distinct = [...new Set(problems)];
  return distinct.length === 1 ? (distinct[0] ?? "") : `[${distinct.join(", ")}]`;
}

function isSubject(subject: JsonObject, user: ApiUser, bindingNamespace: string): boolean {
  const name = stringAt(subject, "name") ?? "";
  switch (stringAt(subject, "kind")) {
    case "User":
      return user.name === name;
    case "Group":
      return user.groups.includes(name);
    case "ServiceAccount": {
      const namespace = stringAt(subject, "namespace") || bindingNamespace;
      return namespace !== "" && user.name === `system:serviceaccount:${namespace}:${name}`;
    }
    default:
      return false;
  }
}

function describe({ binding, subject }: Grant): string {
  const metadata = metadataOf(binding);
  const namespace = stringAt(metadata, "namespace") ?? "";
  const name = stringAt(metadata, "name") ?? "";
  const reference = objectAt(binding, "roleRef");
  const who =
    stringAt(subject, "kind") === "ServiceAccount"
      ? `ServiceAccount ${JSON.stringify(`${stringAt(subject, "name") ?? ""}/${stringAt(subject, "namespace") ?? ""}`)}`
      : `${stringAt(subject, "kind") ?? ""} ${JSON.stringify(stringAt(subject, "name") ?? "")}`;
  const what = namespace === "" ? `ClusterRoleBinding ${JSON.stringify(name)}` : `RoleBinding ${JSON.stringify(`${name}/${namespace}`)}`;
  return `${what} of ${stringAt(reference, "kind") ?? ""} ${JSON.stringify(stringAt(reference, "name") ?? "")} to ${who}`;
}
