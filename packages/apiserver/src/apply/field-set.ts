import { getOwn, isObject, setOwn, type JsonObject } from "../json.ts";
import { spendStep } from "../request/deadline.ts";

/**
 * A set of field paths, as server-side apply keeps it per manager: a tree whose edges are path elements in the notation of FieldsV1
 * (`f:name`, `k:{"key":"value"}`, `v:"value"`, `i:0`). Immutable by convention: operations return new trees and may share parts.
 */
export interface FieldSet {
  /** The path that ends here is in the set. */
  readonly member: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

/** The set without any path. */
export const emptySet: FieldSet = { member: false, children: new Map() };

/** The set of the path that ends at this very node. */
export const leafSet: FieldSet = { member: true, children: new Map() };

function build(member: boolean, children: ReadonlyMap<string, FieldSet>): FieldSet {
  return children.size === 0 ? (member ? leafSet : emptySet) : { member, children };
}

/** True when no path is in the set. */
export function isEmptySet(set: FieldSet): boolean {
  return !set.member && [...set.children.values()].every(isEmptySet);
}

/** Paths in either set; `a` itself when it has all of them. */
export function unionSets(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || b === emptySet) return a;
  if (a === emptySet) return b;
  let children: Map<string, FieldSet> | undefined;
  for (const [step, child] of b.children) {
    spendStep();
    const other = a.children.get(step);
    const joined = other === undefined ? child : unionSets(other, child);
    if (joined === other) continue;
    children ??= new Map(a.children);
    children.set(step, joined);
  }
  if (children === undefined && (a.member || !b.member)) return a;
  return build(a.member || b.member, children ?? a.children);
}

/** Paths of `a` that are not in `b`. A path below a removed one stays. */
export function subtractSets(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, b, (inA, inB) => inA && !inB, true);
}

/** Paths in both sets. */
export function intersectSets(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, b, (inA, inB) => inA && inB, false);
}

function combine(a: FieldSet, b: FieldSet, keeps: (inA: boolean, inB: boolean) => boolean, keepOnlyA: boolean): FieldSet {
  spendStep();
  const children = new Map<string, FieldSet>();
  for (const [step, child] of a.children) {
    const other = b.children.get(step);
    const kept = other === undefined ? (keepOnlyA ? child : emptySet) : combine(child, other, keeps, keepOnlyA);
    if (!isEmptySet(kept)) children.set(step, kept);
  }
  return build(keeps(a.member, b.member), children);
}

/** Paths of `a` that are neither in `b` nor below a path of `b`. */
export function subtractRecursively(a: FieldSet, b: FieldSet): FieldSet {
  if (b === emptySet) return a;
  const children = new Map<string, FieldSet>();
  for (const [step, child] of a.children) {
    const other = b.children.get(step);
    if (other?.member === true) continue;
    const kept = other === undefined ? child : subtractRecursively(child, other);
    if (!isEmptySet(kept)) children.set(step, kept);
  }
  return build(a.member && !b.member, children);
}

/** Every path of the set, as lists of path elements: at each level first the members, then what lies below. */
export function* pathsOf(set: FieldSet, prefix: readonly string[] = []): Generator<readonly string[]> {
  const steps = sortedSteps(set);
  for (const step of steps) if (set.children.get(step)?.member === true) yield [...prefix, step];
  for (const step of steps) yield* pathsOf(set.children.get(step) ?? emptySet, [...prefix, step]);
}

/** Builds a set from paths. */
export function setOfPaths(paths: readonly (readonly string[])[]): FieldSet {
  let set = emptySet;
  for (const path of paths)
    set = unionSets(
      set,
      path.reduceRight<FieldSet>((below, step) => ({ member: false, children: new Map([[step, below]]) }), leafSet),
    );
  return set;
}

const kindOrder = "fkvi";

function sortedSteps(set: FieldSet): string[] {
  return [...set.children.keys()].sort((a, b) => {
    const byKind = kindOrder.indexOf(a[0] ?? "") - kindOrder.indexOf(b[0] ?? "");
    return byKind !== 0 ? byKind : a < b ? -1 : a > b ? 1 : 0;
  });
}

/** Sets by what they are printed as, and the other way round: a manager's set outlives many writes of others. Neither is ever changed in place. */
const printedForms = new WeakMap<FieldSet, JsonObject>();
const readForms = new WeakMap<JsonObject, FieldSet>();

/** The set as FieldsV1 JSON, the same object each time. */
export function printFields(set: FieldSet): JsonObject {
  const known = printedForms.get(set);
  if (known !== undefined) return known;
  const printed = printAnew(set);
  printedForms.set(set, printed);
  if (!set.member) readForms.set(printed, set);
  return printed;
}

function printAnew(set: FieldSet): JsonObject {
  const fields: JsonObject = {};
  for (const step of sortedSteps(set)) {
    const child = set.children.get(step) ?? emptySet;
    if (isEmptySet(child)) continue;
    const printed = printAnew(child);
    if (child.member && Object.keys(printed).length > 0) setOwn(fields, step, { ".": {}, ...printed });
    else setOwn(fields, step, printed);
  }
  return fields;
}

/**
 * Reads FieldsV1 JSON.
 *
 * @returns undefined when it is malformed
 */
export function parseFields(fields: unknown): FieldSet | undefined {
  if (!isObject(fields)) return undefined;
  const known = readForms.get(fields);
  if (known !== undefined) return known;
  return parseAnew(fields);
}

function parseAnew(fields: unknown): FieldSet | undefined {
  if (!isObject(fields)) return undefined;
  const children = new Map<string, FieldSet>();
  let member = false;
  for (const step of Object.keys(fields)) {
    if (step === ".") {
      member = true;
      continue;
    }
    if (!/^[fkvi]:/u.test(step)) return undefined;
    const value = getOwn(fields, step);
    const child = parseAnew(value);
    if (child === undefined) return undefined;
    children.set(step, child.children.size === 0 ? leafSet : child);
  }
  return build(member, children);
}
