import { textAt } from "./yaml/navigate.ts";
import { hasKey } from "./yaml/navigate.ts";
import type { YamlNode } from "./yaml/node.ts";

/** What a document is merged and found by. The v1alpha1 document has neither `apiVersion` nor `kind` of its own. */
export interface DocumentIdentity {
  readonly apiVersion: string;
  /** `v1alpha1` for the document without a kind. */
  readonly kind: string;
  /** Empty for kinds without names. */
  readonly name: string;
}

/** Top-level keys that make a document without `kind` the v1alpha1 one; its `version` alone does not. */
const legacyKeys = ["machine", "cluster", "debug", "persist"] as const;

/** The kind that stands for the document without `kind`. */
export const legacyKind = "v1alpha1";

/** The identity that a document claims, whether or not such a kind exists; `undefined` when nothing tells. */
export function identityOf(root: YamlNode): DocumentIdentity | undefined {
  if (root.type !== "mapping") return undefined;
  const kind = textAt(root, "kind") ?? "";
  const apiVersion = textAt(root, "apiVersion") ?? "";
  const name = textAt(root, "name") ?? "";
  if (kind === "" && legacyKeys.some((key) => hasKey(root, key))) return { apiVersion, kind: legacyKind, name: "" };
  return kind === "" && apiVersion === "" ? undefined : { apiVersion, kind, name };
}

/** `v1alpha1/HostnameConfig/`, `/v1alpha1/`: how Talos names a document in its messages. */
export function identityText({ apiVersion, kind, name }: DocumentIdentity): string {
  return `${apiVersion}/${kind}/${name}`;
}
