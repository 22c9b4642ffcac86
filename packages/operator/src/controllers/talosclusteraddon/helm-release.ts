import type { HelmSpec, ManifestsSpec, TalosClusterAddon, TalosClusterAddonRelease } from "@talos-operator/api";

/** A Helm release in a cluster. */
interface HelmRelease {
  readonly name: string;
  readonly namespace: string;
}

/** What a spec is installed as: without a name, as its chart is called. */
function helmReleaseOf({ releaseName, chartName, namespace }: HelmSpec): HelmRelease {
  const name = releaseName === undefined || releaseName === "" ? chartName : releaseName;
  return { name, namespace: namespace === undefined || namespace === "" ? "default" : namespace };
}

/** `<namespace>/<name>`. */
function helmReleaseText({ namespace, name }: HelmRelease): string {
  return `${namespace}/${name}`;
}

/** The spec that an addon's releases have; `undefined` where it names no chart, which the published schema allows. */
export function helmSpecOf({ spec: { helmSpec, targetNamespace = "" } }: Pick<TalosClusterAddon, "spec">): HelmSpec | undefined {
  return helmSpec === undefined || targetNamespace === "" ? helmSpec : { ...helmSpec, namespace: targetNamespace };
}

/** The set of objects that an addon's releases have; `undefined` where it is a chart. */
export function manifestsOf({ spec: { manifests, targetNamespace = "" } }: Pick<TalosClusterAddon, "spec">): ManifestsSpec | undefined {
  return manifests === undefined || targetNamespace === "" ? manifests : { ...manifests, namespace: targetNamespace };
}

/** What an addon is installed as; empty without a chart. */
export function releaseTextOfAddon(addon: TalosClusterAddon): string {
  return textOf(helmSpecOf(addon));
}

/** What a release is installed as; empty without a chart. */
export function releaseTextOf({ spec }: TalosClusterAddonRelease): string {
  return textOf(spec.helmSpec);
}

function textOf(spec: HelmSpec | undefined): string {
  return spec === undefined ? "" : helmReleaseText(helmReleaseOf(spec));
}

/** Fields that lead to Secrets and ConfigMaps, which only the namespace of the release itself may hold. */
export function namedReferences(spec: HelmSpec | undefined, manifests: ManifestsSpec | undefined): readonly string[] {
  const { credentials, tlsConfig, valuesFrom = [] } = spec ?? {};
  return [
    ...(credentials === undefined ? [] : ["helmSpec.credentials"]),
    ...(tlsConfig?.caSecret === undefined ? [] : ["helmSpec.tlsConfig.caSecret"]),
    ...(valuesFrom.length === 0 ? [] : ["helmSpec.valuesFrom"]),
    ...(manifests?.sources.some(({ configMapRef }) => configMapRef !== undefined) === true ? ["manifests.sources[].configMapRef"] : []),
  ];
}
