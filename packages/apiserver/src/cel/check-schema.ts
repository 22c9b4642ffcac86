import { fieldError } from "../schema/field-error.ts";
import { compileNode, type ValidationNode } from "../schema/node.ts";
import type { FieldError, JsonSchema, ValidationRule } from "../schema/types.ts";
import { prepareExpression } from "./names.ts";
import { libraryEnvironment } from "./shared-environments.ts";
import { declareCelType } from "./types.ts";

/** Type-checks every CEL rule of a schema. `path` is where the schema stands in the CRD. */
export function checkRulesOfSchema(schema: JsonSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  visit(compileNode(schema), { isRoot: true, path, loose: undefined }, errors);
  return errors;
}

interface Place {
  readonly isRoot: boolean;
  readonly path: string;
  /** Path of the list or map above whose parts have no identity across updates: below it `oldSelf` means nothing. */
  readonly loose: string | undefined;
}

function visit(node: ValidationNode, place: Place, errors: FieldError[]): void {
  if (!node.rulesBelow) return;
  checkRules(node, place, errors);
  const { path } = place;
  const isAtomic = node.type === "object" && node.mapType === "atomic" && !place.isRoot;
  const below = (step: string, isLoose: boolean): Place => ({
    isRoot: false,
    path: `${path}.${step}`,
    loose: place.loose ?? (isLoose ? path : undefined),
  });
  for (const [name, child] of node.properties) visit(child, below(`properties[${name}]`, isAtomic), errors);
  if (node.additional !== undefined && node.additional !== true) visit(node.additional, below("additionalProperties", isAtomic), errors);
  if (node.items !== undefined) visit(node.items, below("items", node.listType !== "map"), errors);
}

function checkRules(node: ValidationNode, place: Place, errors: FieldError[]): void {
  if (node.rules.length === 0) return;
  const environment = libraryEnvironment().clone();
  const selfType = declareCelType(node, environment, place.isRoot, { next: 0 });
  environment.registerVariable("self", selfType);
  const plain = environment.clone().registerVariable("oldSelf", selfType);
  const optional = environment.clone().registerVariable("oldSelf", `optional<${selfType}>`);
  node.rules.forEach((rule, index) => {
    const at = `${place.path}.x-kubernetes-validations[${index}]`;
    const scope = rule.optionalOldSelf === true ? optional : plain;
    checkWords(rule, at, errors);
    if (rule.rule.trim() === "") return;
    const { text, usesOldSelf } = prepareExpression(rule.rule);
    const add = (field: string, value: unknown, detail: string): void => {
      errors.push(fieldError("FieldValueInvalid", `${at}.${field}`, value, detail));
    };
    const verdict = scope.check(text);
    if (!verdict.valid) add("rule", asGoStruct(rule), `compilation failed: ${explain(verdict.error)}`);
    else if (verdict.type !== "bool" && verdict.type !== "dyn") add("rule", asGoStruct(rule), "cel expression must evaluate to a bool");
    if (usesOldSelf && place.loose !== undefined) {
      add("rule", rule.rule, `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.loose}`);
    }
    if (rule.messageExpression === undefined) return;
    const message = scope.check(prepareExpression(rule.messageExpression).text);
    if (!message.valid) add("messageExpression", asGoStruct(rule), `messageExpression compilation failed: ${explain(message.error)}`);
    else if (message.type !== "string" && message.type !== "dyn") {
      add("messageExpression", asGoStruct(rule), "messageExpression must evaluate to a string");
    }
  });
}

const reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

function checkWords(rule: ValidationRule, at: string, errors: FieldError[]): void {
  if (rule.rule.trim() === "") errors.push(fieldError("FieldValueRequired", `${at}.rule`, undefined, "rule is not specified"));
  if (rule.message !== undefined && rule.message !== "" && rule.message.trim() === "") {
    errors.push(fieldError("FieldValueInvalid", `${at}.message`, rule.message, "must be non-empty if specified"));
  }
  if (rule.reason !== undefined && !reasons.includes(rule.reason)) {
    const supported = reasons.map((reason) => JSON.stringify(reason)).join(", ");
    errors.push(fieldError("FieldValueNotSupported", `${at}.reason`, rule.reason, `supported values: ${supported}`));
  }
}

/** A rule as the genuine server shows it in errors: its Go struct as JSON. */
function asGoStruct(rule: ValidationRule): Record<string, unknown> {
  return {
    Rule: rule.rule,
    Message: rule.message ?? "",
    MessageExpression: rule.messageExpression ?? "",
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? "",
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}

function explain(error: unknown): string {
  return `ERROR: <input>: ${(error as { summary?: string } | undefined)?.summary ?? String(error)}`;
}
