import type { ObjectMeta } from "../meta/object-meta.ts";
import type { Resource } from "../meta/resource.ts";
import { API_VERSION, VITISTACK_GROUP } from "../groups.ts";
import { ageColumn } from "../schema/crd.ts";
import type { KindDefinition } from "../schema/crd.ts";
import { integer, list, object, oneOf, required } from "../schema/field.ts";
import type { Infer } from "../schema/field.ts";
import { text, time, whole } from "./companion-fields.ts";

const spec = object(
  {
    clusterName: required(
      text("The KubernetesCluster in the same namespace whose etcd is backed up: its metadata.name, else its data.clusterId."),
    ),
    retention: integer({
      description: "How many successful backups are kept, the newest ones. Below 1 is answered by a condition. Default: 7.",
      default: 7,
    }),
    schedule: text("When a backup is taken: cron with five fields, for example 0 */6 * * *. Default: once."),
    storageLocation: required(
      object(
        {
          bucket: text("Name of the bucket. Demanded with s3."),
          path: text("Prefix of the keys in the bucket; with local the folder below the operator's --backup-directory."),
          secretRef: text(
            "Name of a Secret in the same namespace with what leads into the bucket: accessKeyID and secretAccessKey, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and optionally endpoint, region, sessionToken, caBundle and recipients of age, one a line. Default: workload identity.",
          ),
          type: required(
            oneOf(["s3", "gcs", "azure", "local"], {
              description: "The store. gcs and azure are answered by a condition: their S3 interfaces can be used as s3.",
            }),
          ),
        },
        { description: "Where backups are kept." },
      ),
    ),
  },
  { description: "The backups as they should be." },
);

/** Backups of a KubernetesCluster, as they should be. */
export interface EtcdBackupSpec extends Infer<typeof spec> {}

/** As published: plain texts, two of them demanded. What this operator writes follows metav1.Condition. */
const condition = object(
  {
    lastTransitionTime: time("When the status last changed."),
    message: text("Why, as a sentence."),
    observedGeneration: whole("The metadata.generation that was current when the condition was set."),
    reason: text("Why, as one word."),
    status: required(text("True, False or Unknown.")),
    type: required(text("What the condition is about.")),
  },
  { description: "One aspect of the backups' state." },
);

/** The published words of `status.phase`. */
export const etcdBackupPhases = ["Pending", "Running", "Completed", "Failed"] as const;

const status = object(
  {
    backupCount: whole("Successful backups that are kept."),
    backupSize: text("Bytes of the last snapshot."),
    conditions: list(condition, { description: "What was observed, one entry for each aspect.", listType: "map", listMapKeys: ["type"] }),
    lastBackupTime: time("When a backup last ended well."),
    message: text("What goes on, as a sentence."),
    nextBackupTime: time("When the next backup is due. Absent without a schedule."),
    observedGeneration: whole("The metadata.generation that the status speaks of."),
    phase: oneOf(etcdBackupPhases, {
      description:
        "One word for people: Pending before the first run, Running while one goes on, Completed when the last one ended well, Failed when it did not.",
    }),
  },
  { description: "The backups as they were last seen." },
);

/** Backups of a KubernetesCluster, as they were last seen. */
export interface EtcdBackupStatus extends Infer<typeof status> {}

/** Backups of a KubernetesCluster: one, or at set times. */
export interface EtcdBackup {
  readonly apiVersion: "vitistack.io/v1alpha1";
  readonly kind: "EtcdBackup";
  readonly metadata: ObjectMeta;
  /** The published schema does not demand it. */
  readonly spec?: EtcdBackupSpec;
  readonly status?: EtcdBackupStatus;
}

export const etcdBackupResource = {
  group: VITISTACK_GROUP,
  version: API_VERSION,
  kind: "EtcdBackup",
  plural: "etcdbackups",
  singular: "etcdbackup",
  listKind: "EtcdBackupList",
  namespaced: true,
  shortNames: ["eb"],
} as const satisfies Resource;

export const etcdBackupKind: KindDefinition = {
  resource: etcdBackupResource,
  categories: ["talos"],
  description: "EtcdBackup takes backups of the etcd of a KubernetesCluster, once or at set times.",
  spec,
  status,
  printerColumns: [
    { name: "Cluster", type: "string", jsonPath: ".spec.clusterName" },
    { name: "Storage", type: "string", jsonPath: ".spec.storageLocation.type" },
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Last Backup", type: "date", jsonPath: ".status.lastBackupTime" },
    ageColumn,
  ],
};
