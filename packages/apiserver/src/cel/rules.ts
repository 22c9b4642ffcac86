import { EvaluationError, Optional, type ParseResult } from "@marcbachmann/cel-js";
import { equalJson, isObject } from "../json.ts";
import { fieldError, omitValue } from "../schema/field-error.ts";
import { indexByKeys, listItemKey } from "../schema/list-keys.ts";
import type { ValidationNode } from "../schema/node.ts";
import type { FieldError, ValidationRule } from "../schema/types.ts";
import { noOldValue } from "../schema/validate-value.ts";
import { prepareExpression } from "./names.ts";
import { untypedEnvironment } from "./shared-environments.ts";
import { toCel } from "./values.ts";

interface CompiledRule {
  readonly rule: ValidationRule;
  readonly evaluate: ParseResult;
  readonly message: ParseResult | undefined;
  readonly usesOldSelf: boolean;
}

const compiledRules = new WeakMap<ValidationRule, CompiledRule>();

function compiled(rule: ValidationRule): CompiledRule {
  const known = compiledRules.get(rule);
  if (known !== undefined) return known;
  const { text, usesOldSelf } = prepareExpression(rule.rule);
  const message =
    rule.messageExpression === undefined ? undefined : untypedEnvironment().parse(prepareExpression(rule.messageExpression).text);
  const result = { rule, evaluate: untypedEnvironment().parse(text), message, usesOldSelf };
  compiledRules.set(rule, result);
  return result;
}

/**
 * Evaluates the rules of a node and of everything below it. A rule without `oldSelf` is forgiven where the value did not change.
 */
export function evaluateRules(value: unknown, node: ValidationNode, path: string, old: unknown, errors: FieldError[]): void {
  if (!node.rulesBelow || value === null || value === undefined) return;
  if (node.rules.length > 0) evaluateOwn(value, node, path, old, errors);
  if (Array.isArray(value) && node.items?.rulesBelow === true) {
    const { items } = node;
    const oldItems = node.listType === "map" && Array.isArray(old) ? indexByKeys(old, node.listMapKeys) : undefined;
    value.forEach((item, index) => {
      const key = oldItems === undefined ? undefined : listItemKey(item, node.listMapKeys);
      const oldItem = key !== undefined && oldItems?.has(key) === true ? oldItems.get(key) : noOldValue;
      evaluateRules(item, items, `${path}[${index}]`, oldItem, errors);
    });
  } else if (isObject(value)) {
    const oldObject = isObject(old) ? old : undefined;
    for (const key of Object.keys(value)) {
      const property = node.properties.get(key);
      const child = property ?? (node.additional === true ? undefined : node.additional);
      if (child?.rulesBelow !== true) continue;
      const oldValue = oldObject !== undefined && Object.hasOwn(oldObject, key) ? oldObject[key] : noOldValue;
      const childPath = property === undefined ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
      evaluateRules(value[key], child, childPath, oldValue, errors);
    }
  }
}

function evaluateOwn(value: unknown, node: ValidationNode, path: string, old: unknown, errors: FieldError[]): void {
  const hasOld = old !== noOldValue && old !== null && old !== undefined;
  let self: unknown;
  let oldSelf: unknown;
  let converted = false;
  let unchanged: boolean | undefined;
  for (const rule of node.rules) {
    const program = compiled(rule);
    if (program.usesOldSelf && !hasOld && rule.optionalOldSelf !== true) continue;
    if (!converted) {
      self = toCel(value, node);
      oldSelf = hasOld ? toCel(old, node) : undefined;
      converted = true;
    }
    const scope = { self, oldSelf: rule.optionalOldSelf === true ? (hasOld ? Optional.of(oldSelf) : Optional.none()) : (oldSelf ?? null) };
    const error = verdictOf(program, scope, value, path);
    if (error === undefined) continue;
    if (!program.usesOldSelf && hasOld && (unchanged ??= equalJson(value, old))) continue;
    errors.push(error);
  }
}

function verdictOf(program: CompiledRule, scope: Record<string, unknown>, value: unknown, path: string): FieldError | undefined {
  const { rule } = program;
  const field = path === "" ? "<nil>" : path;
  const fallback = rule.message === undefined || rule.message === "" ? `failed rule: ${oneLine(rule.rule)}` : rule.message.trim();
  let answer: unknown;
  try {
    answer = program.evaluate(scope);
  } catch (error) {
    return fieldError("FieldValueInvalid", field, typeName(value), `${explain(error)} evaluating rule: ${fallback}`);
  }
  if (answer === true) return undefined;
  const target = rule.fieldPath === undefined ? field : `${path}${rule.fieldPath}`.replace(/^\./u, "");
  return fieldError(rule.reason ?? "FieldValueInvalid", target, shownValue(value), messageOf(program, scope) ?? fallback);
}

function messageOf(program: CompiledRule, scope: Record<string, unknown>): string | undefined {
  if (program.message === undefined) return undefined;
  try {
    const text: unknown = program.message(scope);
    // The genuine server falls back to `message` for texts that would not fit into one line.
    if (typeof text !== "string" || text.trim() === "" || text.includes("\n") || text.length > 5_120) return undefined;
    return text.trim();
  } catch {
    // A message that cannot be computed is replaced by the static one; the rule's verdict stands.
    return undefined;
  }
}

function explain(error: unknown): string {
  if (error instanceof EvaluationError)
    return error.code === "no_such_key" ? error.summary.replace("No such key", "no such key") : error.summary;
  return error instanceof Error ? error.message : String(error);
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
