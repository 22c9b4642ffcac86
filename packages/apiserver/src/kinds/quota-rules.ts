import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, stringAt, stringsAt } from "../request/json.ts";
import type { FieldError } from "../schema/index.ts";
import { quantityOf } from "./amounts.ts";
import { isStandardQuotaName, isWholeName, podQuotaNames, validateResourceName } from "./resource-names.ts";
import { invalidValue, required } from "./rule-errors.ts";

const scopesOfPods = new Set(["Terminating", "NotTerminating", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity"]);
const scopes = new Set([...scopesOfPods, "BestEffort", "VolumeAttributesClass"]);
const immutable = "field is immutable";

/** What a ResourceQuota may not say, and what of it may not change. */
export function validateQuota(quota: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const spec = objectAt(quota, "spec");
  const errors: FieldError[] = [...validateHard(objectAt(spec, "hard"), "spec.hard"), ...validateScopes(spec), ...validateSelector(spec)];
  const before = stringsAt(objectAt(old, "spec"), "scopes").toSorted();
  const now = stringsAt(spec, "scopes").toSorted();
  if (old !== undefined && !equalJson(before, now)) errors.push(invalidValue("spec.scopes", spec["scopes"], immutable));
  return errors;
}

/** What the status of a ResourceQuota may not say. */
export function validateQuotaStatus(quota: JsonObject): readonly FieldError[] {
  const status = objectAt(quota, "status");
  return ["hard", "used"].flatMap((field) => validateHard(objectAt(status, field), `status.${field}`));
}

function validateHard(hard: JsonObject, at: string): readonly FieldError[] {
  return Object.entries(hard).flatMap(([name, amount]) => {
    const here = `${at}[${name}]`;
    const quantity = quantityOf(amount);
    const errors: FieldError[] = [...validateResourceName(name, here)];
    if (!name.includes("/") && !isStandardQuotaName(name)) errors.push(invalidValue(here, name, "must be a standard resource for quota"));
    if (quantity.mantissa < 0n) errors.push(invalidValue(here, amount, "must be greater than or equal to 0"));
    if (isWholeName(name) && quantity.toInteger() === undefined) errors.push(invalidValue(here, amount, "must be an integer"));
    return errors;
  });
}

/** Whether a scope can be asked of what a name counts. */
function fits(scope: string, name: string): boolean {
  if (scope === "BestEffort") return name === "pods";
  if (scope === "VolumeAttributesClass") return name === "persistentvolumeclaims" || name === "requests.storage";
  return !scopesOfPods.has(scope) || (podQuotaNames.has(name) && !name.endsWith("ephemeral-storage"));
}

function areOpposed(given: ReadonlySet<string>): number {
  return [
    ["BestEffort", "NotBestEffort"],
    ["Terminating", "NotTerminating"],
  ].filter((pair) => pair.every((scope) => given.has(scope))).length;
}

function validateScopes(spec: JsonObject): readonly FieldError[] {
  const given = stringsAt(spec, "scopes");
  const standard = Object.keys(objectAt(spec, "hard")).filter(isStandardQuotaName);
  const refuse = (why: string): FieldError => invalidValue("spec.scopes", given, why);
  const errors = given.flatMap((scope) => [
    ...(scopes.has(scope) ? [] : [refuse("unsupported scope")]),
    ...standard.filter((name) => !fits(scope, name)).map(() => refuse("unsupported scope applied to resource")),
  ]);
  return [...errors, ...Array.from({ length: areOpposed(new Set(given)) }, () => refuse("conflicting scopes"))];
}

function validateSelector(spec: JsonObject): readonly FieldError[] {
  const at = "spec.scopeSelector.matchExpressions";
  const selector = objectAt(spec, "scopeSelector");
  const standard = Object.keys(objectAt(spec, "hard")).filter(isStandardQuotaName);
  const expressions = objectsAt(selector, "matchExpressions");
  const errors = expressions.flatMap((expression) => {
    const scope = stringAt(expression, "scopeName") ?? "";
    const operator = stringAt(expression, "operator") ?? "";
    const values = stringsAt(expression, "values");
    const found: FieldError[] = scopes.has(scope) ? [] : [invalidValue(`${at}.scopeName`, scope, "unsupported scope")];
    for (const name of standard) if (!fits(scope, name)) found.push(invalidValue(at, selector, "unsupported scope applied to resource"));
    if (scopes.has(scope) && scope !== "PriorityClass" && scope !== "VolumeAttributesClass" && operator !== "Exists") {
      const why =
        "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
      found.push(invalidValue(`${at}.operator`, operator, why));
    }
    if (operator === "In" || operator === "NotIn") {
      const why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      if (values.length === 0) found.push(required(`${at}.values`, why));
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      const why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
      if (values.length > 0) found.push(invalidValue(`${at}.values`, values, why));
    } else {
      found.push(invalidValue(`${at}.operator`, operator, "not a valid selector operator"));
    }
    return found;
  });
  const opposed = areOpposed(new Set(expressions.map((expression) => stringAt(expression, "scopeName") ?? "")));
  return [...errors, ...Array.from({ length: opposed }, () => invalidValue("spec.scopes", spec["scopes"], "conflicting scopes"))];
}
