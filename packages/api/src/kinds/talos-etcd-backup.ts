import { notObservedYet, observedGenerationField } from "./observed-generation.ts";
import { conditionsField } from "../meta/condition.ts";
import type { ObjectMeta } from "../meta/object-meta.ts";
import type { Resource } from "../meta/resource.ts";
import { API_VERSION, TALOS_GROUP } from "../groups.ts";
import { ageColumn } from "../schema/crd.ts";
import type { KindDefinition } from "../schema/crd.ts";
import { boolean, described, integer, list, object, oneOf, quantity, required, string } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";
import { backupFactFields, backupProofField, backupRunField } from "./backup-facts.ts";
import { backupStorageField } from "./backup-storage.ts";
import { durationField, localReferenceField, secretKeyField } from "./fields.ts";
import { readyColumn, reasonColumn } from "./running-fields.ts";

/** An identity that decrypts, for drills. */
export const identitySecretField = described(
  secretKeyField,
  "Key of a Secret in the same namespace with an age identity (AGE-SECRET-KEY-1…) of one of the recipients: later proofs then restore what is stored. Without it they compare stored bytes.",
);

const drill = object({ identitySecretRef: identitySecretField }, { description: "How the backup is proved." });

const spec = object(
  {
    talosControlPlaneRef: described(
      localReferenceField,
      "The TalosControlPlane whose etcd is backed up, in the same namespace. Either this or clusterRef.",
    ),
    clusterRef: described(
      localReferenceField,
      "The TalosCluster in the same namespace whose control plane is backed up, in place of talosControlPlaneRef.",
    ),
    storageType: oneOf(["S3", "Directory"], {
      description: "Which store backupStorage names. Default: the one that is there; another one is refused.",
    }),
    backupStorage: required(backupStorageField),
    encryption: object(
      {
        recipients: list(string({ description: "A recipient of age: age1…, as age-keygen prints it.", maxLength: 4096 }), {
          description:
            "Who can decrypt the backup. With recipients the cluster's keys are stored beside the snapshot, for them alone; without, the snapshot is stored in clear and the keys are not stored.",
          listType: "atomic",
          maxItems: 16,
        }),
      },
      { description: "Encryption of what is stored, by age. Nobody but the owners of the identities can undo it, the operator neither." },
    ),
    retention: object(
      {
        keep: boolean({ description: "True keeps the backup whatever retention a schedule has." }),
        keepFor: durationField(
          "How long the object is kept after it ended, for example 720h or 30d; then it is deleted, and deletionPolicy says what of the stored bytes. Default: until somebody deletes it.",
        ),
      },
      {
        description: "How long this backup is kept.",
        rules: [
          {
            rule: "!(has(self.keep) && self.keep && has(self.keepFor))",
            message: "keep and keepFor contradict each other: give one",
          },
        ],
      },
    ),
    deletionPolicy: oneOf(["retain", "delete"], {
      description:
        "What deletion of this object does to what is stored: retain leaves it, delete removes it when the store answers. May change at any time. Default: retain.",
    }),
    drill,
    timeout: durationField("How long one try may take. Default: 1h."),
    maxSize: quantity({
      description: "Largest snapshot that is taken, as a quantity. Default: 8Gi, the most that etcd itself allows.",
    }),
  },
  {
    description: "The backup as it should be. Once it was taken only deletionPolicy, retention, drill and the keys of the store still act.",
    rules: [
      {
        rule: "has(self.talosControlPlaneRef) != has(self.clusterRef)",
        message: "give either talosControlPlaneRef or clusterRef",
      },
      {
        rule: "!has(self.storageType) || (self.storageType == 'S3' ? has(self.backupStorage.s3) : has(self.backupStorage.directory))",
        message: "storageType names another store than backupStorage holds",
      },
    ],
  },
);

/** A backup, as it should be. */
export interface TalosEtcdBackupSpec extends Infer<typeof spec> {}
/** Without `required`, for the template of a schedule. */
export const etcdBackupSpecField: Field<TalosEtcdBackupSpec, false> = spec;

/**
 * What holds where the spec of a backup says nothing. Not in the schema: what is stored of a published object must stay as published.
 */
export const backupDefaults = {
  deletionPolicy: "retain",
  timeoutMs: 3_600_000,
  maxBytes: 8 * 2 ** 30,
  drillIntervalMs: 86_400_000,
} as const;

const status = object(
  {
    conditions: conditionsField,
    observedGeneration: observedGenerationField,
    ...backupFactFields,
    controlPlane: string({ description: "Name of the TalosControlPlane that was resolved." }),
    clusterId: string({
      description: "Talos cluster.id of the cluster that was backed up; the folder in the store carries 12 digits of its hash.",
    }),
    takenGeneration: integer({
      description:
        "The metadata.generation that the backup was taken with; where it is smaller than the current one the spec was changed afterwards.",
      format: "int64",
    }),
    slot: string({ description: "What the backup is called in the store: the same for every try." }),
    attempts: integer({ description: "Tries to take it so far.", minimum: 0 }),
    nextAttemptTime: string({ description: "When the next try begins. Absent when none is waited for.", format: "date-time" }),
    run: backupRunField,
    proof: backupProofField,
    lastProofTime: string({ description: "When a proof was last tried, whether it held or not.", format: "date-time" }),
    provedNow: string({ description: "Value of the annotation talos-operator.dev/prove-now that was last acted on.", maxLength: 256 }),
  },
  { description: "The backup as it was last seen.", default: notObservedYet },
);

/** A backup as it was last seen. */
export interface TalosEtcdBackupStatus extends Infer<typeof status> {}

/** One snapshot of the etcd of one cluster, stored and proved. */
export interface TalosEtcdBackup {
  readonly apiVersion: "talos.alperen.cloud/v1alpha1";
  readonly kind: "TalosEtcdBackup";
  readonly metadata: ObjectMeta;
  readonly spec: TalosEtcdBackupSpec;
  readonly status?: TalosEtcdBackupStatus;
}

export const talosEtcdBackupResource = {
  group: TALOS_GROUP,
  version: API_VERSION,
  kind: "TalosEtcdBackup",
  plural: "talosetcdbackups",
  singular: "talosetcdbackup",
  listKind: "TalosEtcdBackupList",
  namespaced: true,
  shortNames: ["teb"],
} as const satisfies Resource;

export const talosEtcdBackupKind: KindDefinition = {
  resource: talosEtcdBackupResource,
  categories: ["talos"],
  description: "TalosEtcdBackup is one snapshot of a cluster's etcd, stored outside of it and proved.",
  spec: required(spec),
  status,
  printerColumns: [
    { name: "Filename", type: "string", jsonPath: ".status.filename" },
    ageColumn,
    readyColumn,
    reasonColumn,
    { name: "Size", type: "integer", jsonPath: ".status.size" },
    { name: "Revision", type: "integer", jsonPath: ".status.revision" },
    { name: "Proved", type: "string", jsonPath: '.status.conditions[?(@.type=="Proved")].reason' },
    { name: "Cluster", type: "string", jsonPath: ".status.controlPlane", priority: 1 },
    { name: "Place", type: "string", jsonPath: ".status.place", priority: 1 },
  ],
};
