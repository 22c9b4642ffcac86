import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, stringAt, stringsAt } from "../request/json.ts";
import type { FieldError } from "../schema/index.ts";
import { invalidValue, required, unsupported } from "./rule-errors.ts";

const group = "rbac.authorization.k8s.io";

/** What the rules of a Role (`namespaced`) or ClusterRole may not say. */
export function validateRules(role: JsonObject, namespaced: boolean): readonly FieldError[] {
  return objectsAt(role, "rules").flatMap((rule, index) => {
    const at = `rules[${index}]`;
    const errors: FieldError[] = [];
    if (stringsAt(rule, "verbs").length === 0) errors.push(required(`${at}.verbs`, "verbs must contain at least one value"));
    const urls = stringsAt(rule, "nonResourceURLs");
    if (urls.length > 0) {
      if (namespaced) errors.push(invalidValue(`${at}.nonResourceURLs`, urls, "namespaced rules cannot apply to non-resource URLs"));
      if (["apiGroups", "resources", "resourceNames"].some((field) => stringsAt(rule, field).length > 0)) {
        errors.push(invalidValue(`${at}.nonResourceURLs`, urls, "rules cannot apply to both regular resources and non-resource URLs"));
      }
      return errors;
    }
    if (stringsAt(rule, "apiGroups").length === 0) {
      errors.push(required(`${at}.apiGroups`, "resource rules must supply at least one api group"));
    }
    if (stringsAt(rule, "resources").length === 0) {
      errors.push(required(`${at}.resources`, "resource rules must supply at least one resource"));
    }
    return errors;
  });
}

/** Fills in the API groups that a binding may leave out. */
export function prepareBinding(binding: JsonObject): JsonObject {
  const reference = objectAt(binding, "roleRef");
  const subjects = objectsAt(binding, "subjects").map((subject) => {
    const isPerson = subject["kind"] === "User" || subject["kind"] === "Group";
    return isPerson && !stringAt(subject, "apiGroup") ? { ...subject, apiGroup: group } : subject;
  });
  return {
    ...binding,
    ...(binding["roleRef"] === undefined ? {} : { roleRef: { ...reference, apiGroup: stringAt(reference, "apiGroup") || group } }),
    ...(subjects.length === 0 ? {} : { subjects }),
  };
}

/** What a RoleBinding (`namespaced`) or ClusterRoleBinding may not say; the role it names never changes. */
export function validateBinding(binding: JsonObject, old: JsonObject | undefined, namespaced: boolean): readonly FieldError[] {
  const errors: FieldError[] = [];
  const reference = objectAt(binding, "roleRef");
  const kinds = namespaced ? ["Role", "ClusterRole"] : ["ClusterRole"];
  const kind = stringAt(reference, "kind") ?? "";
  const apiGroup = stringAt(reference, "apiGroup") ?? "";
  if (apiGroup !== group) errors.push(unsupported("roleRef.apiGroup", apiGroup, [group]));
  if (!kinds.includes(kind)) errors.push(unsupported("roleRef.kind", kind, kinds));
  if ((stringAt(reference, "name") ?? "") === "") errors.push(required("roleRef.name"));
  objectsAt(binding, "subjects").forEach((subject, index) => {
    errors.push(...validateSubject(subject, `subjects[${index}]`, namespaced));
  });
  if (old !== undefined && !equalJson(objectAt(old, "roleRef"), reference)) {
    const shown = { APIGroup: apiGroup, Kind: kind, Name: stringAt(reference, "name") ?? "" };
    errors.push(invalidValue("roleRef", shown, "cannot change roleRef"));
  }
  return errors;
}

function validateSubject(subject: JsonObject, at: string, namespaced: boolean): readonly FieldError[] {
  const errors: FieldError[] = [];
  const apiGroup = stringAt(subject, "apiGroup") ?? "";
  const kind = stringAt(subject, "kind") ?? "";
  if ((stringAt(subject, "name") ?? "") === "") errors.push(required(`${at}.name`));
  switch (kind) {
    case "ServiceAccount":
      if (apiGroup !== "") errors.push(unsupported(`${at}.apiGroup`, apiGroup, [""]));
      if (!namespaced && (stringAt(subject, "namespace") ?? "") === "") errors.push(required(`${at}.namespace`));
      break;
    case "User":
    case "Group":
      if (apiGroup !== group) errors.push(unsupported(`${at}.apiGroup`, apiGroup, [group]));
      break;
    default:
      errors.push(unsupported(`${at}.kind`, kind, ["ServiceAccount", "User", "Group"]));
  }
  return errors;
}
