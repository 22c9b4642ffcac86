import type { KubeManifest } from "./manifest-corpus.ts";

/** True for a KubernetesCluster of the shapes that the published CRD refuses and ours takes on purpose: controlPlane, or workers as a list. */
export function isWidenedShape({ kind, spec }: KubeManifest): boolean {
  if (kind !== "KubernetesCluster" || typeof spec !== "object" || spec === null) return false;
  const { controlPlane, topology } = spec as { readonly controlPlane?: unknown; readonly topology?: { readonly workers?: unknown } };
  return controlPlane !== undefined || Array.isArray(topology?.workers);
}
