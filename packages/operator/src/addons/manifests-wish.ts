import { createHash } from "node:crypto";
import type { ManifestsSpec, TalosClusterAddonReleaseSpec } from "@talos-operator/api";
import type { ManifestSource, ReleaseName } from "@talos-operator/helm";
import { sorted } from "./wish.ts";

/** The set of objects that a release should be. */
export interface ManifestsWish {
  readonly release: ReleaseName;
  readonly sources: readonly ManifestSource[];
  /** The texts of those sources that are texts, in their order. */
  readonly texts: readonly string[];
  /** Stands for what was asked for: 16 hex digits. */
  readonly inputs: string;
  readonly isOnce: boolean;
}

/** A source, and the text where it is one. */
export interface ReadSource {
  readonly source: ManifestSource;
  readonly text?: string;
}

/**
 * What the spec asks for. Pure.
 *
 * @param name of the release: its set has no other
 */
export function manifestsWishOf(
  name: string,
  spec: Pick<TalosClusterAddonReleaseSpec, "namespaceLabels"> & { readonly manifests: ManifestsSpec },
  read: readonly ReadSource[],
): ManifestsWish {
  const { manifests, namespaceLabels = {} } = spec;
  const namespace = manifests.namespace || "default";
  const isOnce = manifests.mode === "Once";
  const { sources, prune = true, pruneProtected = false, takeOwnership = false } = manifests;
  // Once means once for each edit: what a ConfigMap holds by now is no edit of the spec.
  const asked = isOnce ? sources : read;
  return {
    release: { name, namespace },
    sources: read.map(({ source }) => source),
    texts: read.flatMap(({ text }) => (text === undefined ? [] : [text])),
    inputs: createHash("sha256")
      .update(JSON.stringify(sorted([isOnce, namespace, prune, pruneProtected, takeOwnership, namespaceLabels, asked])))
      .digest("hex")
      .slice(0, 16),
    isOnce,
  };
}
