import { identityText, legacyKind, type DocumentIdentity } from "../document-identity.ts";
import { ConfigError } from "../errors.ts";
import { schemaOf, type DocumentShape, type Generation } from "../schema/notation.ts";
import { nodeAt } from "../yaml/navigate.ts";
import type { YamlMappingNode, YamlNode } from "../yaml/node.ts";
import { readYaml, type ReadLimits, type YamlDocument } from "../yaml/read.ts";
import { checkUnknownKeys } from "./unknown-keys.ts";
import { decode } from "./decode.ts";
import type { ConfigMap } from "./value.ts";

/** One document of a config: what it is and what it holds. */
export interface ConfigDocument {
  readonly shape: DocumentShape;
  readonly members: ConfigMap;
}

/** The name of the v1alpha1 document is empty, as is that of kinds without names. */
export function identityOfDocument({ shape, members }: ConfigDocument): DocumentIdentity {
  const name = members.get("name");
  if (shape.kind === legacyKind) return { apiVersion: "", kind: legacyKind, name: "" };
  return { apiVersion: "v1alpha1", kind: shape.kind, name: shape.isNamed && typeof name === "string" ? name : "" };
}

/**
 * Reads all documents of a config strictly.
 *
 * @throws ConfigError with document, path, line and column
 */
export function loadDocuments(text: string, generation: Generation, limits?: ReadLimits): readonly ConfigDocument[] {
  const seen = new Set<string>();
  return readDocuments(text, limits).flatMap(({ root }) => {
    if (root === undefined || isNull(root)) return [];
    if (root.type === "mapping") checkOnlyOnce(root, seen);
    return [loadDocument(root, generation)];
  });
}

/** A document that says nothing: Talos passes over it, in configs and in patches. */
export function isNull(root: YamlNode): boolean {
  return root.type === "scalar" && root.kind === "null";
}

/** What cannot be read is in some document too: people look for that one first. */
function readDocuments(text: string, limits: ReadLimits | undefined): readonly YamlDocument[] {
  try {
    return readYaml(text, limits);
  } catch (error) {
    if (!(error instanceof ConfigError) || error.line === undefined) throw error;
    throw error.at({ document: identityAt(text, error.line) });
  }
}

/** Identity of the document around a line of a text that cannot be read; `undefined` when it is written in braces. */
function identityAt(text: string, line: number): string | undefined {
  const lines = text.split("\n");
  const isMark = (candidate: string): boolean => /^---(?:\s|$)/.test(candidate);
  const start = lines.slice(0, line).findLastIndex(isMark) + 1;
  const end = lines.findIndex((candidate, index) => index >= line && isMark(candidate));
  const own = lines.slice(start, end === -1 ? undefined : end);
  if (own.some((candidate) => candidate.startsWith("{"))) return undefined;
  const said = (key: string): string | undefined =>
    own.map((candidate) => new RegExp(`^${key}:\\s+["']?([\\w./-]+)`).exec(candidate)?.[1]).find((value) => value !== undefined);
  return identityText({ apiVersion: said("apiVersion") ?? "", kind: said("kind") ?? legacyKind, name: said("name") ?? "" });
}

/** Refuses a second document of the same identity in one text. */
export function checkOnlyOnce(root: YamlNode, seen: Set<string>): void {
  const identity = claimedIdentity(root);
  if (seen.has(identity)) {
    throw new ConfigError("DUPLICATE_DOCUMENT", `duplicate document ${identity} is not allowed (line ${root.line})`, {
      document: identity,
      line: root.line,
      column: root.column,
    });
  }
  seen.add(identity);
}

/** One document from its node. */
export function loadDocument(root: YamlNode, generation: Generation): ConfigDocument {
  if (root.type !== "mapping") {
    throw new ConfigError("NOT_A_DOCUMENT", `expected a YAML document at line ${root.line}`, { line: root.line, column: root.column });
  }
  const document = claimedIdentity(root);
  const prefix = `error decoding document ${document} (line ${root.line}): `;
  try {
    const shape = shapeOf(root, generation);
    const members = decode(shape.type, root, "", {
      datesAreTexts: generation === "1.13",
      refusesAliases: generation === "1.13",
    }) as ConfigMap;
    checkUnknownKeys(shape.type, root);
    return { shape, members };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const position = { document, path: error.path, line: error.line ?? root.line, column: error.column, meant: error.meant };
    throw new ConfigError(error.code, `${prefix}${error.detail}`, position, { cause: error });
  }
}

function shapeOf(root: YamlMappingNode, generation: Generation): DocumentShape {
  const { kind, version } = declared(root);
  const place = { line: root.line, column: root.column };
  const isLegacy = kind === "" && version === "v1alpha1";
  if (kind === "" && !isLegacy) throw new ConfigError("MISSING_KIND", "missing kind", place);
  if (version === "") throw new ConfigError("MISSING_KIND", "missing apiVersion", place);
  const shape = version === "v1alpha1" ? schemaOf(generation).document(isLegacy ? legacyKind : kind) : undefined;
  if (shape === undefined) {
    throw new ConfigError("UNKNOWN_KIND", `${JSON.stringify(kind)} ${JSON.stringify(version)}: not registered`, place);
  }
  return shape;
}

/** Keys that only the v1alpha1 document has. */
const legacyKeys: ReadonlySet<string> = new Set(["machine", "cluster", "debug", "persist"]);

/**
 * Kind and version as Talos finds them: it looks at keys and values alike, so that the name `machine` says the version, and what follows the
 * name `kind` is taken for the kind.
 */
function declared(root: YamlMappingNode): { readonly kind: string; readonly version: string } {
  let kind = "";
  let version = "";
  const nodes = root.entries.flatMap(({ keyNode, value }) => [keyNode, value]);
  nodes.forEach((node, index) => {
    if (node.type !== "scalar") return;
    if (node.text === "kind") kind = textOf(nodes[index + 1], "kind") ?? kind;
    else if (node.text === "apiVersion") version = textOf(nodes[index + 1], "version") ?? version;
    else if (legacyKeys.has(node.text)) version = "v1alpha1";
  });
  return { kind, version };
}

function textOf(node: YamlNode | undefined, what: string): string | undefined {
  if (node === undefined) return undefined;
  if (node.type === "scalar") return node.kind === "null" ? undefined : node.text;
  const tag = node.type === "sequence" ? "!!seq" : "!!map";
  const detail = `${what} decode: yaml: construct errors:\n  line ${node.line}: cannot construct ${tag} into string`;
  throw new ConfigError("WRONG_TYPE", detail, { path: what === "kind" ? "kind" : "apiVersion", line: node.line, column: node.column });
}

/** What Talos prints for a document before it knows whether the kind exists. */
function claimedIdentity(root: YamlNode): string {
  const written = (key: string): string => {
    const node = nodeAt(root, key);
    return node?.type === "scalar" ? node.text : "";
  };
  return identityText({ apiVersion: written("apiVersion"), kind: written("kind") || legacyKind, name: written("name") });
}
