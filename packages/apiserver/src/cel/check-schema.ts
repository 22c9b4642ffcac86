import type { Environment } from "@marcbachmann/cel-js";
import { fieldError } from "../schema/field-error.ts";
import { compileNode, type ValidationNode } from "../schema/node.ts";
import { compileRe2 } from "../patterns/re2.ts";
import { spendTime } from "../request/deadline.ts";
import type { FieldError, JsonSchema, ValidationRule } from "../schema/types.ts";
import { callOf, type CelNode } from "./cost/syntax.ts";
import { resolveFieldPath } from "./field-path.ts";
import { prepareExpression } from "./names.ts";
import { parseExpression } from "./parse-expression.ts";
import { libraryEnvironment } from "./shared-environments.ts";
import { declareCelType, hasCelType } from "./types.ts";

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
  checkRules(node, place, errors);
}

function checkRules(node: ValidationNode, place: Place, errors: FieldError[]): void {
  if (node.rules.length === 0) return;
  if (!hasCelType(node)) {
    const why =
      "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations";
    errors.push({ reason: "InternalError", field: `${place.path}.x-kubernetes-validations`, message: `Internal error: ${why}` });
    return;
  }
  const environment = libraryEnvironment().clone();
  const selfType = declareCelType(node, environment, place.isRoot, { next: 0 });
  environment.registerVariable("self", selfType);
  const plain = environment.clone().registerVariable("oldSelf", selfType);
  const optional = environment.clone().registerVariable("oldSelf", `optional<${selfType}>`);
  node.rules.forEach((rule, index) => {
    const at = `${place.path}.x-kubernetes-validations[${index}]`;
    const scope = rule.optionalOldSelf === true ? optional : plain;
    const words = errors.length;
    spendTime();
    checkWords(rule, at, node, errors);
    if (errors.length > words || rule.rule.trim() === "") return;
    const { text, usesOldSelf } = prepareExpression(rule.rule);
    const add = (field: string, value: unknown, detail: string): void => {
      errors.push(fieldError("FieldValueInvalid", `${at}.${field}`, value, detail));
    };
    const verdict = checked(scope, text);
    if (!verdict.ok) add("rule", asGoStruct(rule), `compilation failed: ${verdict.detail}`);
    else if (verdict.type !== "bool" && verdict.type !== "dyn") add("rule", asGoStruct(rule), "cel expression must evaluate to a bool");
    if (usesOldSelf && place.loose !== undefined) {
      add("rule", rule.rule, `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.loose}`);
    }
    if (!(usesOldSelf && verdict.ok) && rule.optionalOldSelf !== undefined) {
      add("optionalOldSelf", rule.optionalOldSelf, "may not be set if oldSelf is not used in rule");
    }
    if (rule.messageExpression === undefined || rule.messageExpression === "") return;
    const message = checked(scope, prepareExpression(rule.messageExpression).text);
    if (!message.ok) add("messageExpression", asGoStruct(rule), `messageExpression compilation failed: ${message.detail}`);
    else if (message.type !== "string" && message.type !== "dyn") {
      add("messageExpression", asGoStruct(rule), "messageExpression must evaluate to a string");
    }
  });
}

type Checked = { readonly ok: true; readonly type: string | undefined } | { readonly ok: false; readonly detail: string };

function checked(environment: Environment, text: string): Checked {
  try {
    const program = parseExpression(environment, text);
    const verdict = program.check();
    const broken = brokenPattern(program.ast);
    if (verdict.valid && broken !== undefined) return { ok: false, detail: explain(broken) };
    if (verdict.valid) return { ok: true, type: verdict.type };
    return { ok: false, detail: explain(verdict.error) };
  } catch (error) {
    return { ok: false, detail: explain(error) };
  }
}

/** Why a pattern that is written out in an expression is none. */
function brokenPattern(value: unknown): Error | undefined {
  if (Array.isArray(value)) return value.map(brokenPattern).find((error) => error !== undefined);
  if (typeof value !== "object" || value === null || !("op" in value)) return undefined;
  const node = value as CelNode;
  const call = callOf(node);
  const pattern = call?.name === "matches" ? call.args.at(-1) : undefined;
  if (pattern?.op === "value" && typeof pattern.args === "string") {
    try {
      compileRe2(pattern.args);
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }
  return brokenPattern(node.args);
}

const reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

function checkWords(rule: ValidationRule, at: string, node: ValidationNode, errors: FieldError[]): void {
  if (rule.rule.trim() === "") errors.push(fieldError("FieldValueRequired", `${at}.rule`, undefined, "rule is not specified"));
  else if (rule.message !== undefined && rule.message !== "" && rule.message.trim() === "") {
    errors.push(fieldError("FieldValueInvalid", `${at}.message`, rule.message, "must be non-empty if specified"));
  } else if (hasLineBreak(rule.message?.trim())) {
    errors.push(fieldError("FieldValueInvalid", `${at}.message`, rule.message, "must not contain line breaks"));
  } else if (hasLineBreak(rule.rule.trim()) && (rule.message ?? "") === "") {
    errors.push(fieldError("FieldValueRequired", `${at}.message`, undefined, "message must be specified if rule contains line breaks"));
  }
  if (rule.messageExpression !== undefined && rule.messageExpression !== "" && rule.messageExpression.trim() === "") {
    errors.push(fieldError("FieldValueRequired", `${at}.messageExpression`, undefined, "messageExpression must be non-empty if specified"));
  }
  if (rule.reason !== undefined && !reasons.includes(rule.reason)) {
    const supported = reasons.map((reason) => JSON.stringify(reason)).join(", ");
    errors.push(fieldError("FieldValueNotSupported", `${at}.reason`, rule.reason, `supported values: ${supported}`));
  }
  const { fieldPath } = rule;
  if (fieldPath === undefined || fieldPath === "") return;
  const refuse = (detail: string): void => void errors.push(fieldError("FieldValueInvalid", `${at}.fieldPath`, fieldPath, detail));
  if (fieldPath.trim() === "") refuse("must be non-empty if specified");
  if (hasLineBreak(fieldPath)) refuse("must not contain line breaks");
  if (resolveFieldPath(fieldPath, node) === undefined) refuse("must be a valid path");
}

function hasLineBreak(text: string | undefined): boolean {
  return text !== undefined && /[\n\r]/u.test(text);
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
