import type { JsonObject } from "../../json.ts";
import { matchesLabelSelector } from "../../request/label-selector-object.ts";
import { metadataOf, objectAt, objectsAt, stringAt, stringsAt } from "../../request/json.ts";

/** What a policy is asked about. */
export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly subresource: string;
  readonly isNamespaced: boolean;
  readonly namespace: string;
  readonly name: string;
  /** In the version of the request; `undefined` when something is deleted. */
  readonly object: JsonObject | undefined;
  /** Before the change; `undefined` when something is created. */
  readonly oldObject: JsonObject | undefined;
}

/**
 * True when a request is what `matchConstraints` of a policy, or `matchResources` of a binding, are about. Without rules (bindings only)
 * every resource is.
 *
 * @param namespaceLabels of the request's namespace, or of the object where it is a namespace; `undefined` for what has none
 */
export function matchesResources(constraints: JsonObject, request: AdmissionRequest, namespaceLabels: JsonObject | undefined): boolean {
  const rules = objectsAt(constraints, "resourceRules");
  if (rules.length > 0 && !rules.some((rule) => matchesRule(rule, request, stringAt(constraints, "matchPolicy") ?? "Equivalent")))
    return false;
  if (objectsAt(constraints, "excludeResourceRules").some((rule) => matchesRule(rule, request, "Exact"))) return false;
  if (namespaceLabels !== undefined && !matchesLabelSelector(objectAt(constraints, "namespaceSelector"), namespaceLabels)) return false;
  const selector = objectAt(constraints, "objectSelector");
  return [request.object, request.oldObject].some(
    (object) => object !== undefined && matchesLabelSelector(selector, objectAt(metadataOf(object), "labels")),
  );
}

function matchesRule(rule: JsonObject, request: AdmissionRequest, matchPolicy: string): boolean {
  const has = (field: string, value: string): boolean => {
    const values = stringsAt(rule, field);
    return values.includes("*") || values.includes(value);
  };
  const names = stringsAt(rule, "resourceNames");
  const scope = stringAt(rule, "scope") ?? "*";
  const scopeFits = scope === "*" || (scope === "Namespaced") === (request.isNamespaced || request.plural === "namespaces");
  return (
    has("operations", request.operation) &&
    has("apiGroups", request.group) &&
    // Every version of a kind is the same objects here, so an equivalent request is one of any version.
    (matchPolicy === "Equivalent" || has("apiVersions", request.version)) &&
    (scope === "Namespaced" ? request.isNamespaced : scopeFits) &&
    (names.length === 0 || names.includes(request.name)) &&
    stringsAt(rule, "resources").some((pattern) => matchesResource(pattern, request))
  );
}

function matchesResource(pattern: string, { plural, subresource }: AdmissionRequest): boolean {
  const [resource = "", below] = pattern.split("/");
  if (resource !== "*" && resource !== plural) return false;
  return below === undefined ? subresource === "" : below === "*" || below === subresource;
}
