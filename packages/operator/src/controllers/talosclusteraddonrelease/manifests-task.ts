import type { AddonRun, TalosClusterAddonRelease } from "@talos-operator/api";
import type { ManifestsTask, ReleaseName } from "@talos-operator/helm";
import type { ManifestsWish } from "../../addons/manifests-wish.ts";

interface Base {
  readonly release: ReleaseName;
  readonly owner: string;
  readonly timeoutMs: number;
  readonly run: string;
}

/** What a worker is asked to do with a set of objects; `undefined` where what was begun is not what is wanted by now. Pure. */
export function manifestsTask(
  { spec }: TalosClusterAddonRelease,
  { task }: AddonRun,
  { release, owner, timeoutMs, run }: Base,
  wish: ManifestsWish | undefined,
): { readonly task: ManifestsTask; readonly texts: readonly string[] } | undefined {
  const { prune = true, pruneProtected = false, takeOwnership = false } = spec.manifests ?? {};
  const base = { release, owner, timeoutMs, run, prune, pruneProtected };
  if (task === "uninstall") return { task: { ...base, kind: "remove-manifests" }, texts: [] };
  if (wish === undefined) return undefined;
  const { namespaceLabels } = spec;
  return {
    task: {
      ...base,
      kind: "apply-manifests",
      release: wish.release,
      sources: wish.sources,
      inputs: wish.inputs,
      isOnce: wish.isOnce,
      takeOwnership,
      ...(namespaceLabels === undefined ? {} : { namespaceLabels }),
    },
    texts: wish.texts,
  };
}
