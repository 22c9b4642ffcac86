import type { BackupStorage } from "../kinds/backup-storage.ts";
import type { EtcdBackupSpec } from "./etcd-backup.ts";

/** What an EtcdBackup and the Secret that it names ask for, in the words of a TalosEtcdBackup. Holds no secret: keys are named, not read. */
export interface EtcdBackupStorage {
  readonly storage: BackupStorage;
  /** From the Secret's `recipients`, one a line: the kind has no field for them. */
  readonly recipients: readonly string[];
}

/** Keys of the Secret, each by the names it may have; the first that is there counts. */
const names = {
  accessKeyID: ["accessKeyID", "AWS_ACCESS_KEY_ID"],
  secretAccessKey: ["secretAccessKey", "AWS_SECRET_ACCESS_KEY"],
  sessionToken: ["sessionToken", "AWS_SESSION_TOKEN"],
  region: ["region", "AWS_REGION"],
  endpoint: ["endpoint", "AWS_ENDPOINT_URL"],
  caBundle: ["caBundle"],
  recipients: ["recipients"],
} as const;

/** A region for stores that know none. */
const NO_REGION = "us-east-1";

/**
 * Translates `storageLocation`. Call it with a spec that `validateEtcdBackupSpec` has nothing against, and ask `validateBackupStorage` about the result: what
 * the Secret holds was not checked before.
 *
 * @param secret the decoded texts of the Secret that `secretRef` names; empty without one. The credentials in it are only looked for, never copied
 */
export function storageOfEtcdBackup({ storageLocation }: EtcdBackupSpec, secret: Readonly<Record<string, string>>): EtcdBackupStorage {
  const { type, bucket = "", path, secretRef } = storageLocation;
  const keyOf = (name: keyof typeof names): string | undefined => names[name].find((key) => (secret[key] ?? "").trim() !== "");
  const textOf = (name: "region" | "endpoint" | "caBundle" | "recipients"): string | undefined => {
    const key = keyOf(name);
    return key === undefined ? undefined : secret[key]?.trim();
  };
  const selector = (name: "accessKeyID" | "secretAccessKey" | "sessionToken") => {
    const key = keyOf(name);
    return secretRef === undefined || key === undefined ? {} : { [name]: { name: secretRef, key } };
  };
  const recipients = (textOf("recipients") ?? "").split("\n").flatMap((line) => {
    const text = line.trim();
    return text === "" || text.startsWith("#") ? [] : [text];
  });
  if (type !== "s3") return { storage: { directory: { ...(path !== undefined && { path }) } }, recipients };
  const endpoint = textOf("endpoint");
  const caBundle = textOf("caBundle");
  return {
    storage: {
      s3: {
        bucket,
        region: textOf("region") ?? NO_REGION,
        ...(endpoint !== undefined && { endpoint }),
        ...(path !== undefined && path !== "" && { prefix: path }),
        ...selector("accessKeyID"),
        ...selector("secretAccessKey"),
        ...selector("sessionToken"),
        ...(caBundle !== undefined && { caBundle }),
      },
    },
    recipients,
  };
}
