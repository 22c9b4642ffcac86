import { printGo, printGoSyntax } from "../go-print.ts";
import { isObject, type JsonObject } from "../json.ts";
import { spendStep } from "../request/deadline.ts";
import type { SchemaNode } from "../schema/index.ts";
import { itemElement, keyDefault, printPath } from "./path-element.ts";

/**
 * Checks that an applied configuration fits the schema's types and declares no unknown field: server-side apply refuses both before it
 * merges anything. Nulls pass; validation judges them later.
 *
 * @returns problems such as `.spec.foo: field not declared in schema`
 */
export function checkApplied(applied: JsonObject, root: SchemaNode): string[] {
  const problems: string[] = [];
  checkValue(applied, root, [], problems);
  return problems;
}

/** The problems as one text, the way the genuine server joins them. */
export function joinProblems(problems: readonly string[]): string {
  return problems.length === 1 ? (problems[0] ?? "") : ["errors:", ...problems.map((problem) => `  ${problem}`)].join("\n");
}

/** Returns false when the surrounding map is not to be looked at any further. */
function checkValue(value: unknown, node: SchemaNode | undefined, path: readonly string[], problems: string[]): void {
  spendStep();
  if (value === null || node === undefined || node.intOrString) return;
  const add = (text: string): void => {
    problems.push(`${printPath(path)}: ${text}`);
  };
  switch (node.type) {
    case "object":
      if (!isObject(value)) add(`expected map, got &{${printGo(value)}}`);
      else checkMap(value, node, path, problems);
      return;
    case "array":
      if (!Array.isArray(value)) add(`expected list, got &{${printGo(value)}}`);
      else checkList(value, node, path, problems);
      return;
    case "string":
      if (typeof value !== "string") add(`expected string, got &value.valueUnstructured{Value:${printGoSyntax(value)}}`);
      return;
    case "integer":
    case "number":
      if (typeof value !== "number") add(`expected numeric (int or float), got ${goType(value)}`);
      return;
    case "boolean":
      if (typeof value !== "boolean") add(`expected boolean, got &{${printGo(value)}}`);
      return;
    default:
  }
}

function checkMap(value: JsonObject, node: SchemaNode, path: readonly string[], problems: string[]): void {
  const isOpen = node.preserveUnknown || node.additional === true || (node.properties.size === 0 && node.additional === undefined);
  for (const key of Object.keys(value).sort()) {
    const step = [...path, `f:${key}`];
    const child = node.properties.get(key) ?? (node.additional === true ? undefined : node.additional);
    if (child === undefined && !isOpen) {
      problems.push(`${printPath(step)}: field not declared in schema`);
      return;
    }
    checkValue(value[key], child, step, problems);
  }
}

function checkList(list: readonly unknown[], node: SchemaNode, path: readonly string[], problems: string[]): void {
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    if (node.listType === "atomic") {
      checkValue(item, node.items, [...path, `i:${index}`], problems);
      continue;
    }
    const flaw = itemFlaw(item, node);
    const element = flaw === undefined ? itemElement(item, node) : undefined;
    if (flaw !== undefined || element === undefined) {
      problems.push(`${printPath(path)}: element ${index}: ${flaw ?? "the item has no identity"}`);
      return;
    }
    if (seen.has(element)) {
      problems.push(`${printPath(path)}: duplicate entries for key ${printPath([element])}`);
      return;
    }
    seen.add(element);
    checkValue(item, node.items, [...path, element], problems);
  }
}

function itemFlaw(item: unknown, list: SchemaNode): string | undefined {
  if (list.listType === "set") {
    if (item === null) return "associative list without keys has an element that's an explicit null";
    if (isObject(item)) return "associative list without keys has an element that's a map type";
    return undefined;
  }
  if (item === null) return "associative list with keys may not have a null element";
  if (!isObject(item)) return "associative list with keys may not have non-map elements";
  const named = list.listMapKeys.some((key) => Object.hasOwn(item, key) || keyDefault(list, key) !== undefined);
  if (named) return undefined;
  const keys = list.listMapKeys.map((key) => JSON.stringify(key)).join(" ");
  return `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`;
}

function goType(value: unknown): string {
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "string";
  return Array.isArray(value) ? "[]interface {}" : "map[string]interface {}";
}
