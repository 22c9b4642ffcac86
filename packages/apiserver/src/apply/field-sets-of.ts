import { equalJson, isObject } from "../json.ts";
import { spendStep } from "../request/deadline.ts";
import type { SchemaNode } from "../schema/index.ts";
import { emptySet, isEmptySet, leafSet, unionSets, type FieldSet } from "./field-set.ts";
import { itemElement } from "./path-element.ts";
import { entryOf, shapeOf } from "./walk.ts";

/** Every field that a value sets, as ownership of an applied configuration counts them. */
export function fieldsOf(value: unknown, node: SchemaNode | undefined): FieldSet {
  spendStep();
  const shape = shapeOf(value, node);
  if (shape === "leaf") return leafSet;
  const children = new Map<string, FieldSet>();
  if (shape === "list") {
    if (!Array.isArray(value)) return emptySet;
    for (const item of value) {
      const element = itemElement(item, node as SchemaNode);
      if (element === undefined) continue;
      children.set(element, children.has(element) ? leafSet : asMember(fieldsOf(item, node?.items)));
    }
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      const { child, declared } = entryOf(node, key);
      const inner = value[key];
      const below = fieldsOf(inner, child);
      const standsAlone = inner === null || (isObject(inner) && Object.keys(inner).length === 0) || !declared;
      const set = standsAlone ? asMember(below) : below;
      if (!isEmptySet(set)) children.set(`f:${key}`, set);
    }
  }
  return children.size === 0 ? emptySet : { member: false, children };
}

function asMember(set: FieldSet): FieldSet {
  return set.member ? set : set.children.size === 0 ? leafSet : { member: true, children: set.children };
}

/** How two values differ: paths that came, went or changed. */
export interface Comparison {
  readonly added: FieldSet;
  readonly removed: FieldSet;
  readonly modified: FieldSet;
}

const same: Comparison = { added: emptySet, removed: emptySet, modified: emptySet };

/** Compares two values field by field. `undefined` means absent; containers that come or go count themselves too. */
export function compareFields(before: unknown, after: unknown, node: SchemaNode | undefined): Comparison {
  spendStep();
  if (before === after) return same;
  const shape = shapeOf(after ?? before, node);
  const bothBare = isBare(before) && isBare(after);
  const wasLeaf = shapeOf(before ?? after, node) === "leaf";
  if (before !== undefined && after !== undefined && wasLeaf !== (shape === "leaf")) {
    // A container in the place of a scalar, or the other way round: its members come or go, and the place itself has changed.
    return {
      added: wasLeaf ? compareFields(undefined, after, node).added : emptySet,
      removed: wasLeaf ? emptySet : compareFields(before, undefined, node).removed,
      modified: leafSet,
    };
  }
  if (shape === "leaf" || bothBare || wasLeaf) return compareLeaf(before, after);
  const children = new Map<string, Comparison>();
  if (shape === "list") {
    const list = node as SchemaNode;
    const [old, now] = [indexItems(before, list), indexItems(after, list)];
    for (const element of new Set([...old.keys(), ...now.keys()]))
      children.set(element, compareItem(old.get(element), now.get(element), list.items));
  } else {
    const [old, now] = [isObject(before) ? before : {}, isObject(after) ? after : {}];
    for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
      const { child } = entryOf(node, key);
      const comparison = compareFields(
        Object.hasOwn(old, key) ? old[key] : undefined,
        Object.hasOwn(now, key) ? now[key] : undefined,
        child,
      );
      if (comparison !== same) children.set(`f:${key}`, comparison);
    }
  }
  const gather = (part: keyof Comparison, member: boolean): FieldSet => {
    const sets = new Map<string, FieldSet>();
    for (const [step, comparison] of children) if (!isEmptySet(comparison[part])) sets.set(step, comparison[part]);
    return sets.size === 0 ? (member ? leafSet : emptySet) : { member, children: sets };
  };
  if (children.size === 0 && before !== undefined && after !== undefined) return same;
  return {
    added: gather("added", before === undefined),
    removed: gather("removed", after === undefined),
    modified: gather("modified", false),
  };
}

function compareLeaf(before: unknown, after: unknown): Comparison {
  if (before === undefined) return { ...same, added: leafSet };
  if (after === undefined) return { ...same, removed: leafSet };
  return equalJson(before, after) ? same : { ...same, modified: leafSet };
}

function isBare(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

/** Items by path element; items that share one are kept together. */
function indexItems(value: unknown, list: SchemaNode): Map<string, unknown[]> {
  const index = new Map<string, unknown[]>();
  if (!Array.isArray(value)) return index;
  for (const item of value) {
    const element = itemElement(item, list);
    if (element === undefined) continue;
    const present = index.get(element);
    if (present === undefined) index.set(element, [item]);
    else present.push(item);
  }
  return index;
}

function compareItem(before: unknown[] | undefined, after: unknown[] | undefined, node: SchemaNode | undefined): Comparison {
  const isSingle = (before?.length ?? 1) === 1 && (after?.length ?? 1) === 1;
  if (isSingle) return compareFields(before?.[0], after?.[0], node);
  if (before === undefined) return { ...same, added: leafSet };
  if (after === undefined) return { ...same, removed: leafSet };
  return equalJson(before, after) ? same : { ...same, modified: leafSet };
}

/** Added and modified paths together. */
export function touchedBy(comparison: Comparison): FieldSet {
  return unionSets(comparison.added, comparison.modified);
}
