import { getOwn, isObject, type JsonObject } from "../json.ts";
import type { SchemaNode } from "../schema/index.ts";

/**
 * The path element of one item of a list of type set or map: `v:"a"` or `k:{"name":"a"}` with keys sorted. A missing key takes the schema's
 * default.
 *
 * @returns undefined when the item has no identity (not an object, or without any key)
 */
export function itemElement(item: unknown, list: SchemaNode): string | undefined {
  if (list.listType === "set")
    return typeof item === "object" && item !== null && list.items?.type !== "object" ? undefined : `v:${JSON.stringify(item)}`;
  if (!isObject(item)) return undefined;
  const fields: JsonObject = {};
  let found = 0;
  for (const key of sortedKeys(list)) {
    const value = getOwn(item, key) ?? keyDefault(list, key);
    if (value !== undefined && value !== null) {
      fields[key] = value;
      found++;
    }
  }
  return found === 0 ? undefined : `k:${JSON.stringify(fields)}`;
}

const zeroes: Readonly<Record<string, unknown>> = { string: "", integer: 0 };

/** What a list key is that an item leaves out: the schema's default, or, in a built-in kind, Go's zero value of a field that must be there. */
export function keyDefault(list: SchemaNode, key: string): unknown {
  const node = list.items?.properties.get(key);
  if (node === undefined) return undefined;
  return node.defaultValue ?? (list.isBuiltin && list.items?.source.required?.includes(key) === true ? zeroes[node.type] : undefined);
}

const sorted = new WeakMap<SchemaNode, readonly string[]>();

function sortedKeys(list: SchemaNode): readonly string[] {
  let keys = sorted.get(list);
  if (keys === undefined) sorted.set(list, (keys = [...list.listMapKeys].sort()));
  return keys;
}

/** A path as messages show it: `.spec.list[name="x"].value`. */
export function printPath(path: readonly string[]): string {
  return path.map(printElement).join("");
}

function printElement(element: string): string {
  const rest = element.slice(2);
  switch (element[0]) {
    case "f":
      return `.${rest}`;
    case "k": {
      const keys = JSON.parse(rest) as JsonObject;
      return `[${Object.entries(keys)
        .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
        .join(",")}]`;
    }
    case "v":
      return `[=${rest}]`;
    default:
      return `[${rest}]`;
  }
}
