import { isObject } from "../json.ts";
import { re2Of, type Re2 } from "../patterns/re2.ts";
import type { JsonSchema, SchemaNode, ValidationRule } from "./types.ts";

/** A schema node with what validation needs beside the public part. */
export interface ValidationNode extends SchemaNode {
  readonly properties: ReadonlyMap<string, ValidationNode>;
  readonly additional: ValidationNode | true | undefined;
  readonly items: ValidationNode | undefined;
  readonly pattern: Re2 | undefined;
  readonly enumValues: readonly unknown[] | undefined;
  readonly required: readonly string[];
  readonly allOf: readonly ValidationNode[];
  readonly anyOf: readonly ValidationNode[];
  readonly oneOf: readonly ValidationNode[];
  readonly not: ValidationNode | undefined;
  readonly rules: readonly ValidationRule[];
  /** True when this node or one below has CEL rules. */
  readonly rulesBelow: boolean;
  /** True when this node or one below is a list of type set or map. */
  readonly listsBelow: boolean;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Looks up a shared definition by name; only the built-in kinds have them. */
export type ResolveReference = (name: string) => JsonSchema;

/** A schema that may point at a shared definition. */
type Referring = JsonSchema & { readonly $ref?: string };

/**
 * Builds the walkable form of a schema. The schema has been checked before (patterns compile, references exist).
 *
 * @param cache shared between calls with the same `resolve`, so that a definition is compiled once and cycles close
 */
export function compileNode(
  schema: JsonSchema,
  resolve?: ResolveReference,
  cache: Map<string, ValidationNode> = new Map(),
): ValidationNode {
  const reference = (schema as Referring).$ref;
  if (reference !== undefined && resolve !== undefined) {
    const { $ref: _, ...more } = schema as Referring;
    // A reference with words of its own (a patch strategy) is a definition of its own.
    if (Object.keys(more).length > 0) return compileNode({ ...resolve(reference), ...more }, resolve, cache);
    const known = cache.get(reference);
    if (known !== undefined) return known;
    const node = emptyNode(resolve(reference), true);
    cache.set(reference, node);
    fillNode(node, resolve, cache);
    return node;
  }
  const node = emptyNode(schema, resolve !== undefined);
  fillNode(node, resolve, cache);
  return node;
}

const nodeTypes = new Set(["object", "array", "string", "integer", "number", "boolean"]);

function emptyNode(schema: JsonSchema, isBuiltin: boolean): Mutable<ValidationNode> {
  const strategy = schema["x-kubernetes-patch-strategy"];
  return {
    source: schema,
    type: nodeTypes.has(schema.type ?? "") ? (schema.type as SchemaNode["type"]) : "",
    nullable: schema.nullable === true,
    intOrString: schema["x-kubernetes-int-or-string"] === true || schema.format === "int-or-string",
    preserveUnknown: schema["x-kubernetes-preserve-unknown-fields"] === true,
    embedded: schema["x-kubernetes-embedded-resource"] === true,
    properties: new Map(),
    additional: undefined,
    items: undefined,
    hasDefault: schema.default !== undefined,
    defaultValue: schema.default,
    defaultsBelow: false,
    listType: schema["x-kubernetes-list-type"] ?? "atomic",
    listMapKeys: schema["x-kubernetes-list-map-keys"] ?? [],
    mapType: schema["x-kubernetes-map-type"] ?? "granular",
    patchStrategy: strategy === undefined ? [] : strategy.split(","),
    isBuiltin,
    isStruct: schema["x-go-struct"] === true,
    patchMergeKey: schema["x-kubernetes-patch-merge-key"],
    pattern: schema.pattern === undefined || schema.pattern === "" ? undefined : re2Of(schema.pattern),
    enumValues: schema.enum,
    required: [...(schema.required ?? []), ...(schema["x-kubernetes-embedded-resource"] === true ? ["apiVersion", "kind"] : [])],
    allOf: [],
    anyOf: [],
    oneOf: [],
    not: undefined,
    rules: schema["x-kubernetes-validations"] ?? [],
    rulesBelow: false,
    listsBelow: false,
    embeddedBelow: false,
  };
}

function fillNode(node: Mutable<ValidationNode>, resolve: ResolveReference | undefined, cache: Map<string, ValidationNode>): void {
  const schema = node.source;
  const compile = (child: JsonSchema): ValidationNode => compileNode(child, resolve, cache);
  const properties = new Map<string, ValidationNode>();
  for (const [name, child] of Object.entries(schema.properties ?? {})) properties.set(name, compile(child));
  node.properties = properties;
  if (schema.additionalProperties === true) node.additional = true;
  else if (isObject(schema.additionalProperties)) node.additional = compile(schema.additionalProperties);
  if (schema.items !== undefined) node.items = compile(schema.items);
  node.allOf = (schema.allOf ?? []).map(compile);
  node.anyOf = (schema.anyOf ?? []).map(compile);
  node.oneOf = (schema.oneOf ?? []).map(compile);
  if (schema.not !== undefined) node.not = compile(schema.not);
  const children = [...properties.values(), ...(node.items === undefined ? [] : [node.items])];
  if (node.additional !== undefined && node.additional !== true) children.push(node.additional);
  node.defaultsBelow = node.hasDefault || children.some((child) => child.defaultsBelow);
  node.rulesBelow = node.rules.length > 0 || children.some((child) => child.rulesBelow);
  node.listsBelow = (node.type === "array" && node.listType !== "atomic") || children.some((child) => child.listsBelow);
  node.embeddedBelow = node.embedded || children.some((child) => child.embeddedBelow);
}
