import { DEFAULT_BACKUP_PREFIX } from "@talos-operator/api";
import type { BackupStorage } from "@talos-operator/api";
import type { StorePlace } from "@talos-operator/backup";

/** Where a backup is kept, for a worker. `mayBePlain`: the operator lets http endpoints be used, as validation has checked. */
export function placeOf({ s3, directory }: BackupStorage, mayBePlain: boolean): StorePlace {
  if (s3 === undefined) return { kind: "directory", path: directory?.path ?? "", prefix: prefixOf(directory?.prefix) };
  const { bucket, region, endpoint, pathStyle, caBundle, insecureSkipTLSVerify } = s3;
  return {
    kind: "s3",
    bucket,
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(pathStyle === undefined ? {} : { pathStyle }),
    prefix: prefixOf(s3.prefix),
    ...(caBundle === undefined ? {} : { caBundle }),
    ...(insecureSkipTLSVerify === true ? { insecureSkipTLSVerify } : {}),
    ...(mayBePlain && isPlain(endpoint) ? { allowPlainText: true } : {}),
  };
}

/** The store in the words of `status.place`. Nothing of it is secret: validation refuses endpoints with credentials in them. */
export function placeWords({ s3, directory }: BackupStorage): string {
  if (s3 === undefined) return `directory ${directory?.path === undefined || directory.path === "" ? "." : directory.path}`;
  return `s3://${s3.bucket} at ${s3.endpoint ?? `AWS ${s3.region}`}`;
}

/** True for an endpoint whose bytes travel in clear. */
export function isPlain(endpoint: string | undefined): boolean {
  return endpoint !== undefined && URL.parse(endpoint)?.protocol === "http:";
}

function prefixOf(prefix: string | undefined): string {
  return prefix === undefined || prefix === "" ? DEFAULT_BACKUP_PREFIX : prefix;
}
