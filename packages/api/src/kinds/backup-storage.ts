import { boolean, described, object, required, string } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";
import { secretKeyField } from "./fields.ts";

const s3 = object(
  {
    bucket: required(string({ description: "Name of the bucket. It is never made or emptied; it may hold other things." })),
    region: required(string({ description: "Region, for example eu-central-1. Stores that know none take us-east-1." })),
    endpoint: string({
      description:
        "URL of a store that is not AWS, for example https://s3.example.org. Turns on path style. Default: that of AWS in the region.",
    }),
    prefix: string({
      description:
        "Begins every key in the bucket, for example clusters/berlin; no slash at either end. Default: talos-operator-etcd-backups.",
    }),
    pathStyle: boolean({
      description: "True names the bucket in the path, false in the host name. Default: true with endpoint, else false.",
    }),
    accessKeyID: described(
      secretKeyField,
      "The access key ID. Without both keys the workload identity of the backup Job's ServiceAccount is used.",
    ),
    secretAccessKey: described(secretKeyField, "The secret access key that belongs to accessKeyID."),
    sessionToken: described(secretKeyField, "The session token of keys that end by themselves."),
    caBundle: string({ description: "PEM of the authorities whose certificates the endpoint may show, beside those of the system." }),
    insecureSkipTLSVerify: boolean({
      description:
        "True leaves the endpoint's certificate unchecked. Only with the operator's flag --allow-insecure-object-storage, and a condition says so; caBundle is the better way.",
      default: false,
    }),
  },
  {
    description: "A bucket that is reached by the S3 protocol.",
    rules: [
      {
        rule: "has(self.accessKeyID) == has(self.secretAccessKey)",
        message: "accessKeyID and secretAccessKey belong together; leave out both for workload identity",
      },
    ],
  },
);

/** `backupStorage.s3`. */
export interface S3Storage extends Infer<typeof s3> {}

const directory = object(
  {
    path: string({
      description:
        "Folder below the operator's --backup-directory, relative and without ..; made when it is not there. Default: that folder.",
    }),
    prefix: string({
      description: "Begins every path in the folder; no slash at either end. Default: talos-operator-etcd-backups.",
    }),
  },
  { description: "A folder or volume of the operator. A first backup needs nothing else." },
);

/** `backupStorage.directory`. */
export interface DirectoryStorage extends Infer<typeof directory> {}

const storage = object(
  { s3, directory },
  {
    description: "Where the backup is kept: exactly one store.",
    rules: [{ rule: "has(self.s3) != has(self.directory)", message: "give exactly one store: s3 or directory" }],
  },
);

/** Where a backup is kept: exactly one store. */
export interface BackupStorage extends Infer<typeof storage> {}
export const backupStorageField: Field<BackupStorage, false> = storage;

/** Begins every key where nothing else is said, as the operator that published the kinds has it. */
export const DEFAULT_BACKUP_PREFIX = "talos-operator-etcd-backups";
