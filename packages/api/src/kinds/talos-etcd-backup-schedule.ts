import { notObservedYet, observedGenerationField } from "./observed-generation.ts";
import { conditionsField } from "../meta/condition.ts";
import type { ObjectMeta } from "../meta/object-meta.ts";
import type { Resource } from "../meta/resource.ts";
import { API_VERSION, TALOS_GROUP } from "../groups.ts";
import { ageColumn } from "../schema/crd.ts";
import type { KindDefinition } from "../schema/crd.ts";
import { boolean, described, integer, list, object, oneOf, required, string, stringMap } from "../schema/field.ts";
import type { Infer } from "../schema/field.ts";
import { durationField } from "./fields.ts";
import { readyColumn, reasonColumn } from "./running-fields.ts";
import { etcdBackupSpecField, identitySecretField } from "./talos-etcd-backup.ts";

const time = (description: string) => string({ description, format: "date-time" });
const kept = (unit: string) =>
  integer({
    description: `The newest backup of each of so many ${unit} is kept as well, in the schedule's time zone. Default: 0, none for that.`,
    format: "int32",
    minimum: 0,
  });

const template = object(
  {
    metadata: object(
      {
        labels: stringMap({ description: "Labels of each backup, beside those of the operator." }),
        annotations: stringMap({ description: "Annotations of each backup." }),
      },
      { description: "What each backup is marked with." },
    ),
    spec: required(described(etcdBackupSpecField, "The spec of each backup.")),
  },
  { description: "What each backup is made from. A change holds for the backups after it." },
);

const spec = object(
  {
    schedule: required(
      string({
        description: "When a backup is taken: cron with five fields, for example 0 2 * * * for two in the night.",
        minLength: 1,
      }),
    ),
    timeZone: string({
      description: "Time zone of the schedule, for example Europe/Berlin. Default: that of the operator, UTC in its image.",
      maxLength: 64,
    }),
    backupTemplate: required(template),
    retention: integer({
      description: "How many successful backups are kept at least, the newest ones. Default: 5.",
      format: "int32",
      minimum: 1,
      default: 5,
    }),
    keepDaily: kept("days"),
    keepWeekly: kept("weeks"),
    keepMonthly: kept("months"),
    keepFor: durationField("Backups younger than this are kept as well, for example 30d. Default: none for their age."),
    paused: boolean({
      description: "True takes no backup until it is false again; what was missed meanwhile stays missed.",
      default: false,
    }),
    startingDeadline: durationField(
      "How late a backup may begin; one that is later counts as missed and the next one is waited for. Default: until the next one is due.",
    ),
    drill: object(
      {
        identitySecretRef: identitySecretField,
        interval: durationField("How often the newest backup is proved again; 0s = never. Default: 24h.", "24h"),
      },
      { description: "How the newest backup is proved again. Absent: every 24h, without an identity." },
    ),
  },
  { description: "The schedule as it should be." },
);

/** A schedule of backups, as it should be. */
export interface TalosEtcdBackupScheduleSpec extends Infer<typeof spec> {}

const status = object(
  {
    conditions: conditionsField,
    observedGeneration: observedGenerationField,
    lastScheduleTime: time("The time for which a backup was last made."),
    nextScheduleTime: time("When the next backup is due. Absent while none is."),
    lastSuccessfulBackupTime: time("When a backup last ended well."),
    activeBackups: list(string({ description: "Name of a TalosEtcdBackup." }), { description: "Backups that are not ended." }),
    backups: integer({ description: "Successful backups that are kept.", minimum: 0 }),
    missed: integer({
      description: "Backups that were due and could not begin in time, since the schedule exists.",
      format: "int64",
      minimum: 0,
    }),
    skipped: integer({
      description: "Backups that were due while the one before them was still running, since the schedule exists.",
      format: "int64",
      minimum: 0,
    }),
    provedNow: string({ description: "Value of the annotation talos-operator.dev/prove-now that was last acted on.", maxLength: 256 }),
    lastProof: object(
      {
        backup: required(string({ description: "Name of the TalosEtcdBackup." })),
        at: required(time("When.")),
        result: required(oneOf(["Proved", "Failed"], { description: "Whether it held." })),
        how: oneOf(["Restored", "ReadOnly", "BytesCompared"], { description: "As proof.how of the backup. Absent when it failed." }),
        on: oneOf(["AtWriting", "FromStore"], { description: "As proof.on of the backup. Absent when it failed." }),
      },
      { description: "The last proof of one of its backups." },
    ),
  },
  { description: "The schedule as it was last seen.", default: notObservedYet },
);

/** A schedule of backups as it was last seen. */
export interface TalosEtcdBackupScheduleStatus extends Infer<typeof status> {}

/** Backups of one cluster at set times. */
export interface TalosEtcdBackupSchedule {
  readonly apiVersion: "talos.alperen.cloud/v1alpha1";
  readonly kind: "TalosEtcdBackupSchedule";
  readonly metadata: ObjectMeta;
  readonly spec: TalosEtcdBackupScheduleSpec;
  readonly status?: TalosEtcdBackupScheduleStatus;
}

export const talosEtcdBackupScheduleResource = {
  group: TALOS_GROUP,
  version: API_VERSION,
  kind: "TalosEtcdBackupSchedule",
  plural: "talosetcdbackupschedules",
  singular: "talosetcdbackupschedule",
  listKind: "TalosEtcdBackupScheduleList",
  namespaced: true,
  shortNames: ["tebs"],
} as const satisfies Resource;

export const talosEtcdBackupScheduleKind: KindDefinition = {
  resource: talosEtcdBackupScheduleResource,
  categories: ["talos"],
  description: "TalosEtcdBackupSchedule takes backups of a cluster's etcd at set times, keeps as many as asked for, and proves the newest.",
  spec: required(spec),
  status,
  printerColumns: [
    { name: "Schedule", type: "string", jsonPath: ".spec.schedule" },
    { name: "Last Backup", type: "date", jsonPath: ".status.lastSuccessfulBackupTime" },
    // A column of dates shows how long ago something was, and what is to come as <invalid>.
    { name: "Next Backup", type: "string", jsonPath: ".status.nextScheduleTime" },
    { name: "Paused", type: "boolean", jsonPath: ".spec.paused" },
    readyColumn,
    reasonColumn,
    { name: "Backups", type: "integer", jsonPath: ".status.backups" },
    { name: "Proof", type: "string", jsonPath: ".status.lastProof.result" },
    ageColumn,
  ],
};
