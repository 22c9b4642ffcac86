import { getOwn, isObject } from "../json.ts";

/** Identity of an item in a list of type map: its key fields as one text; `undefined` when the item is no object. */
export function listItemKey(item: unknown, keys: readonly string[]): string | undefined {
  if (!isObject(item)) return undefined;
  if (keys.length === 1) return JSON.stringify(getOwn(item, keys[0] ?? "") ?? null);
  return JSON.stringify(keys.map((key) => getOwn(item, key) ?? null));
}

/** Items of a list by identity; of duplicates the first counts. */
export function indexByKeys(list: readonly unknown[], keys: readonly string[]): Map<string, unknown> {
  const index = new Map<string, unknown>();
  for (const item of list) {
    const key = listItemKey(item, keys);
    if (key !== undefined && !index.has(key)) index.set(key, item);
  }
  return index;
}
