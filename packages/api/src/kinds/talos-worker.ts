import { notObservedYet, observedGenerationField } from "./observed-generation.ts";
import { conditionsField } from "../meta/condition.ts";
import type { ObjectMeta } from "../meta/object-meta.ts";
import type { Resource } from "../meta/resource.ts";
import { API_VERSION, TALOS_GROUP } from "../groups.ts";
import { ageColumn } from "../schema/crd.ts";
import type { KindDefinition } from "../schema/crd.ts";
import { boolean, described, integer, object, required, string } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";
import {
  configMapKeyField,
  deletionPolicyField,
  localReferenceField,
  modeField,
  modeStays,
  noContainers,
  storageClassField,
} from "./fields.ts";
import { metalSpecField } from "./metal-spec.ts";
import { kubeVersionField, talosVersionField } from "./pool-fields.ts";
import { removalsField } from "./removals.ts";
import { upgradeColumn, upgradeField } from "./upgrade-progress.ts";
import { configContractField, machinesColumn, readyColumn, runningFields, statusColumn } from "./running-fields.ts";
import { rolloutStrategyField } from "./rollout-strategy.ts";

const spec = object(
  {
    version: talosVersionField,
    mode: required(modeField),
    replicas: integer({ description: "Number of machines, for mode container only. Default: 1.", format: "int32", default: 1 }),
    metalSpec: metalSpecField,
    kubeVersion: kubeVersionField("Kubernetes version. The control plane's decides; another one here is reported. Default: v1.35.0."),
    storageClassName: storageClassField("Storage class of the volumes, for mode container only. May not change while set.", [
      { rule: "self == oldSelf", message: "StorageClassName is immutable, you cannot change it after creation" },
    ]),
    controlPlaneRef: described(localReferenceField, "The TalosControlPlane these machines join. Without it the pool waits."),
    configRef: configMapKeyField,
    deletionPolicy: deletionPolicyField,
    rolloutStrategy: rolloutStrategyField,
  },
  {
    description: "The worker pool as it should be.",
    rules: [
      modeStays,
      { rule: "self.mode!='metal' || has(self.metalSpec)", message: "MetalSpec is required when mode 'metal'" },
      noContainers,
    ],
  },
);

/** A pool of workers, as it should be. */
export interface TalosWorkerSpec extends Infer<typeof spec> {}
export const workerSpecField: Field<TalosWorkerSpec, false> = spec;

const status = object(
  {
    state: string({ description: "One word for people: Pending or Ready." }),
    ...runningFields,
    conditions: conditionsField,
    observedGeneration: observedGenerationField,
    removals: removalsField,
    upgrade: upgradeField,
    configContract: configContractField,
    imported: boolean({ description: "Written by other operators only; the TalosControlPlane says what was taken over." }),
    config: string({ description: "Written by other operators only; never read as truth, never written here." }),
  },
  { description: "The worker pool as it was last seen.", default: notObservedYet },
);

/** The worker pool as it was last seen. */
export interface TalosWorkerStatus extends Infer<typeof status> {}

/** The published words of `status.state`. */
export const workerStates = ["Pending", "Ready"] as const;

/** `Ready` when every machine of the pool is a ready node, else `Pending`. */
export type WorkerState = (typeof workerStates)[number];

/** A pool of workers of one cluster, and what is known of it. */
export interface TalosWorker {
  readonly apiVersion: "talos.alperen.cloud/v1alpha1";
  readonly kind: "TalosWorker";
  readonly metadata: ObjectMeta;
  /** The published schema does not demand it. */
  readonly spec?: TalosWorkerSpec;
  readonly status?: TalosWorkerStatus;
}

export const talosWorkerResource = {
  group: TALOS_GROUP,
  version: API_VERSION,
  kind: "TalosWorker",
  plural: "talosworkers",
  singular: "talosworker",
  listKind: "TalosWorkerList",
  namespaced: true,
  shortNames: ["tw"],
} as const satisfies Resource;

export const talosWorkerKind: KindDefinition = {
  resource: talosWorkerResource,
  categories: ["talos"],
  description: "TalosWorker is a pool of worker machines that join one TalosControlPlane.",
  spec: workerSpecField,
  status,
  printerColumns: [
    { name: "State", type: "string", jsonPath: ".status.state" },
    { name: "Version", type: "string", jsonPath: ".status.observedVersion" },
    { name: "Mode", type: "string", jsonPath: ".spec.mode" },
    ageColumn,
    readyColumn,
    statusColumn,
    machinesColumn,
    upgradeColumn,
    { name: "Cluster", type: "string", jsonPath: ".spec.controlPlaneRef.name", priority: 1 },
  ],
};
