import type { FlagSpec } from "../command.ts";

const insecureFlag: FlagSpec = {
  name: "allow-insecure-object-storage",
  kind: "boolean",
  summary: "let backups go to http endpoints and to such whose certificate is not checked: who is on the way reads them",
};

/** What backups may do, of the manager. */
export const backupFlags: readonly FlagSpec[] = [
  insecureFlag,
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
  {
    name: "backup-directory",
    kind: "string",
    value: "folder",
    summary: "folder below which backupStorage.directory keeps backups; default is backups in the data folder",
  },
];
