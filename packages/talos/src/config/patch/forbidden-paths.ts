import { ConfigError } from "../errors.ts";
import { identityOf, legacyKind } from "../document-identity.ts";
import type { YamlNode } from "../yaml/node.ts";
import { readYaml } from "../yaml/read.ts";
import { jsonOf } from "./json-value.ts";

/**
 * What a person's patch must not touch: the identity of the cluster and its keys, which belong to the secrets bundle, and the role of the
 * machine. A path also stands for everything below it.
 */
const forbidden: ReadonlyMap<string, readonly string[]> = new Map([
  [
    legacyKind,
    [
      "machine.type",
      "machine.token",
      "machine.ca",
      "cluster.id",
      "cluster.secret",
      "cluster.token",
      "cluster.ca",
      "cluster.aggregatorCA",
      "cluster.serviceAccount",
      "cluster.aescbcEncryptionSecret",
      "cluster.secretboxEncryptionSecret",
      "cluster.etcd.ca",
    ],
  ],
  ["DiscoveryIdentityConfig", [""]],
  ["KubeAPIServerCAConfig", ["issuingCA"]],
  ["KubeAggregatorCAConfig", ["issuingCA"]],
  ["KubeServiceAccountConfig", ["issuer.privateKey"]],
  ["KubeEtcdEncryptionConfig", [""]],
]);

/** A part of a patch that is refused. */
export interface ForbiddenPath {
  /** `v1alpha1` or the kind of the document. */
  readonly document: string;
  /** Dotted path; empty for the whole document. */
  readonly path: string;
  readonly line: number | undefined;
}

/**
 * The forbidden parts of a patch, strategic or JSON, in their order; empty when there are none. Deletions count, and so does deleting
 * something around them.
 *
 * @throws ConfigError for text that is not YAML
 */
export function findForbiddenPatchPaths(patch: string): readonly ForbiddenPath[] {
  return readYaml(patch, { maxBytes: 256 * 1024 }).flatMap(({ root }) => {
    if (root === undefined) return [];
    return root.type === "sequence" ? forbiddenOperations(root) : forbiddenParts(root);
  });
}

function forbiddenParts(root: YamlNode): readonly ForbiddenPath[] {
  const document = identityOf(root)?.kind ?? legacyKind;
  const found: ForbiddenPath[] = [];
  const rules = forbidden.get(document) ?? [];
  const isDocumentDeleted = root.type === "mapping" && root.entries.some(({ key }) => key === "$patch");
  if (rules.includes("") || (isDocumentDeleted && rules.length > 0)) return [{ document, path: "", line: root.line }];
  walk(root, "", (path, node) => {
    const isDeleted = node.type === "mapping" && node.entries.some(({ key }) => key === "$patch");
    const isHit = rules.some((rule) => rule === path || (isDeleted && isAbove(path, rule)));
    if (isHit) found.push({ document, path, line: node.line });
    return isHit;
  });
  return found;
}

/**
 * Operations of a JSON patch always mean the v1alpha1 document: others are not in configs that take them. An operation on a whole section
 * replaces what is in it, so it is refused with any forbidden part below.
 */
function forbiddenOperations(root: YamlNode): readonly ForbiddenPath[] {
  const operations = jsonOf(root);
  if (!Array.isArray(operations)) return [];
  const rules = forbidden.get(legacyKind) ?? [];
  return operations.flatMap((operation): ForbiddenPath[] => {
    if (!(operation instanceof Map)) throw new ConfigError("JSON_PATCH", "an operation of a JSON patch must be a mapping");
    if (operation.get("op") === "test") return [];
    return ["path", ...(operation.get("op") === "move" ? ["from"] : [])].flatMap((member): ForbiddenPath[] => {
      const pointer = operation.get(member);
      const path = typeof pointer !== "string" ? "" : pointer.split("/").slice(1).join(".");
      const isHit = rules.some((rule) => rule === path || path.startsWith(`${rule}.`) || isAbove(path, rule));
      return isHit ? [{ document: legacyKind, path, line: undefined }] : [];
    });
  });
}

function isAbove(path: string, rule: string): boolean {
  return path === "" || rule.startsWith(`${path}.`);
}

/** Visits mappings and their members; a visitor that answers true is not shown what is below. */
function walk(node: YamlNode, path: string, visit: (path: string, node: YamlNode) => boolean): void {
  if (path !== "" && visit(path, node)) return;
  if (node.type !== "mapping") return;
  for (const { key, value } of node.entries) walk(value, path === "" ? key : `${path}.${key}`, visit);
}
