import { printGo } from "../go-print.ts";
import { cloneJson, equalJson, getOwn, isObject, setOwn, type JsonObject } from "../json.ts";
import type { CompiledVersion, SchemaNode } from "../schema/index.ts";
import { undecodable, type PatchOutcome } from "./outcome.ts";

const directive = "$patch";
const retainKeys = "$retainKeys";
const deleteFrom = "$deleteFromPrimitiveList/";
const elementOrder = "$setElementOrder/";

/**
 * Kubernetes' strategic merge patch: objects merge, lists merge by the key that the schema names, and the directives `$patch`, `$retainKeys`,
 * `$deleteFromPrimitiveList/<field>` and `$setElementOrder/<field>` act. For built-in kinds only; the genuine server answers 415 for custom
 * ones. `document` is not changed.
 *
 * @see https://github.com/kubernetes/community/blob/master/contributors/devel/sig-api-machinery/strategic-merge-patch.md
 */
export function applyStrategicMergePatch(kind: CompiledVersion, document: JsonObject, patch: unknown): PatchOutcome {
  // Go reads null into a map without anything in it.
  if (patch === null) return { ok: true, object: cloneJson(document) };
  if (!isObject(patch)) {
    const outcome = undecodable(patch, "map[string]interface {}");
    return outcome.ok ? outcome : { ...outcome, message: outcome.message.replace("error decoding patch: ", "") };
  }
  try {
    return { ok: true, object: mergeMaps(document, patch, kind.root) };
  } catch (error) {
    if (error instanceof PatchRefused) return { ok: false, status: 500, message: error.message };
    throw error;
  }
}

class PatchRefused extends Error {}

function mergeMaps(original: JsonObject, patch: JsonObject, node: SchemaNode | undefined): JsonObject {
  const instruction = getOwn(patch, directive);
  if (instruction === "replace") return withoutDirectives(patch);
  if (instruction === "delete") return {};
  if (instruction !== undefined && instruction !== "merge") {
    throw new PatchRefused(`unknown patch type: ${printGo(instruction)} in map: ${printGo(patch)}`);
  }
  const result = cloneJson(original);
  const retained = getOwn(patch, retainKeys);
  if (Array.isArray(retained)) for (const key of Object.keys(result)) if (!retained.includes(key)) delete result[key];

  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (key === directive || key === retainKeys || key.startsWith(elementOrder)) continue;
    if (key.startsWith(deleteFrom)) {
      const field = key.slice(deleteFrom.length);
      const list = getOwn(result, field);
      if (Array.isArray(list) && Array.isArray(value))
        setOwn(
          result,
          field,
          list.filter((item) => !value.some((gone) => equalJson(gone, item))),
        );
      continue;
    }
    const child = childOf(node, key);
    if (value === null) delete result[key];
    else setOwn(result, key, mergeField(getOwn(result, key), value, child));
  }
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(elementOrder)) continue;
    const field = key.slice(elementOrder.length);
    const list = getOwn(result, field);
    const order = patch[key];
    const before = getOwn(original, field);
    if (Array.isArray(order)) refuseOtherOrder(getOwn(patch, field), order, childOf(node, field));
    if (Array.isArray(list) && Array.isArray(order)) {
      setOwn(result, field, orderItems(list, order, Array.isArray(before) ? before : [], childOf(node, field)));
    }
  }
  return result;
}

/** What a patch names has to stand in its list as it stands in the order that it wants. */
function refuseOtherOrder(named: unknown, order: readonly unknown[], node: SchemaNode | undefined): void {
  if (!Array.isArray(named) || order.length === 0) return;
  const idOf = identify(node);
  const staying = named.filter((item) => node?.patchMergeKey === undefined || !isObject(item) || getOwn(item, directive) !== "delete");
  let found = 0;
  for (const item of order) if (found < staying.length && idOf(staying[found]) === idOf(item)) found++;
  if (found < staying.length) {
    throw new PatchRefused(`The order in patch list:\n${printGo(named)}\n doesn't match $setElementOrder list:\n${printGo(order)}\n`);
  }
}

function childOf(node: SchemaNode | undefined, key: string): SchemaNode | undefined {
  const property = node?.properties.get(key);
  if (property !== undefined) return property;
  return node?.additional === true ? undefined : node?.additional;
}

function mergeField(original: unknown, patch: unknown, node: SchemaNode | undefined): unknown {
  const strategies = node?.patchStrategy ?? [];
  if (isObject(patch)) {
    if (strategies.includes("replace")) return withoutDirectives(patch);
    return mergeMaps(isObject(original) ? original : {}, patch, node);
  }
  if (Array.isArray(patch)) {
    if (!strategies.includes("merge")) return cloneJson(patch);
    // What was not there is taken as it stands: items without their key are for validation to find.
    if (original === undefined && !patch.some((item) => isObject(item) && Object.hasOwn(item, directive))) {
      return patch.map((item) => (isObject(item) ? withoutDirectives(item) : cloneJson(item)));
    }
    const before = Array.isArray(original) ? original : [];
    return orderItems(mergeLists(before, patch, node), patch, before, node);
  }
  return patch;
}

function mergeLists(original: readonly unknown[], patch: readonly unknown[], node: SchemaNode | undefined): unknown[] {
  const mergeKey = node?.patchMergeKey;
  if (
    patch.some(
      (item) => isObject(item) && getOwn(item, directive) === "replace" && (mergeKey === undefined || !Object.hasOwn(item, mergeKey)),
    )
  ) {
    return patch.filter((item) => !isReplaceMarker(item)).map((item) => (isObject(item) ? withoutDirectives(item) : cloneJson(item)));
  }
  if (mergeKey === undefined || !(patch.some(isObject) || original.some(isObject))) {
    const result = cloneJson(original) as unknown[];
    const present = new Set(result.map((item) => JSON.stringify(item)));
    for (const item of patch) {
      const id = JSON.stringify(item);
      if (!present.has(id)) result.push(cloneJson(item));
      present.add(id);
    }
    return result;
  }
  let result = cloneJson(original) as unknown[];
  const keyOf = (item: unknown): unknown => (isObject(item) ? getOwn(item, mergeKey) : undefined);
  const added: unknown[] = [];
  for (const item of patch) {
    if (!isObject(item)) throw new PatchRefused("expected a list of objects: every item of this list needs its merge key");
    const key = keyOf(item);
    if (key === undefined) throw new PatchRefused(`map: ${printGo(item)} does not contain declared merge key: ${mergeKey}`);
    if (getOwn(item, directive) === "delete") {
      result = result.filter((present) => !equalJson(keyOf(present), key));
      continue;
    }
    const index = result.findIndex((present) => equalJson(keyOf(present), key));
    if (index >= 0) result[index] = mergeMaps(result[index] as JsonObject, item, node?.items);
    else added.push(mergeMaps({}, item, node?.items));
  }
  return [...result, ...added];
}

function isReplaceMarker(item: unknown): boolean {
  return isObject(item) && getOwn(item, directive) === "replace" && Object.keys(item).length === 1;
}

/** A copy in which directives are dropped, as for content that stands for itself. */
function withoutDirectives(value: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (key === directive || key === retainKeys || key.startsWith(deleteFrom) || key.startsWith(elementOrder)) continue;
    if (value[key] !== null) setOwn(copy, key, cloneJson(value[key]));
  }
  return copy;
}

/** Identity of a list item for ordering: its merge key, or the item itself. */
function identify(node: SchemaNode | undefined): (item: unknown) => string {
  const mergeKey = node?.patchMergeKey;
  return (item) => JSON.stringify(isObject(item) && mergeKey !== undefined ? getOwn(item, mergeKey) : item);
}

/**
 * Puts a merged list into the order of the genuine server: items that the patch names in the order it names them, the others as they were;
 * where both meet, a named item goes first unless both were in the list before and stood the other way round.
 */
function orderItems(
  merged: readonly unknown[],
  named: readonly unknown[],
  before: readonly unknown[],
  node: SchemaNode | undefined,
): unknown[] {
  const idOf = identify(node);
  const order = new Map(named.map((item, index) => [idOf(item), index]));
  const position = new Map(before.map((item, index) => [idOf(item), index]));
  const byOrder = (places: Map<string, number>) => (a: unknown, b: unknown) =>
    (places.get(idOf(a)) ?? Infinity) - (places.get(idOf(b)) ?? Infinity) || 0;
  const left = merged.filter((item) => !order.has(idOf(item))).sort(byOrder(position));
  const right = merged.filter((item) => order.has(idOf(item))).sort(byOrder(order));
  const result: unknown[] = [];
  let [l, r] = [0, 0];
  while (l < left.length || r < right.length) {
    const [a, b] = [position.get(idOf(left[l])), position.get(idOf(right[r]))];
    const takesLeft = r >= right.length || (l < left.length && a !== undefined && b !== undefined && a < b);
    result.push(takesLeft ? left[l++] : right[r++]);
  }
  return result;
}
