import type { Reader } from "./readers.ts";

/** What the Jobs of backups are made of. */
export interface BackupJobSettings {
  /** The operator's own, which has etcd and etcdutl beside the program. */
  readonly image: string;
  readonly imagePullPolicy?: string;
  readonly imagePullSecrets?: readonly { readonly name?: string }[];
  /** In the operator's namespace, without any right. */
  readonly serviceAccountName: string;
  /** As a container has them. */
  readonly resources?: Readonly<Record<string, unknown>>;
  /** Room for one snapshot and its restore, as a quantity. */
  readonly scratchSize: string;
  /** Absent: an emptyDir. */
  readonly scratchStorageClass?: string;
  /** PersistentVolumeClaim that is mounted at `--backup-directory`. */
  readonly directoryClaim?: string;
  /** Labels and annotations of the pods, beside those of the operator. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly Readonly<Record<string, unknown>>[];
  readonly priorityClassName?: string;
}

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
const isTexts = (value: unknown): boolean =>
  isObject(value) && Object.values(value as Record<string, unknown>).every((one) => typeof one === "string");
const isObjects = (value: unknown): boolean => Array.isArray(value) && value.every(isObject);
const isSize = (value: unknown): boolean => typeof value === "string" && /^\d+(\.\d+)?([KMGTP]i?)?$/.test(value);

const demanded = ["image", "serviceAccountName", "scratchSize"] as const satisfies readonly (keyof BackupJobSettings)[];
const checks: Readonly<Record<keyof BackupJobSettings, (value: unknown) => boolean>> = {
  image: isText,
  imagePullPolicy: isText,
  imagePullSecrets: isObjects,
  serviceAccountName: isText,
  resources: isObject,
  scratchSize: isSize,
  scratchStorageClass: isText,
  directoryClaim: isText,
  labels: isTexts,
  annotations: isTexts,
  nodeSelector: isTexts,
  tolerations: isObjects,
  priorityClassName: isText,
};

/** JSON of {@link BackupJobSettings}; empty is none. A field that nothing reads is refused, for it would have no effect. */
export const readBackupJob: Reader<BackupJobSettings | undefined> = (text) => {
  if (text.trim() === "") return { value: undefined };
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { problem: "is no JSON" };
  }
  if (!isObject(parsed)) return { problem: "is no JSON object" };
  const job = parsed as Record<string, unknown>;
  const wrong = [
    ...demanded.filter((name) => job[name] === undefined),
    ...Object.keys(job).filter((name) => !(Object.hasOwn(checks, name) && checks[name as keyof BackupJobSettings](job[name]))),
  ];
  return wrong.length > 0
    ? { problem: `has fields that are missing, unknown or of another form: ${wrong.join(", ")}` }
    : { value: parsed as BackupJobSettings };
};
