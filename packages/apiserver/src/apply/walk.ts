import type { SchemaNode } from "../schema/index.ts";
import { isObject } from "../json.ts";

/** How server-side apply treats a value: as one piece, as a map of fields, or as a list of items with identity. */
export type Shape = "leaf" | "map" | "list";

/** The shape of a value under a schema. Without a schema maps are granular and lists are one piece. */
export function shapeOf(value: unknown, node: SchemaNode | undefined): Shape {
  if (node === undefined || node.type === "" || (node.type === "object" && isOpen(node))) return isObject(value) ? "map" : "leaf";
  if (node.type === "object") return node.mapType === "atomic" ? "leaf" : "map";
  if (node.type === "array") return node.listType === "atomic" ? "leaf" : "list";
  return "leaf";
}

function isOpen(node: SchemaNode): boolean {
  return node.mapType !== "atomic" && node.properties.size === 0 && node.additional === undefined;
}

/** Schema of a map's entry, and whether the schema names it. */
export function entryOf(node: SchemaNode | undefined, key: string): { readonly child: SchemaNode | undefined; readonly declared: boolean } {
  const child = node?.properties.get(key);
  if (child !== undefined) return { child, declared: true };
  return { child: node?.additional === true ? undefined : node?.additional, declared: false };
}
