import type { JsonObject } from "../../json.ts";
import { each, fill, inside } from "../../kinds/defaults/fill.ts";
import { forbiddenValue, invalidValue, required, unsupported } from "../../kinds/rule-errors.ts";
import { objectAt, objectsAt, stringAt, stringsAt } from "../../request/json.ts";
import type { FieldError } from "../../schema/index.ts";
import { checkExpression } from "./expressions.ts";

const withRuleDefaults = (constraints: JsonObject): JsonObject => {
  const filled = fill(constraints, { matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {} });
  const scoped = (rule: JsonObject): JsonObject => fill(rule, { scope: "*" });
  return each(each(filled, "resourceRules", scoped), "excludeResourceRules", scoped);
};

/** Fills in what a ValidatingAdmissionPolicy leaves out. */
export function preparePolicy(policy: JsonObject): JsonObject {
  const filled = fill(policy, { status: {} });
  return inside(filled, "spec", (spec) => inside(fill(spec, { failurePolicy: "Fail" }), "matchConstraints", withRuleDefaults));
}

/** Fills in what a ValidatingAdmissionPolicyBinding leaves out. */
export function prepareBinding(binding: JsonObject): JsonObject {
  return inside(binding, "spec", (spec) => inside(spec, "matchResources", withRuleDefaults));
}

const reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"];

/** What a ValidatingAdmissionPolicy may not say. */
export function validatePolicy(policy: JsonObject): readonly FieldError[] {
  const spec = objectAt(policy, "spec");
  const errors: FieldError[] = [];
  const failure = stringAt(spec, "failurePolicy") ?? "";
  if (!["Fail", "Ignore"].includes(failure)) errors.push(unsupported("spec.failurePolicy", failure, ["Fail", "Ignore"]));
  if (spec["matchConstraints"] === undefined) errors.push(required("spec.matchConstraints"));
  else if (objectsAt(spec["matchConstraints"], "resourceRules").length === 0) errors.push(required("spec.matchConstraints.resourceRules"));
  else errors.push(...refuseRules(objectAt(spec, "matchConstraints"), "spec.matchConstraints"));
  const paramKind = spec["paramKind"];
  if (paramKind !== undefined) {
    for (const field of ["apiVersion", "kind"]) if (!stringAt(paramKind, field)) errors.push(required(`spec.paramKind.${field}`));
  }
  objectsAt(spec, "variables").forEach((variable, index) => {
    const name = stringAt(variable, "name") ?? "";
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/u.test(name)) {
      errors.push(
        name === ""
          ? required(`spec.variables[${index}].name`, "name is not specified")
          : invalidValue(`spec.variables[${index}].name`, name, "name is not a valid CEL identifier"),
      );
    }
    errors.push(...refuseExpression(variable, `spec.variables[${index}]`, "expression", undefined));
  });
  objectsAt(spec, "matchConditions").forEach((condition, index) => {
    if (!stringAt(condition, "name")) errors.push(required(`spec.matchConditions[${index}].name`));
    errors.push(...refuseExpression(condition, `spec.matchConditions[${index}]`, "expression", "bool"));
  });
  const validations = objectsAt(spec, "validations");
  const annotations = objectsAt(spec, "auditAnnotations");
  if (validations.length === 0 && annotations.length === 0) {
    const why = "validations or auditAnnotations must contain at least one item";
    errors.push(required("spec.validations", why), required("spec.auditAnnotations", why));
  }
  validations.forEach((validation, index) => {
    const at = `spec.validations[${index}]`;
    errors.push(...refuseExpression(validation, at, "expression", "bool"));
    if (stringAt(validation, "messageExpression")) errors.push(...refuseExpression(validation, at, "messageExpression", "string"));
    const message = stringAt(validation, "message") ?? "";
    if (/[\n\r]/u.test(message.trim())) errors.push(invalidValue(`${at}.message`, message, "message must not contain line breaks"));
    const reason = stringAt(validation, "reason");
    if (reason !== undefined && !reasons.includes(reason)) errors.push(unsupported(`${at}.reason`, reason, reasons));
  });
  annotations.forEach((annotation, index) => {
    if (!stringAt(annotation, "key")) errors.push(required(`spec.auditAnnotations[${index}].key`));
    errors.push(...refuseExpression(annotation, `spec.auditAnnotations[${index}]`, "valueExpression", "string"));
  });
  return errors;
}

function refuseRules(constraints: JsonObject, path: string): readonly FieldError[] {
  return ["resourceRules", "excludeResourceRules"].flatMap((list) =>
    objectsAt(constraints, list).flatMap((rule, index) =>
      ["apiGroups", "apiVersions", "operations", "resources"]
        .filter((field) => stringsAt(rule, field).length === 0)
        .map((field) => required(`${path}.${list}[${index}].${field}`)),
    ),
  );
}

function refuseExpression(holder: JsonObject, at: string, field: string, wanted: "bool" | "string" | undefined): readonly FieldError[] {
  const expression = stringAt(holder, field) ?? "";
  if (expression.trim() === "") return [required(`${at}.${field}`, `${field} is not specified`)];
  const verdict = checkExpression(expression);
  if (!verdict.ok) return [invalidValue(`${at}.${field}`, expression, `compilation failed: ERROR: <input>: ${verdict.why}`)];
  const isFitting =
    wanted === undefined || verdict.type === wanted || verdict.type === "dyn" || (field === "valueExpression" && verdict.type === "null");
  return isFitting ? [] : [invalidValue(`${at}.${field}`, expression, `must evaluate to ${wanted}`)];
}

const actions = ["Audit", "Deny", "Warn"];

/** What a ValidatingAdmissionPolicyBinding may not say. */
export function validateBinding(binding: JsonObject): readonly FieldError[] {
  const spec = objectAt(binding, "spec");
  const errors: FieldError[] = [];
  if (!stringAt(spec, "policyName")) errors.push(required("spec.policyName"));
  const given = stringsAt(spec, "validationActions");
  if (given.length === 0) errors.push(required("spec.validationActions"));
  given.forEach((action, index) => {
    if (!actions.includes(action)) errors.push(unsupported(`spec.validationActions[${index}]`, action, actions));
  });
  if (given.includes("Deny") && given.includes("Warn")) {
    const why =
      "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
    errors.push(invalidValue("spec.validationActions", given, why));
  }
  const param = spec["paramRef"];
  if (param !== undefined) {
    const name = stringAt(param, "name") ?? "";
    const hasSelector = (param as JsonObject)["selector"] !== undefined;
    if (name !== "" && hasSelector) errors.push(forbiddenValue("spec.paramRef.name", "name and selector are mutually exclusive"));
    else if (name === "" && !hasSelector) errors.push(required("spec.paramRef", "one of name or selector must be specified"));
    const absent = stringAt(param, "parameterNotFoundAction");
    if (absent === undefined) errors.push(required("spec.paramRef.parameterNotFoundAction"));
    else if (absent !== "Allow" && absent !== "Deny") {
      errors.push(unsupported("spec.paramRef.parameterNotFoundAction", absent, ["Deny", "Allow"]));
    }
  }
  return errors;
}
