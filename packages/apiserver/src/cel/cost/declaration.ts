import type { SchemaNode } from "../../schema/types.ts";
import { escapeField } from "../names.ts";

/** What a schema says about the size of a value, as rules see it. */
export interface Declaration {
  readonly kind: "list" | "map" | "object" | "string" | "bytes" | "scalar" | "dyn";
  /** Most characters, items or entries; 0 for what has no size. */
  readonly maxElements: number;
  /** Bytes of the shortest JSON. */
  readonly minBytes: number;
  readonly element?: Declaration;
  readonly fields?: ReadonlyMap<string, Declaration>;
}

/** Longest request that is counted with, in bytes. */
const maxRequestBytes = 3 * 1024 * 1024;

const text = (maxElements: number, minBytes = 2): Declaration => ({ kind: "string", maxElements, minBytes });
const anyText = text(maxRequestBytes - 2);

/**
 * The sizes that a schema allows; `undefined` for what rules cannot see.
 *
 * Where the schema sets no limit, a value is taken to be as large as fits into a request.
 *
 * @param isRoot for the object itself and for embedded resources, whose names rules may read
 */
export function declarationOf(node: SchemaNode, isRoot: boolean): Declaration | undefined {
  const { source } = node;
  if (node.intOrString) {
    const maxElements = source.maxLength === undefined ? maxRequestBytes - 2 : bytesOf(source.maxLength);
    return { kind: "dyn", maxElements, minBytes: 1 };
  }
  switch (node.type) {
    case "array": {
      const element = node.items === undefined ? undefined : declarationOf(node.items, node.items.embedded);
      if (element === undefined) return undefined;
      const most = source.maxItems ?? Math.floor((maxRequestBytes - 2) / (element.minBytes + 1));
      return { kind: "list", maxElements: Math.max(most, 0), minBytes: 2, element };
    }
    case "object":
      return isMap(node) ? mapDeclaration(node) : objectDeclaration(node, isRoot);
    case "string":
      return textDeclaration(node);
    case "boolean":
      return { kind: "scalar", maxElements: 0, minBytes: 4 };
    case "integer":
    case "number":
      return { kind: "scalar", maxElements: 0, minBytes: 1 };
    default:
      return undefined;
  }
}

function isMap(node: SchemaNode): boolean {
  return node.additional !== undefined && node.additional !== true;
}

function mapDeclaration(node: SchemaNode): Declaration | undefined {
  const values = node.additional as SchemaNode;
  const element = declarationOf(values, values.embedded);
  if (element === undefined) return undefined;
  // A key is two quotation marks at least, then come a colon and a comma.
  const most = node.source.maxProperties ?? Math.floor((maxRequestBytes - 2) / (element.minBytes + 6));
  return { kind: "map", maxElements: Math.max(most, 0), minBytes: 2, element };
}

function objectDeclaration(node: SchemaNode, isRoot: boolean): Declaration {
  const fields = new Map<string, Declaration>();
  let minBytes = 2;
  for (const [name, child] of node.properties) {
    const field = declarationOf(child, child.embedded);
    if (field === undefined) continue;
    const escaped = escapeField(name);
    if (escaped !== undefined) fields.set(escaped, field);
    if (node.source.required?.includes(name) === true && !child.hasDefault) minBytes += Buffer.byteLength(name) + field.minBytes + 4;
  }
  if (isRoot) {
    const names = new Map([
      ["name", anyText],
      ["generateName", anyText],
    ]);
    fields.set("kind", anyText).set("apiVersion", anyText);
    fields.set("metadata", { kind: "object", maxElements: 0, minBytes: 2, fields: names });
  }
  return { kind: "object", maxElements: 0, minBytes, fields };
}

function textDeclaration({ source }: SchemaNode): Declaration {
  switch (source.format) {
    case "byte":
      return { kind: "bytes", maxElements: source.maxLength ?? maxRequestBytes - 2, minBytes: 2 };
    case "duration":
      return { kind: "scalar", maxElements: 32, minBytes: 3 };
    case "date":
      return { kind: "scalar", maxElements: 12, minBytes: 12 };
    case "date-time":
      return { kind: "scalar", maxElements: 32, minBytes: 21 };
    default:
  }
  if (source.maxLength !== undefined) return text(bytesOf(source.maxLength));
  if (source.enum === undefined || source.enum.length === 0) return anyText;
  return text(Math.max(0, ...source.enum.map((value) => (typeof value === "string" ? Buffer.byteLength(value) : 0))));
}

/** `maxLength` counts characters, of up to four bytes each. */
function bytesOf(characters: number): number {
  return Math.max(characters, 0) * 4;
}

/** How often at most a value may occur in one request. */
export function mostOccurrences({ minBytes }: Declaration): number {
  return Math.floor(maxRequestBytes / (minBytes + 1));
}
