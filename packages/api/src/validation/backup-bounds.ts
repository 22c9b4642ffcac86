import type { S3Storage } from "../kinds/backup-storage.ts";
import type { Finding } from "./finding.ts";
import { quote } from "./host.ts";

/** What of the world backups may use. A user who may write a backup chooses the store, and with it who gets the keys. */
export interface BackupBounds {
  /** `--require-backup-store-label`: of Secrets without the label of a store nothing is read. Default: false. */
  readonly requireStoreLabel?: boolean;
  /** `--backup-endpoints`: URLs, each with all that is below its path, and `aws` for stores without an endpoint. Default: every one. */
  readonly endpoints?: readonly string[];
  /** `--backup-identity-namespaces`: whose backups may use the cloud identity of the Jobs. Default: every namespace. */
  readonly identityNamespaces?: readonly string[];
}

/** In {@link BackupBounds.endpoints}: that of AWS, in the region of the store. */
export const AWS_ENDPOINT = "aws";

/** At most so many are named in a message. */
const NAMED = 3;

/**
 * Which bound a store crosses.
 *
 * @param namespace of the backup; `undefined` is in none
 * @param field of `s3`
 */
export function boundFindings(
  s3: S3Storage,
  { endpoints, identityNamespaces }: BackupBounds,
  namespace: string | undefined,
  field: string,
): readonly Finding[] {
  const isAllowed = endpoints === undefined || endpoints.some((allowed) => isBelow(s3.endpoint, allowed));
  const hasKeys = s3.accessKeyID !== undefined && s3.secretAccessKey !== undefined;
  return [
    ...(isAllowed
      ? []
      : [
          {
            field: `${field}.endpoint`,
            message: `${s3.endpoint === undefined ? "AWS" : quote(s3.endpoint)} is none of --backup-endpoints`,
            remedy:
              endpoints.length === 0 ? "Have the endpoint added to the flag" : `Use ${named(endpoints)}, or have it added to the flag`,
            reason: "SpecRefused" as const,
          },
        ]),
    ...(hasKeys || mayUseIdentity(identityNamespaces, namespace)
      ? []
      : [{ field, ...identityRefusal(namespace), reason: "SpecRefused" as const }]),
  ];
}

/** Whether backups of a namespace may use the cloud identity of the Jobs. */
export function mayUseIdentity(namespaces: BackupBounds["identityNamespaces"], namespace: string | undefined): boolean {
  return namespaces === undefined || (namespace !== undefined && namespaces.includes(namespace));
}

/** Why they may not, and what to do. */
export function identityRefusal(namespace: string | undefined): { readonly message: string; readonly remedy: string } {
  return {
    message: `no keys are given, and namespace ${namespace ?? ""} is none of --backup-identity-namespaces`,
    remedy: "Name accessKeyID and secretAccessKey, or have the namespace added to the flag",
  };
}

function isBelow(endpoint: string | undefined, allowed: string): boolean {
  if (endpoint === undefined || allowed === AWS_ENDPOINT) return endpoint === undefined && allowed === AWS_ENDPOINT;
  const [asked, given] = [URL.parse(endpoint), URL.parse(allowed)];
  if (asked === null || given === null || asked.origin !== given.origin) return false;
  const path = given.pathname.replace(/\/+$/, "");
  // A gateway may decode what is escaped, and leave its own path by it.
  return path === "" || (!asked.pathname.includes("%") && `${asked.pathname}/`.startsWith(`${path}/`));
}

function named(endpoints: readonly string[]): string {
  const rest = endpoints.length - NAMED;
  return `${endpoints.slice(0, NAMED).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
