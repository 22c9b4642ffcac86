import type { FlagSpec } from "../command.ts";

const insecureFlag: FlagSpec = {
  name: "allow-insecure-object-storage",
  kind: "boolean",
  summary: "allow backups over http or without TLS verification: anyone on the network path can read them",
};

/** What of Secrets, of the network and of the cloud backups may use. */
const boundFlags: readonly FlagSpec[] = [
  {
    name: "require-backup-store-label",
    kind: "boolean",
    summary:
      "read keys of stores only from Secrets with the label talos-operator.dev/backup-store=true; default is REQUIRE_BACKUP_STORE_LABEL, else false",
  },
  {
    name: "backup-endpoints",
    kind: "string",
    value: "list",
    summary:
      "comma-separated URLs that backups may go to, each with what is below its path; aws means stores without an endpoint; default is BACKUP_ENDPOINTS, else every one",
  },
  {
    name: "backup-identity-namespaces",
    kind: "string",
    value: "list",
    summary:
      "comma-separated namespaces whose backups may use the cloud identity of the Jobs, which a store without keys takes; default is BACKUP_IDENTITY_NAMESPACES, else all",
  },
];

/** What backups may do, of the manager. */
export const backupFlags: readonly FlagSpec[] = [
  insecureFlag,
  ...boundFlags,
  {
    name: "backup-directory",
    kind: "string",
    value: "folder",
    summary: "folder below which backupStorage.directory keeps backups; without it such backups are refused",
  },
];

/** The same, of commands that keep everything in a data folder. */
export const localBackupFlags: readonly FlagSpec[] = [
  insecureFlag,
  ...boundFlags,
  {
    name: "backup-directory",
    kind: "string",
    value: "folder",
    summary: "folder below which backupStorage.directory keeps backups; default is backups in the data folder",
  },
];
