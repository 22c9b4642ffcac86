import { cloneJson, isObject, setOwn, type JsonObject } from "../json.ts";
import { spendStep } from "../request/deadline.ts";
import type { SchemaNode } from "../schema/index.ts";
import { emptySet, isEmptySet, type FieldSet } from "./field-set.ts";
import { itemElement } from "./path-element.ts";
import { entryOf, shapeOf } from "./walk.ts";

/** Lays an applied configuration over the live value. `undefined` means absent. */
export function mergeApplied(live: unknown, applied: unknown, node: SchemaNode | undefined): unknown {
  spendStep();
  if (applied === undefined || applied === live) return cloneJson(live);
  if (live === undefined && applied === null) return null;
  const shape = shapeOf(applied ?? live, node);
  if (shape === "leaf" || (live !== undefined && live !== null && shapeOf(live, node) === "leaf")) return cloneJson(applied);
  if (isBare(live) && isBare(applied)) return cloneJson(applied);
  if (shape === "list") return mergeLists(Array.isArray(live) ? live : [], Array.isArray(applied) ? applied : [], node as SchemaNode);
  return mergeMaps(isObject(live) ? live : {}, isObject(applied) ? applied : {}, node);
}

function isBare(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

function mergeMaps(live: JsonObject, applied: JsonObject, node: SchemaNode | undefined): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(live)) {
    const { child } = entryOf(node, key);
    setOwn(result, key, mergeApplied(live[key], Object.hasOwn(applied, key) ? applied[key] : undefined, child));
  }
  for (const key of Object.keys(applied)) {
    if (!Object.hasOwn(live, key)) setOwn(result, key, mergeApplied(undefined, applied[key], entryOf(node, key).child));
  }
  return result;
}

/**
 * Items of both lists, each once. Items that both have come in the applied order; an item that only the live list has stays behind the item
 * it followed, as far as that order allows.
 */
function mergeLists(live: readonly unknown[], applied: readonly unknown[], list: SchemaNode): unknown[] {
  const element = (item: unknown): string => itemElement(item, list) ?? `?${JSON.stringify(item)}`;
  const liveElements = live.map(element);
  const appliedElements = applied.map(element);
  const liveIndex = firstIndex(liveElements);
  const appliedIndex = firstIndex(appliedElements);
  const shared = appliedElements.filter((step) => liveIndex.has(step));
  const merged = new Set<string>();
  const out: unknown[] = [];
  let nextShared = 0;

  const takeApplied = (position: number): void => {
    const step = appliedElements[position] ?? "";
    merged.add(step);
    const at = liveIndex.get(step);
    out.push(mergeApplied(at === undefined ? undefined : live[at], applied[position], list.items));
  };

  let [l, r] = [0, 0];
  while (l < live.length || r < applied.length) {
    const step = liveElements[l];
    if (step !== undefined && r < applied.length) {
      if (step === appliedElements[r]) {
        takeApplied(r);
        l++;
        r++;
        nextShared++;
        continue;
      }
      const expected = shared[nextShared];
      if (appliedIndex.has(step) && expected !== undefined && expected !== step) {
        // Shared, but its turn in the applied order has not come.
        l++;
        continue;
      }
    }
    if (step !== undefined) {
      if (!appliedIndex.has(step)) {
        out.push(cloneJson(live[l]));
        l++;
        continue;
      }
      if (merged.has(step)) l++;
    }
    if (r < applied.length) {
      takeApplied(r);
      if (shared[nextShared] === appliedElements[r]) nextShared++;
      r++;
    }
  }
  return out;
}

function firstIndex(elements: readonly string[]): Map<string, number> {
  const index = new Map<string, number>();
  elements.forEach((step, at) => {
    if (!index.has(step)) index.set(step, at);
  });
  return index;
}

/** A copy of `value` without the paths of `gone`. Pieces that own no inner paths are left alone. */
export function removeFields(value: unknown, gone: FieldSet, node: SchemaNode | undefined): unknown {
  spendStep();
  if (isEmptySet(gone)) return cloneJson(value);
  const shape = shapeOf(value, node);
  if (shape === "leaf" || isBare(value)) return cloneJson(value);
  if (shape === "list") {
    const kept: unknown[] = [];
    for (const item of value as unknown[]) {
      const below = gone.children.get(itemElement(item, node as SchemaNode) ?? "");
      if (below?.member !== true) kept.push(removeFields(item, below ?? emptySet, node?.items));
    }
    return kept.length > 0 ? kept : null;
  }
  const kept: JsonObject = {};
  for (const key of Object.keys(value as JsonObject)) {
    const below = gone.children.get(`f:${key}`);
    if (below?.member !== true) setOwn(kept, key, removeFields((value as JsonObject)[key], below ?? emptySet, entryOf(node, key).child));
  }
  return Object.keys(kept).length > 0 ? kept : null;
}

/** The set with every named field on the way to a member made a member itself, so that emptied containers go with their content. */
export function withNamedParents(set: FieldSet, node: SchemaNode | undefined): FieldSet {
  if (set.children.size === 0) return set;
  const children = new Map<string, FieldSet>();
  for (const [step, child] of set.children) {
    if (step.startsWith("f:")) {
      const { child: schema, declared } = entryOf(node, step.slice(2));
      const below = withNamedParents(child, schema);
      children.set(step, declared && child.children.size > 0 ? { member: true, children: below.children } : below);
    } else children.set(step, withNamedParents(child, node?.items));
  }
  return { member: set.member, children };
}
