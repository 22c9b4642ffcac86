import { equalJson, isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, objectsAt } from "../request/json.ts";
import { matchesLabelSelector } from "../request/label-selector-object.ts";
import type { ObjectState } from "../store/state.ts";
import { rbacGroup } from "./rbac.ts";

const clusterRoles = `${rbacGroup}/clusterroles`;

/**
 * Writes the rules of every ClusterRole with an `aggregationRule`: those of the ClusterRoles that its selectors choose, in order of name and
 * without repetition. Roles may gather from gathered ones (`admin` from `edit` from `view`), so it goes on until nothing changes.
 */
export function aggregateRoles(state: ObjectState): void {
  const limit = state.count(clusterRoles) + 1;
  for (let round = 0, changed = true; changed && round < limit; round++) {
    changed = false;
    for (const { key, object } of state.list(clusterRoles)) {
      if (!isObject(object["aggregationRule"])) continue;
      const rules = gathered(state, object);
      if (equalJson(rules, objectsAt(object, "rules"))) continue;
      state.put(clusterRoles, key, { ...object, rules });
      changed = true;
    }
  }
}

function gathered(state: ObjectState, role: JsonObject): readonly JsonObject[] {
  const selectors = objectsAt(objectAt(role, "aggregationRule"), "clusterRoleSelectors");
  const rules: JsonObject[] = [];
  for (const { object } of state.list(clusterRoles)) {
    if (metadataOf(object)["name"] === metadataOf(role)["name"]) continue;
    if (!selectors.some((selector) => matchesLabelSelector(selector, objectAt(metadataOf(object), "labels")))) continue;
    for (const rule of objectsAt(object, "rules")) {
      if (!rules.some((known) => equalJson(known, rule))) rules.push(rule);
    }
  }
  return rules;
}
