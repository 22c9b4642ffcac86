import { decode } from "../document/decode.ts";
import { encode, isZero } from "../document/encode.ts";
import { checkUnknownKeys } from "../document/unknown-keys.ts";
import type { ConfigValue } from "../document/value.ts";
import { isConfigError } from "../errors.ts";
import type { Field, Type } from "../schema/notation.ts";
import type { YamlValue } from "../yaml/emit.ts";
import { PlainScalar } from "../yaml/plain-scalar.ts";
import { plainValue } from "../yaml/plain-value.ts";
import type { YamlMappingNode, YamlNode, YamlSequenceNode } from "../yaml/node.ts";

/** A part that differs between two documents. */
export interface Difference {
  /** With indices and names of map members, for people. */
  readonly path: string;
  /** Without indices, members of maps as `*`, for rules. */
  readonly schemaPath: string;
  /** Whether the schema of this release has the field. */
  readonly isKnown: boolean;
  readonly before: YamlNode | undefined;
  readonly after: YamlNode | undefined;
}

interface Place {
  readonly path: string;
  readonly schemaPath: string;
}

/**
 * The parts in which two documents differ, down to single fields. Spelling does not count (`5m` and `5m0s`, `~` and nothing), nor does a zero
 * value that means the same as none. Fields that the schema does not have are compared as they are written.
 */
export function differences(type: Type | undefined, before: YamlNode | undefined, after: YamlNode | undefined): readonly Difference[] {
  return differencesAt(type, before, after, { path: "", schemaPath: "" });
}

function differencesAt(
  type: Type | undefined,
  before: YamlNode | undefined,
  after: YamlNode | undefined,
  place: Place,
  isMapMember = false,
): readonly Difference[] {
  const left = isMapMember ? before : presentIn(type, before);
  const right = isMapMember ? after : presentIn(type, after);
  if (left === undefined && right === undefined) return [];
  if (left !== undefined && right !== undefined && sameText(type, left) === sameText(type, right)) return [];
  const inner = behindPointer(type);
  if (isMapping(left) && isMapping(right)) {
    const members = memberDifferences(inner, left, right, place);
    const isOnlyThere = (left === undefined || right === undefined) && type?.kind !== "struct";
    if (members.length > 0 || !isOnlyThere) return members;
  }
  const item = inner?.kind === "list" ? behindPointer(inner.item) : undefined;
  if (item?.kind === "struct" && isSequence(left) && isSequence(right))
    return itemDifferences(item, left?.items ?? [], right?.items ?? [], place);
  return [{ ...place, isKnown: type !== undefined, before: left, after: right }];
}

/** `undefined` for what is not there, and for what means the same as nothing. */
function presentIn(type: Type | undefined, node: YamlNode | undefined): YamlNode | undefined {
  if (node === undefined || (node.type === "scalar" && node.kind === "null")) return undefined;
  if (type === undefined) return node;
  if (type.kind === "list" && node.type === "sequence" && node.items.length === 0) return undefined;
  const read = tryRead(type, node);
  return read !== undefined && isZero(type, read.value) ? undefined : node;
}

/** The value of a node; `undefined` when the type does not fit or has not all of its fields. */
function tryRead(type: Type, node: YamlNode): { readonly value: ConfigValue | undefined } | undefined {
  try {
    checkUnknownKeys(type, node);
    return { value: decode(type, node, "") };
  } catch (error) {
    if (isConfigError(error)) return undefined;
    throw error;
  }
}

function memberDifferences(
  type: Type | undefined,
  before: YamlMappingNode | undefined,
  after: YamlMappingNode | undefined,
  place: Place,
): readonly Difference[] {
  const keys = new Set([...(after?.entries ?? []), ...(before?.entries ?? [])].map(({ key }) => key));
  return [...keys].flatMap((key) => {
    // An empty value of a map says something: a label may have no value.
    const isMapMember = type?.kind === "map";
    const schemaPath = `${place.schemaPath === "" ? "" : `${place.schemaPath}.`}${isMapMember ? "*" : key}`;
    const inner = { path: joinPath(place.path, key), schemaPath };
    return differencesAt(memberType(type, key), memberOf(before, key), memberOf(after, key), inner, isMapMember);
  });
}

function memberType(type: Type | undefined, key: string): Type | undefined {
  switch (type?.kind) {
    case "struct":
      return type.byName.get(key)?.type;
    case "map":
      return type.value;
    case "any":
      return { kind: "any", isMapping: false };
    default:
      return undefined;
  }
}

/** Items that are in both lists do not count; lists of one length are compared item by item. */
function itemDifferences(item: Type, left: readonly YamlNode[], right: readonly YamlNode[], place: Place): readonly Difference[] {
  const at = (index: number): Place => ({ path: `${place.path}[${index}]`, schemaPath: place.schemaPath });
  if (left.length === right.length) return right.flatMap((node, index) => differencesAt(item, left[index], node, at(index)));
  const gone = surplus(item, left, right);
  const come = surplus(item, right, left);
  return [
    ...come.flatMap(({ node, index }) => differencesAt(item, undefined, node, at(index))),
    ...gone.flatMap(({ node, index }) => differencesAt(item, node, undefined, at(index))),
  ];
}

function surplus(
  item: Type,
  items: readonly YamlNode[],
  others: readonly YamlNode[],
): readonly { readonly node: YamlNode; readonly index: number }[] {
  const rest = others.map((other) => sameText(item, other));
  return items.flatMap((node, index) => {
    const there = rest.indexOf(sameText(item, node));
    if (there < 0) return [{ node, index }];
    rest.splice(there, 1);
    return [];
  });
}

/** A text that is equal for nodes that mean the same. */
function sameText(type: Type | undefined, node: YamlNode): string {
  const read = type === undefined ? undefined : tryRead(type, node);
  return textOfValue(type === undefined || read === undefined ? plainValue(node) : encode(type, read.value));
}

function textOfValue(value: YamlValue): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (member instanceof Map) return Object.fromEntries([...member].toSorted(([a], [b]) => (a < b ? -1 : 1)));
    if (member instanceof PlainScalar) return member.text;
    return typeof member === "bigint" ? String(member) : member;
  });
}

function memberOf(node: YamlMappingNode | undefined, key: string): YamlNode | undefined {
  return node?.entries.find((entry) => entry.key === key)?.value;
}

function isMapping(node: YamlNode | undefined): node is YamlMappingNode | undefined {
  return node === undefined || node.type === "mapping";
}

function isSequence(node: YamlNode | undefined): node is YamlSequenceNode | undefined {
  return node === undefined || node.type === "sequence";
}

function behindPointer(type: Type | undefined): Type | undefined {
  return type?.kind === "pointer" ? behindPointer(type.to) : type;
}

/** Names with other characters than letters, digits, `_` and `-` are put in brackets. */
function joinPath(path: string, key: string): string {
  if (!/^[\w$-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

/** All fields of a type as schema paths, list items and map members included; types that hold themselves are followed once. */
export function fieldPaths(type: Type, path = ""): readonly string[] {
  switch (type.kind) {
    case "pointer":
      return fieldPaths(type.to, path);
    case "list":
      return fieldPaths(type.item, path);
    case "map":
      return fieldPaths(type.value, `${path}.*`);
    case "struct":
      return type.fields.length === 0
        ? [path]
        : type.fields.flatMap((field: Field) => fieldPaths(field.type, path === "" ? field.name : `${path}.${field.name}`));
    default:
      return [path];
  }
}
