import { tryParseQuantity } from "../cel/quantity.ts";
import { isObject } from "../json.ts";
import { compileNode } from "./node.ts";
import { objectMetaSchema } from "./object-meta.ts";
import type { SchemaNode } from "./types.ts";

const metadataNode = compileNode(objectMetaSchema);

/**
 * Why the genuine server could not read an object into its Go struct; `undefined` when it could. In the words of Go's JSON decoder, but for
 * the names of structs deep inside.
 */
export function undecodableObject(object: unknown, node: SchemaNode, kind: string): string | undefined {
  return undecodable(object, node, [], kind);
}

/** As above for the metadata of a custom resource, the only part of it that is a struct. */
export function undecodableMetadata(metadata: unknown): string | undefined {
  return undecodable(metadata, metadataNode, [], "ObjectMeta");
}

/** As above for the metadata of the resources that a custom one embeds. */
export function undecodableEmbedded(value: unknown, node: SchemaNode, path: string): string | undefined {
  if (!node.embeddedBelow) return undefined;
  if (Array.isArray(value)) {
    const { items } = node;
    return items === undefined
      ? undefined
      : firstOf(value.map((item, index) => () => undecodableEmbedded(item, items, `${path}[${index}]`)));
  }
  if (!isObject(value)) return undefined;
  if (node.embedded) {
    for (const name of ["apiVersion", "kind"]) {
      const text = value[name];
      if (text !== undefined && typeof text !== "string")
        return `${path}.${name}: Invalid value: ${JSON.stringify(sorted(text))}: must be a string`;
    }
    const why = undecodableMetadata(value["metadata"]);
    if (why !== undefined) return `${path}.metadata: Invalid value: ${JSON.stringify(sorted(value["metadata"]))}: ${why}`;
  }
  return firstOf(
    Object.keys(value).map((key) => () => {
      const child = node.properties.get(key) ?? (node.additional === true ? undefined : node.additional);
      return child === undefined ? undefined : undecodableEmbedded(value[key], child, path === "" ? key : `${path}.${key}`);
    }),
  );
}

/** With keys in order, as Go prints a map. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((key) => [key, sorted(value[key])]),
  );
}

const goTypes: Readonly<Record<string, string>> = {
  string: "string",
  boolean: "bool",
  number: "float64",
  object: "struct",
  array: "slice",
};

function undecodable(value: unknown, node: SchemaNode, path: readonly string[], kind: string): string | undefined {
  if (typeof value === "string" && node.source.format === "quantity" && tryParseQuantity(value.trim()) === undefined)
    return "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  // Null is the zero value of everything; a node without a type reads itself (quantities, int-or-string, any JSON).
  if (value === null || value === undefined || node.type === "" || node.intOrString) return undefined;
  const seen = Array.isArray(value) ? "array" : isObject(value) ? "object" : typeof value === "boolean" ? "bool" : typeof value;
  const wanted = node.type === "integer" ? "number" : node.type === "boolean" ? "bool" : node.type;
  if (seen !== wanted) return cannotUnmarshal(seen, node, path, kind);
  if (Array.isArray(value)) return firstOf(value.map((item) => () => node.items && undecodable(item, node.items, path, kind)));
  if (isObject(value)) {
    return firstOf(
      Object.entries(value).map(([key, item]) => () => {
        const child = node.properties.get(key);
        if (child !== undefined) return undecodable(item, child, [...path, key], kind);
        return isObject(node.additional) ? undecodable(item, node.additional as SchemaNode, path, kind) : undefined;
      }),
    );
  }
  if (node.type === "integer" && typeof value === "number" && !Number.isInteger(value)) {
    return cannotUnmarshal(`number ${value}`, node, path, kind);
  }
  return typeof value === "string" ? unreadableText(value, node) : undefined;
}

function firstOf(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const found = check();
    if (found !== undefined) return found;
  }
  return undefined;
}

function cannotUnmarshal(seen: string, node: SchemaNode, path: readonly string[], kind: string): string {
  const into = `Go struct field ${structOf(path, kind)}.${path.join(".")} of type ${goTypeOf(node)}`;
  return `json: cannot unmarshal ${seen} into ${path.length === 0 ? `Go value of type v1.${kind}` : into}`;
}

function structOf(path: readonly string[], kind: string): string {
  if (path.length < 2) return kind;
  const [first = ""] = path;
  if (first === "metadata") return "ObjectMeta";
  return first === "spec" || first === "status" ? `${kind}${first === "spec" ? "Spec" : "Status"}` : kind;
}

function goTypeOf(node: SchemaNode): string {
  if (node.type === "array") return `[]${node.items === undefined ? "interface {}" : goTypeOf(node.items)}`;
  if (isObject(node.additional)) return `map[string]${goTypeOf(node.additional as SchemaNode)}`;
  if (node.type === "object") return "v1.ObjectMeta";
  return node.type === "integer" ? (node.source.format === "int64" ? "int64" : "int32") : (goTypes[node.type] ?? node.type);
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/;
const time = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

function unreadableText(value: string, node: SchemaNode): string | undefined {
  if (node.source.format === "go-bytes") {
    const bare = value.replaceAll(/[\r\n]/g, "");
    if (base64.test(bare) && bare.length % 4 === 0) return undefined;
    const at = bare.search(/[^A-Za-z0-9+/]/);
    return `illegal base64 data at input byte ${at === -1 ? Math.floor(bare.length / 4) * 4 : at}`;
  }
  if (node.source.format === "date-time" && !time.test(value)) {
    return `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(value)} as "2006"`;
  }
  return undefined;
}
