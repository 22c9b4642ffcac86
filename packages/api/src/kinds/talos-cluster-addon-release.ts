import { notObservedYet, observedGenerationField } from "./observed-generation.ts";
import { conditionsField } from "../meta/condition.ts";
import type { ObjectMeta } from "../meta/object-meta.ts";
import type { Resource } from "../meta/resource.ts";
import { API_VERSION, TALOS_GROUP } from "../groups.ts";
import { ageColumn } from "../schema/crd.ts";
import type { KindDefinition } from "../schema/crd.ts";
import { described, list, object, required, string } from "../schema/field.ts";
import type { Infer } from "../schema/field.ts";
import { addonPolicyFields, releaseFactFields } from "./addon-fields.ts";
import { objectReferenceField } from "./fields.ts";
import { helmSpecField } from "./helm-spec.ts";
import { manifestsSpecField } from "./manifests-spec.ts";
import { readyColumn, reasonColumn } from "./running-fields.ts";

const spec = object(
  {
    clusterRef: required(
      described(
        objectReferenceField,
        "The cluster: a TalosControlPlane, or a TalosCluster where kind says so. Only one in the same namespace.",
      ),
    ),
    helmSpec: helmSpecField,
    manifests: manifestsSpecField,
    dependsOn: list(string({ description: "Name of a TalosClusterAddonRelease in the same namespace.", minLength: 1, maxLength: 253 }), {
      description: "Releases that are Ready before this one is installed.",
      listType: "atomic",
      maxItems: 16,
    }),
    ...addonPolicyFields,
  },
  { description: "The release as it should be." },
);

/** A release, as it should be. */
export interface TalosClusterAddonReleaseSpec extends Infer<typeof spec> {}

const status = object(
  { conditions: conditionsField, observedGeneration: observedGenerationField, ...releaseFactFields },
  { description: "The release as it was last seen.", default: notObservedYet },
);

/** A release as it was last seen. */
export interface TalosClusterAddonReleaseStatus extends Infer<typeof status> {}

/** One Helm release, or one set of objects, in one cluster. */
export interface TalosClusterAddonRelease {
  readonly apiVersion: "talos.alperen.cloud/v1alpha1";
  readonly kind: "TalosClusterAddonRelease";
  readonly metadata: ObjectMeta;
  readonly spec: TalosClusterAddonReleaseSpec;
  readonly status?: TalosClusterAddonReleaseStatus;
}

export const talosClusterAddonReleaseResource = {
  group: TALOS_GROUP,
  version: API_VERSION,
  kind: "TalosClusterAddonRelease",
  plural: "talosclusteraddonreleases",
  singular: "talosclusteraddonrelease",
  listKind: "TalosClusterAddonReleaseList",
  namespaced: true,
  shortNames: ["tcar"],
} as const satisfies Resource;

export const talosClusterAddonReleaseKind: KindDefinition = {
  resource: talosClusterAddonReleaseResource,
  categories: ["talos"],
  description: "TalosClusterAddonRelease is one Helm release, or one set of objects, in one cluster: of an addon, or made by hand.",
  spec: required(spec),
  status,
  printerColumns: [
    { name: "Cluster", type: "string", jsonPath: ".spec.clusterRef.name" },
    { name: "Chart", type: "string", jsonPath: ".spec.helmSpec.chartName" },
    ageColumn,
    readyColumn,
    reasonColumn,
    { name: "Version", type: "string", jsonPath: ".status.chart.version" },
    { name: "Revision", type: "integer", jsonPath: ".status.revision" },
    { name: "App Version", type: "string", jsonPath: ".status.chart.appVersion", priority: 1 },
  ],
};
