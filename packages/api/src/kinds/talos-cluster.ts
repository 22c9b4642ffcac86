import { notObservedYet, observedGenerationField } from "./observed-generation.ts";
import { conditionsField } from "../meta/condition.ts";
import type { ObjectMeta } from "../meta/object-meta.ts";
import type { Resource } from "../meta/resource.ts";
import { API_VERSION, TALOS_GROUP } from "../groups.ts";
import { ageColumn } from "../schema/crd.ts";
import type { KindDefinition } from "../schema/crd.ts";
import { described, object, required, string, textLike } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";
import { localReferenceField } from "./fields.ts";
import { machinesColumn, observedKubeVersionField, readyColumn, runningFields, statusColumn } from "./running-fields.ts";
import { controlPlaneSpecField } from "./talos-control-plane.ts";
import { workerSpecField } from "./talos-worker.ts";
import { upgradeColumn, upgradeField } from "./upgrade-progress.ts";

const pxeServerSpec = object(
  {
    address: required(
      // The range of an octet is not checked.
      textLike("^(\\d{1,3}\\.){3}\\d{1,3}$", "must be an IPv4 address, for example 10.0.0.5", {
        description: "IPv4 address of the host that serves network boot.",
        maxLength: 15,
      }),
    ),
    interface: required(string({ description: "Network interface of that host on the boot network." })),
  },
  { description: "Where machines boot from over the network. Not supported yet: named by the condition FieldNotSupported." },
);

/** Where machines boot from over the network. */
export interface PxeServerSpec extends Infer<typeof pxeServerSpec> {}

const spec = object(
  {
    controlPlane: described(
      controlPlaneSpecField,
      "The control plane, made as a TalosControlPlane of the cluster's name. Not together with controlPlaneRef.",
    ),
    controlPlaneRef: described(localReferenceField, "An existing TalosControlPlane. Not together with controlPlane."),
    worker: described(workerSpecField, "The worker pool, made as a TalosWorker of the cluster's name. Not together with workerRef."),
    workerRef: described(localReferenceField, "An existing TalosWorker. Not together with worker."),
    pxeServerSpec: pxeServerSpec,
  },
  {
    description: "The cluster as it should be.",
    rules: [
      {
        rule: "!(has(self.controlPlane) && has(self.controlPlaneRef))",
        message: "Specify either controlPlane or controlPlaneRef, but not both",
      },
      { rule: "!(has(self.worker) && has(self.workerRef))", message: "Specify either worker or workerRef, but not both" },
    ],
  },
);

/** One cluster, as it should be. */
export interface TalosClusterSpec extends Infer<typeof spec> {}
const specField: Field<TalosClusterSpec, false> = spec;

const status = object(
  {
    conditions: conditionsField,
    observedGeneration: observedGenerationField,
    ...runningFields,
    observedKubeVersion: observedKubeVersionField,
    upgrade: upgradeField,
  },
  { description: "The cluster as it was last seen.", default: notObservedYet },
);

/** The cluster as it was last seen. */
export interface TalosClusterStatus extends Infer<typeof status> {}

/** One cluster: a control plane and a worker pool, inline or by reference. */
export interface TalosCluster {
  readonly apiVersion: "talos.alperen.cloud/v1alpha1";
  readonly kind: "TalosCluster";
  readonly metadata: ObjectMeta;
  /** The published schema does not demand it. */
  readonly spec?: TalosClusterSpec;
  readonly status?: TalosClusterStatus;
}

export const talosClusterResource = {
  group: TALOS_GROUP,
  version: API_VERSION,
  kind: "TalosCluster",
  plural: "talosclusters",
  singular: "taloscluster",
  listKind: "TalosClusterList",
  namespaced: true,
  shortNames: ["tc"],
} as const satisfies Resource;

export const talosClusterKind: KindDefinition = {
  resource: talosClusterResource,
  categories: ["talos"],
  description: "TalosCluster is a Talos Linux cluster in one document: a control plane and a worker pool, inline or by reference.",
  spec: specField,
  status,
  printerColumns: [
    readyColumn,
    statusColumn,
    machinesColumn,
    upgradeColumn,
    { name: "Version", type: "string", jsonPath: ".status.observedVersion" },
    { name: "KubeVersion", type: "string", jsonPath: ".status.observedKubeVersion" },
    ageColumn,
  ],
};
