import { isDeepStrictEqual } from "node:util";
import {
  addonReleaseName,
  annotations,
  apiVersionOf,
  controllerOf,
  controllerReference,
  labelValueFor,
  labels,
  talosClusterAddonResource,
  talosControlPlaneResource,
} from "@talos-operator/api";
import type { TalosClusterAddon, TalosClusterAddonRelease, TalosControlPlane } from "@talos-operator/api";
import type { JsonPatchOperation } from "@talos-operator/kube-runtime";
import { helmSpecOf, manifestsOf } from "./helm-release.ts";

/** The value of the label that an addon's releases bear. */
export function addonLabel({ metadata }: Pick<TalosClusterAddon, "metadata">): string {
  return labelValueFor(`${metadata.namespace ?? ""}.${metadata.name}`);
}

/** How a release is an addon's: `named` for one of an earlier addon of the same name, whose UID was another. */
export type Belonging = "own" | "published" | "named" | "nobody" | "other";

/**
 * Whose a release is. By UID first: of the owner, or of the annotation that was written beside the label. A label alone counts where it names this addon, for
 * only one addon can have that name.
 */
export function belongingOf(release: TalosClusterAddonRelease, addon: TalosClusterAddon): Belonging {
  const { metadata } = release;
  const owner = controllerOf(metadata);
  const label = metadata.labels?.[labels.addon];
  const uid = metadata.annotations?.[annotations.addonUid];
  const isOwner =
    owner?.kind === addon.kind && owner.apiVersion === apiVersionOf(talosClusterAddonResource) && owner.uid === addon.metadata.uid;
  if (owner !== undefined && !isOwner) return "other";
  if (label === undefined && uid === undefined) return isOwner ? "published" : "nobody";
  if (uid !== undefined && uid === addon.metadata.uid) return "own";
  if (isOwner) return "own";
  return label === addonLabel(addon) ? "named" : "other";
}

/** The release as it is to be on a cluster. What others wrote into its metadata stays. */
export function releaseFor(
  addon: TalosClusterAddon,
  controlPlane: TalosControlPlane,
  existing: TalosClusterAddonRelease | undefined,
): TalosClusterAddonRelease {
  const { namespace, name, uid } = controlPlane.metadata;
  const { dependsOn, namespaceLabels, rollback, drift } = addon.spec;
  const helmSpec = helmSpecOf(addon);
  const manifests = manifestsOf(addon);
  const isSameNamespace = namespace === addon.metadata.namespace;
  const isPublished = existing !== undefined && belongingOf(existing, addon) === "published";
  const { [annotations.addonNotSelected]: _marked, ...kept } = existing?.metadata.annotations ?? {};
  const others = existing?.metadata.ownerReferences?.filter((owner) => owner.kind !== addon.kind) ?? [];
  const ownerReferences = [...(isSameNamespace ? [controllerReference(addon)] : []), ...others];
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosClusterAddonRelease",
    metadata: {
      ...existing?.metadata,
      ...(namespace === undefined ? {} : { namespace }),
      name: addonReleaseName(name, addon.metadata.name),
      labels: { ...existing?.metadata.labels, [labels.addon]: addonLabel(addon), [labels.cluster]: labelValueFor(name) },
      annotations: {
        ...kept,
        [annotations.addonUid]: addon.metadata.uid ?? "",
        ...(isPublished ? { [annotations.addonAdopted]: "published" } : {}),
      },
      ...(ownerReferences.length === 0 ? {} : { ownerReferences }),
    },
    spec: {
      clusterRef: {
        apiVersion: apiVersionOf(talosControlPlaneResource),
        kind: talosControlPlaneResource.kind,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        ...(uid === undefined ? {} : { uid }),
      },
      ...(helmSpec === undefined ? {} : { helmSpec }),
      ...(manifests === undefined ? {} : { manifests }),
      ...(dependsOn === undefined ? {} : { dependsOn: dependsOn.map((other) => addonReleaseName(name, other)) }),
      ...(namespaceLabels === undefined ? {} : { namespaceLabels }),
      ...(rollback === undefined ? {} : { rollback }),
      ...(drift === undefined ? {} : { drift }),
    },
  };
}

/** The release with the mark that its cluster is not selected any more. Nothing else of it changes. */
export function markedNotSelected(release: TalosClusterAddonRelease): TalosClusterAddonRelease {
  const { metadata } = release;
  return { ...release, metadata: { ...metadata, annotations: { ...metadata.annotations, [annotations.addonNotSelected]: "true" } } };
}

/** The release as nobody's: what was made of it stays. */
export function withoutOwner(release: TalosClusterAddonRelease, addon: TalosClusterAddon): TalosClusterAddonRelease {
  const { metadata } = release;
  const { [labels.addon]: _label, ...keptLabels } = metadata.labels ?? {};
  const { [annotations.addonUid]: _uid, ...keptAnnotations } = metadata.annotations ?? {};
  const ownerReferences = metadata.ownerReferences?.filter(({ uid }) => uid !== addon.metadata.uid) ?? [];
  return { ...release, metadata: { ...metadata, labels: keptLabels, annotations: keptAnnotations, ownerReferences } };
}

/** What makes one of the other, by compare-and-swap; empty when there is nothing to do. Only what differs is written. `from` was read just now: caches drop some annotations. */
export function patchBetween(from: TalosClusterAddonRelease, to: TalosClusterAddonRelease): readonly JsonPatchOperation[] {
  const owners: readonly JsonPatchOperation[] = isDeepStrictEqual(from.metadata.ownerReferences ?? [], to.metadata.ownerReferences ?? [])
    ? []
    : [{ op: "add", path: "/metadata/ownerReferences", value: to.metadata.ownerReferences ?? [] }];
  const spec: readonly JsonPatchOperation[] = isDeepStrictEqual(from.spec, to.spec)
    ? []
    : [{ op: "replace", path: "/spec", value: to.spec }];
  const operations = [
    ...mapPatch("/metadata/labels", from.metadata.labels, to.metadata.labels ?? {}),
    ...mapPatch("/metadata/annotations", from.metadata.annotations, to.metadata.annotations ?? {}),
    ...owners,
    ...spec,
  ];
  if (operations.length === 0) return [];
  return [{ op: "replace", path: "/metadata/resourceVersion", value: from.metadata.resourceVersion ?? "" }, ...operations];
}

type Text = Readonly<Record<string, string>>;

function mapPatch(path: string, from: Text | undefined, to: Text): readonly JsonPatchOperation[] {
  const changed = Object.entries(to).filter(([key, value]) => from?.[key] !== value);
  const gone = Object.keys(from ?? {}).filter((key) => !(key in to));
  const at = (key: string): string => `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return [
    ...(from === undefined && changed.length > 0 ? [{ op: "add", path, value: {} } as const] : []),
    ...changed.map(([key, value]) => ({ op: "add", path: at(key), value }) as const),
    ...gone.map((key) => ({ op: "remove", path: at(key) }) as const),
  ];
}
