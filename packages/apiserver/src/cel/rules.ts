import { Optional } from "@marcbachmann/cel-js";
import { equalJson, isObject } from "../json.ts";
import { spendStep } from "../request/deadline.ts";
import { fieldError, omitValue } from "../schema/field-error.ts";
import { indexByKeys, listItemKey } from "../schema/list-keys.ts";
import type { ValidationNode } from "../schema/node.ts";
import type { FieldError, ValidationRule } from "../schema/types.ts";
import { noOldValue } from "../schema/validate-value.ts";
import { objectBudget } from "./cost/limits.ts";
import { meteredProgram, type MeteredProgram } from "./cost/meter.ts";
import { explainEvaluation } from "./explain.ts";
import { resolveFieldPath } from "./field-path.ts";
import { prepareExpression } from "./names.ts";
import { parseExpression } from "./parse-expression.ts";
import { untypedEnvironment } from "./shared-environments.ts";
import { toCel } from "./values.ts";

interface CompiledRule {
  readonly rule: ValidationRule;
  readonly evaluate: MeteredProgram;
  readonly message: MeteredProgram | undefined;
  readonly usesOldSelf: boolean;
}

const compiledRules = new WeakMap<ValidationRule, CompiledRule>();

function compiled(rule: ValidationRule): CompiledRule {
  const known = compiledRules.get(rule);
  if (known !== undefined) return known;
  const { text, usesOldSelf } = prepareExpression(rule.rule);
  const message =
    rule.messageExpression === undefined
      ? undefined
      : meteredProgram(parseExpression(untypedEnvironment(), prepareExpression(rule.messageExpression).text));
  const result = { rule, evaluate: meteredProgram(parseExpression(untypedEnvironment(), text)), message, usesOldSelf };
  compiledRules.set(rule, result);
  return result;
}

/** What the rules of one object have found and may still cost. */
interface Evaluation {
  readonly errors: FieldError[];
  readonly warnings: string[];
  /** Negative once it is used up: then no further rule runs. */
  budget: number;
}

/**
 * Evaluates the rules of an object, until their cost exceeds what one object may cost. A rule without `oldSelf` is forgiven where the value
 * did not change, with a warning.
 */
export function evaluateRules(value: unknown, node: ValidationNode, old: unknown, errors: FieldError[], warnings: string[]): void {
  evaluateBelow(value, node, "", old, { errors, warnings, budget: objectBudget });
}

function evaluateBelow(value: unknown, node: ValidationNode, path: string, old: unknown, evaluation: Evaluation): void {
  if (!node.rulesBelow || value === null || value === undefined) return;
  if (node.rules.length > 0) evaluateOwn(value, node, path, old, evaluation);
  if (evaluation.budget < 0) return;
  if (Array.isArray(value) && node.items?.rulesBelow === true) {
    const { items } = node;
    const oldItems = node.listType === "map" && Array.isArray(old) ? indexByKeys(old, node.listMapKeys) : undefined;
    for (const [index, item] of value.entries()) {
      const key = oldItems === undefined ? undefined : listItemKey(item, node.listMapKeys);
      const oldItem = key !== undefined && oldItems?.has(key) === true ? oldItems.get(key) : noOldValue;
      evaluateBelow(item, items, `${path}[${index}]`, oldItem, evaluation);
      if (evaluation.budget < 0) return;
    }
  } else if (isObject(value)) {
    const oldObject = isObject(old) ? old : undefined;
    for (const key of Object.keys(value)) {
      const property = node.properties.get(key);
      const child = property ?? (node.additional === true ? undefined : node.additional);
      if (child?.rulesBelow !== true) continue;
      const oldValue = oldObject !== undefined && Object.hasOwn(oldObject, key) ? oldObject[key] : noOldValue;
      const childPath = property === undefined ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
      evaluateBelow(value[key], child, childPath, oldValue, evaluation);
      if (evaluation.budget < 0) return;
    }
  }
}

function evaluateOwn(value: unknown, node: ValidationNode, path: string, old: unknown, evaluation: Evaluation): void {
  const hasOld = old !== noOldValue && old !== null && old !== undefined;
  let self: unknown;
  let oldSelf: unknown;
  let converted = false;
  let unchanged: boolean | undefined;
  for (const rule of node.rules) {
    spendStep();
    const program = compiled(rule);
    if (program.usesOldSelf && !hasOld && rule.optionalOldSelf !== true) continue;
    if (!converted) {
      self = toCel(value, node);
      oldSelf = hasOld ? toCel(old, node) : undefined;
      converted = true;
    }
    const scope = { self, oldSelf: rule.optionalOldSelf === true ? (hasOld ? Optional.of(oldSelf) : Optional.none()) : (oldSelf ?? null) };
    const error = verdictOf(program, scope, { value, node, path, evaluation });
    if (error === undefined) continue;
    const isForgiven = !program.usesOldSelf && hasOld && evaluation.budget >= 0 && (unchanged ??= equalJson(value, old));
    if (isForgiven) evaluation.warnings.push(`${error.field}: ${error.message}`);
    else evaluation.errors.push(error);
    if (evaluation.budget < 0) return;
  }
}

interface Site {
  readonly value: unknown;
  readonly node: ValidationNode;
  readonly path: string;
  readonly evaluation: Evaluation;
}

function verdictOf(program: CompiledRule, scope: Record<string, unknown>, site: Site): FieldError | undefined {
  const { value, path, evaluation } = site;
  const { rule } = program;
  const field = path === "" ? "<nil>" : path;
  const ownMessage = rule.message === undefined || rule.message === "" ? undefined : rule.message.trim();
  const failed = (detail: string): FieldError => fieldError("FieldValueInvalid", field, typeName(value), detail);
  const outcome = program.evaluate(scope);
  if (outcome.cost > evaluation.budget) {
    evaluation.budget = -1;
    return failed("validation failed due to running out of cost budget, no further validation rules will be run");
  }
  evaluation.budget -= outcome.cost;
  if (outcome.kind === "too dear") {
    evaluation.budget = -1;
    const which = ownMessage ?? oneLine(rule.rule);
    return failed(
      `'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: ${which}`,
    );
  }
  if (outcome.kind === "error") return failed(`${explainEvaluation(outcome.error)} evaluating rule: ${ownMessage ?? oneLine(rule.rule)}`);
  const fallback = ownMessage ?? `failed rule: ${oneLine(rule.rule)}`;
  if (outcome.value === true) return undefined;
  const below = rule.fieldPath === undefined ? undefined : resolveFieldPath(rule.fieldPath, site.node);
  const target = below === undefined ? field : path === "" ? below : `${path}.${below}`;
  const message = messageOf(program, scope, evaluation);
  if (evaluation.budget < 0) return fieldError("FieldValueInvalid", target, typeName(value), message ?? fallback);
  // A duplicate shows what there is twice and says nothing of it.
  const detail = rule.reason === "FieldValueDuplicate" ? "" : (message ?? fallback);
  return fieldError(rule.reason ?? "FieldValueInvalid", target, shownValue(value), detail);
}

function messageOf(program: CompiledRule, scope: Record<string, unknown>, evaluation: Evaluation): string | undefined {
  if (program.message === undefined) return undefined;
  const outcome = program.message(scope);
  if (outcome.cost > evaluation.budget) {
    evaluation.budget = -1;
    return "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run";
  }
  evaluation.budget -= outcome.cost;
  if (outcome.kind === "too dear") {
    evaluation.budget = -1;
    const shown = JSON.stringify(program.rule.messageExpression);
    return `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${shown}`;
  }
  // A message that cannot be computed is replaced by the static one; the rule's verdict stands.
  if (outcome.kind === "error") return undefined;
  const text = outcome.value;
  // The genuine server falls back to `message` for texts that would not fit into one line.
  if (typeof text !== "string" || text.trim() === "" || text.includes("\n") || text.length > 5_120) return undefined;
  return text.trim();
}

function oneLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}

function shownValue(value: unknown): unknown {
  return typeof value === "object" ? omitValue : value;
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}
