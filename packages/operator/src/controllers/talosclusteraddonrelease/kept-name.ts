import type { TalosClusterAddonRelease } from "@talos-operator/api";
import type { HelmFailed } from "@talos-operator/helm";

/**
 * What a release has from its first begin on is not kept when that made nothing: Helm knows no revision, and none was ever installed. So whoever misspelt a chart, by
 * which a release is called where it has no other name, may correct it.
 */
export function nameAfterFailure(
  { status }: TalosClusterAddonRelease,
  told: HelmFailed | undefined,
): { readonly releaseName?: undefined; readonly releaseNamespace?: undefined; readonly cluster?: undefined } {
  const hasNothing = told?.history?.length === 0 && status?.revision === undefined && status?.manifests === undefined;
  return hasNothing ? { releaseName: undefined, releaseNamespace: undefined, cluster: undefined } : {};
}

/** The same of a begin that could not be carried out: what stood in the status before it. */
export function nameBeforeBegin({ status }: TalosClusterAddonRelease): {
  readonly releaseName: string | undefined;
  readonly releaseNamespace: string | undefined;
  readonly cluster: string | undefined;
} {
  return { releaseName: status?.releaseName, releaseNamespace: status?.releaseNamespace, cluster: status?.cluster };
}
