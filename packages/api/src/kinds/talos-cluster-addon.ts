import { notObservedYet, observedGenerationField } from "./observed-generation.ts";
import { conditionsField } from "../meta/condition.ts";
import type { ObjectMeta } from "../meta/object-meta.ts";
import type { Resource } from "../meta/resource.ts";
import { API_VERSION, TALOS_GROUP } from "../groups.ts";
import { ageColumn } from "../schema/crd.ts";
import type { KindDefinition } from "../schema/crd.ts";
import { integer, list, object, oneOf, required, string, stringMap } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";
import { addonPolicyFields } from "./addon-fields.ts";
import { helmSpecField } from "./helm-spec.ts";
import { manifestsSpecField } from "./manifests-spec.ts";
import { readyColumn, reasonColumn } from "./running-fields.ts";

const selector = object(
  {
    matchExpressions: list(
      object(
        {
          key: required(string({ description: "Key of the label." })),
          operator: required(string({ description: "In, NotIn, Exists or DoesNotExist." })),
          values: list(string({ description: "A value." }), {
            description: "Values for In and NotIn; none for the others.",
            listType: "atomic",
          }),
        },
        { description: "A demand on one label." },
      ),
      { description: "Demands on labels; all hold.", listType: "atomic" },
    ),
    matchLabels: stringMap({ description: "Labels with these values." }),
  },
  {
    description:
      "Clusters by the labels of their TalosControlPlane or TalosCluster. An empty selector selects none. Clusters of other namespaces count where the Namespace allows it by the annotation talos-operator.dev/addons-from.",
    mapType: "atomic",
  },
);

/** Selects objects by their labels, as `metav1.LabelSelector`. */
export interface LabelSelector extends Infer<typeof selector> {}
const selectorField: Field<LabelSelector, false> = selector;

const spec = object(
  {
    clusterSelector: selectorField,
    helmSpec: helmSpecField,
    manifests: manifestsSpecField,
    targetNamespace: string({
      description:
        "Namespace of the release in the clusters, in place of helmSpec.namespace or manifests.namespace. Both may be given when they are equal.",
      maxLength: 63,
    }),
    dependsOn: list(string({ description: "Name of a TalosClusterAddon in the same namespace.", minLength: 1, maxLength: 253 }), {
      description: "Addons that are Ready on a cluster before this one is installed there.",
      listType: "atomic",
      maxItems: 16,
    }),
    onDeselect: oneOf(["keep", "uninstall"], {
      description: "What happens to the release of a cluster that is no longer selected: keep leaves it as it is. Default: keep.",
    }),
    ...addonPolicyFields,
  },
  { description: "The addon as it should be." },
);

/** An addon, as it should be. */
export interface TalosClusterAddonSpec extends Infer<typeof spec> {}

const status = object(
  {
    conditions: conditionsField,
    observedGeneration: observedGenerationField,
    clusters: integer({ description: "Clusters that are selected.", minimum: 0 }),
    ready: integer({ description: "Clusters that run it as it should be.", minimum: 0 }),
    failed: integer({ description: "Clusters on which only a person can help it on.", minimum: 0 }),
    notSelected: integer({ description: "Releases that stay although their cluster is no longer selected.", minimum: 0 }),
  },
  { description: "The addon as it was last seen.", default: notObservedYet },
);

/** An addon as it was last seen. */
export interface TalosClusterAddonStatus extends Infer<typeof status> {}

/** A Helm chart, or a set of objects, for every cluster that is selected. */
export interface TalosClusterAddon {
  readonly apiVersion: "talos.alperen.cloud/v1alpha1";
  readonly kind: "TalosClusterAddon";
  readonly metadata: ObjectMeta;
  readonly spec: TalosClusterAddonSpec;
  readonly status?: TalosClusterAddonStatus;
}

export const talosClusterAddonResource = {
  group: TALOS_GROUP,
  version: API_VERSION,
  kind: "TalosClusterAddon",
  plural: "talosclusteraddons",
  singular: "talosclusteraddon",
  listKind: "TalosClusterAddonList",
  namespaced: true,
  shortNames: ["tca"],
} as const satisfies Resource;

export const talosClusterAddonKind: KindDefinition = {
  resource: talosClusterAddonResource,
  categories: ["talos"],
  description: "TalosClusterAddon is a Helm chart, or a set of objects, for every cluster that its selector names.",
  spec: required(spec),
  status,
  printerColumns: [
    { name: "Chart", type: "string", jsonPath: ".spec.helmSpec.chartName" },
    { name: "Version", type: "string", jsonPath: ".spec.helmSpec.version" },
    ageColumn,
    readyColumn,
    reasonColumn,
    { name: "Clusters", type: "integer", jsonPath: ".status.clusters" },
    { name: "On", type: "integer", jsonPath: ".status.ready" },
    { name: "Failed", type: "integer", jsonPath: ".status.failed" },
  ],
};
