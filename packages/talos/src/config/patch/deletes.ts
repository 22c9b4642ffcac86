import { identityText, legacyKind } from "../document-identity.ts";
import { identityOfDocument, type ConfigDocument } from "../document/load.ts";
import type { ConfigMap, ConfigValue } from "../document/value.ts";
import { ConfigError } from "../errors.ts";
import type { Type } from "../schema/notation.ts";
import type { YamlMappingNode, YamlNode } from "../yaml/node.ts";

/** One `$patch: delete` of a patch: which part of which document goes. */
export interface Deletion {
  /** Identity of the document, as {@link identityText}. */
  readonly document: string;
  readonly isNamed: boolean;
  /** Empty for the whole document; list items are `[n]`. */
  readonly path: readonly string[];
  /** First other key of a list item: the first item with an equal value goes. */
  readonly key: string;
  readonly value: string;
  readonly line: number;
}

/** What a document of a patch asks for: deletions first, then what is left to merge (`undefined`: nothing). */
export interface SplitDocument {
  readonly deletions: readonly Deletion[];
  readonly rest: YamlNode | undefined;
}

/**
 * Takes the `$patch: delete` directives out of a patch document.
 *
 * @throws ConfigError `PATCH_DELETE` for directives in places where Talos takes none
 */
export function splitDeletions(root: YamlNode): SplitDocument {
  if (root.type !== "mapping") return { deletions: [], rest: root };
  const deletions: Deletion[] = [];
  const splitter = new Splitter(root, deletions);
  const rest = splitter.mapping(root, [], false);
  return { deletions, rest: rest === undefined || saysNothing(rest) ? undefined : rest };
}

class Splitter {
  readonly #root: YamlMappingNode;
  readonly #deletions: Deletion[];

  constructor(root: YamlMappingNode, deletions: Deletion[]) {
    this.#root = root;
    this.#deletions = deletions;
  }

  /** The mapping without what is deleted; `undefined` when nothing of it is left because of that. */
  mapping(node: YamlMappingNode, path: readonly string[], isItem: boolean): YamlMappingNode | undefined {
    const directive = directiveOf(node);
    if (directive !== undefined) {
      if (!isItem && path.some((step) => step.startsWith("["))) {
        throw deleteError(`cannot delete an inner key in '${path.join(".")}'`, directive.keyNode.line, path);
      }
      this.#deletions.push(this.#deletion(node, path, isItem));
      return undefined;
    }
    const entries = node.entries.flatMap((entry) => {
      const value = this.#child(entry.value, [...path, entry.key], false);
      return value === undefined ? [] : [{ ...entry, value }];
    });
    return entries.length === 0 && node.entries.length > 0 ? undefined : { ...node, entries };
  }

  #child(node: YamlNode, path: readonly string[], isItem: boolean): YamlNode | undefined {
    // What is deleted is so where it stands, not once more where it is repeated.
    if (node.alias !== undefined) return withoutDeleted(node);
    if (node.type === "mapping") return this.mapping(node, path, isItem);
    if (node.type !== "sequence" || node.items.length === 0) return node;
    // Positions count what is left, as Talos counts them while it removes.
    const items: YamlNode[] = [];
    for (const item of node.items) {
      const kept = this.#child(item, [...path, `[${items.length}]`], true);
      if (kept !== undefined) items.push(kept);
    }
    return items.length === 0 ? undefined : { ...node, items };
  }

  #deletion(node: YamlMappingNode, path: readonly string[], isItem: boolean): Deletion {
    const selector = node.entries.find(({ key, value }) => !(key === "$patch" && value.type === "scalar" && value.text === "delete"));
    if (isItem && selector === undefined) {
      throw deleteError(`no key:val found in sequence node for path ${path.join(".")}`, node.line, path);
    }
    const apiVersion = this.#text("apiVersion");
    const kind = this.#text("kind");
    if (path.length === 0 && apiVersion === undefined) throw deleteError(missing("apiVersion"), node.line, path);
    if (path.length === 0 && kind === undefined) throw deleteError(missing("kind"), node.line, path);
    if ((apiVersion ?? "") === "" ? (kind ?? "") !== "" : (kind ?? "") === "") {
      throw deleteError(`kind and apiVersion must be both set for path ${path.join(".")}`, node.line, path);
    }
    const name = this.#text("name") ?? "";
    return {
      document: identityText({ apiVersion: apiVersion ?? "", kind: (kind ?? "") === "" ? legacyKind : (kind as string), name }),
      isNamed: name !== "",
      path,
      key: isItem ? (selector?.key ?? "") : "",
      value: isItem && selector?.value.type === "scalar" ? selector.value.text : "",
      line: node.line,
    };
  }

  #text(key: string): string | undefined {
    const value = this.#root.entries.find((entry) => entry.key === key)?.value;
    return value === undefined ? undefined : value.type === "scalar" ? value.text : "";
  }
}

function directiveOf({ entries }: YamlMappingNode): YamlMappingNode["entries"][number] | undefined {
  return entries.find(({ key, value }) => key === "$patch" && value.type === "scalar" && value.text === "delete");
}

/** A part that was taken apart already, without the parts of it that were deleted; `undefined` when nothing is left because of that. */
function withoutDeleted(node: YamlNode): YamlNode | undefined {
  const kept = (child: YamlNode): YamlNode | undefined =>
    child.type === "mapping" && directiveOf(child) !== undefined ? undefined : withoutDeleted(child);
  if (node.type === "mapping") {
    const entries = node.entries.flatMap((entry) => {
      const value = kept(entry.value);
      return value === undefined ? [] : [{ ...entry, value }];
    });
    return entries.length === 0 && node.entries.length > 0 ? undefined : { ...node, entries };
  }
  if (node.type !== "sequence" || node.items.length === 0) return node;
  const items = node.items.flatMap((item) => kept(item) ?? []);
  return items.length === 0 ? undefined : { ...node, items };
}

/**
 * Carries out one deletion on the document it names. `undefined`: the document itself goes.
 *
 * @throws ConfigError `PATCH_DELETE` when the path leads nowhere
 */
export function applyDeletion(document: ConfigDocument, deletion: Deletion): ConfigDocument | undefined {
  const identity = identityOfDocument(document);
  const title = `${identity.apiVersion}/${identity.kind}`;
  const path = deletion.path.join(".");
  const prefix = deletion.isNamed ? `named patch delete: document ${title}: ` : `patch delete: path '${path}' in document '${title}': `;
  if (deletion.path.length === 0) {
    if (document.shape.kind === legacyKind)
      throw deleteError(`${prefix}can't delete the root of the legacy document`, deletion.line, deletion.path);
    return undefined;
  }
  const refuse = (why: string): ConfigError =>
    deleteError(`${prefix}failed to delete path '${path}': ${why}`, deletion.line, deletion.path, identityText(identity));
  const members = deleteAt(document.shape.type, document.members, deletion.path, { deletion, refuse });
  if (members === undefined) throw refuse("lookup failed");
  return { ...document, members: members as ConfigMap };
}

interface DeleteContext {
  readonly deletion: Deletion;
  readonly refuse: (why: string) => ConfigError;
}

/** The value without the part; `undefined` when there is no such part. */
function deleteAt(type: Type, value: ConfigValue | undefined, path: readonly string[], context: DeleteContext): ConfigValue | undefined {
  if (type.kind === "pointer") return value === undefined ? undefined : deleteAt(type.to, value, path, context);
  const [step = "", ...rest] = path;
  if (type.kind === "struct") {
    const field = type.byName.get(step);
    if (field === undefined) return undefined;
    const members: ConfigMap = value instanceof Map ? new Map(value) : new Map();
    if (rest.length === 0) {
      members.delete(step);
      return members;
    }
    const inner = deleteAt(field.type, members.get(step), rest, context);
    return inner === undefined ? undefined : members.set(step, inner);
  }
  if (value instanceof Map) {
    const inner = value.get(step);
    if (inner === undefined) return undefined;
    const members: ConfigMap = new Map(value);
    if (rest.length === 0) {
      members.delete(step);
      return members;
    }
    const changed = deleteAt(type.kind === "map" ? type.value : type, inner, rest, context);
    return changed === undefined ? undefined : members.set(step, changed);
  }
  return type.kind === "list" || Array.isArray(value) ? deleteFromList(type, value, path, context) : undefined;
}

function deleteFromList(
  type: Type,
  value: ConfigValue | undefined,
  [step = "", ...rest]: readonly string[],
  { deletion, refuse }: DeleteContext,
): ConfigValue | undefined {
  if (rest.length > 0) throw refuse("searching for complex paths in slices is not supported");
  if (!step.startsWith("[")) throw refuse(`searching for ${step === "" ? "''" : "non-integer keys"} in slices is not supported`);
  // Talos compares the fields of structs; what is free in form has none.
  if (!Array.isArray(value) || type.kind !== "list" || structOf(type.item) === undefined) return undefined;
  const index = value.findIndex((item) => item instanceof Map && item.get(deletion.key) === deletion.value);
  return index < 0 ? undefined : value.toSpliced(index, 1);
}

function structOf(type: Type): Type | undefined {
  if (type.kind === "pointer") return structOf(type.to);
  return type.kind === "struct" ? type : undefined;
}

/** A document that says which it is and nothing else. */
function saysNothing(node: YamlNode): boolean {
  return (
    node.type === "mapping" && node.entries.every(({ key, value }) => value.type === "scalar" && ["version", "kind", "name"].includes(key))
  );
}

function missing(key: string): string {
  return `missing ${key} in document for which $patch: delete is used`;
}

function deleteError(detail: string, line: number, path: readonly string[], document?: string): ConfigError {
  return new ConfigError("PATCH_DELETE", detail, { document, path: path.join("."), line });
}
