import { isObject } from "../json.ts";
import { compileNode } from "./node.ts";
import { objectMetaSchema } from "./object-meta.ts";
import type { SchemaNode } from "./types.ts";

/**
 * Removes undeclared fields, in place, and returns their paths (`spec.foo`, `spec.list[0].bar`), sorted.
 * Nothing below `x-kubernetes-preserve-unknown-fields` is removed unless a property there is declared and closed again; of a list it
 * speaks for the items.
 */
export function prune(value: unknown, node: SchemaNode): readonly string[] {
  const unknown: string[] = [];
  pruneInto(value, node, "", unknown);
  return unknown.length > 1 ? unknown.sort(byCodeUnit) : unknown;
}

const objectFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);
const objectMetaNode: SchemaNode = compileNode(objectMetaSchema);

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function pruneInto(value: unknown, node: SchemaNode, path: string, unknown: string[], isListOpen = false): void {
  const isOpen = isListOpen || node.preserveUnknown;
  if (Array.isArray(value)) {
    if (node.items === undefined) return;
    for (let index = 0; index < value.length; index++) pruneInto(value[index], node.items, `${path}[${index}]`, unknown, isOpen);
    return;
  }
  if (!isObject(value)) return;
  // A schema without any word about its fields (an untyped node of a built-in kind) closes nothing.
  if (node.type === "" && node.properties.size === 0 && node.additional === undefined) return;
  for (const key of Object.keys(value)) {
    // What every object has is not for the schema of an embedded one to say.
    if (node.embedded && path !== "" && objectFields.has(key)) {
      if (key === "metadata") pruneInto(value[key], objectMetaNode, `${path}.${key}`, unknown);
      continue;
    }
    const childPath = path === "" ? key : `${path}.${key}`;
    const child = node.properties.get(key);
    if (child !== undefined) pruneInto(value[key], child, childPath, unknown);
    else if (node.additional !== undefined) {
      if (node.additional === true) emptyInto(value[key], childPath, unknown);
      else pruneInto(value[key], node.additional, childPath, unknown);
    } else if (!isOpen) {
      delete value[key];
      unknown.push(childPath);
    }
  }
}

/** Removes the fields of every object: `additionalProperties: true` takes values of any type and declares no field of theirs. */
function emptyInto(value: unknown, path: string, unknown: string[]): void {
  if (Array.isArray(value)) value.forEach((item, index) => emptyInto(item, `${path}[${index}]`, unknown));
  if (!isObject(value)) return;
  for (const key of Object.keys(value)) {
    delete value[key];
    unknown.push(`${path}.${key}`);
  }
}
