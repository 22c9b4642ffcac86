import type { FlagSpec } from "../command.ts";

/** What backups may do, of every command that runs the operator. */
export const backupFlags: readonly FlagSpec[] = [
  {
    name: "allow-insecure-object-storage",
    kind: "boolean",
    summary: "let backups go to http endpoints and to such whose certificate is not checked: who is on the way reads them",
  },
  {
    name: "backup-directory",
    kind: "string",
    value: "folder",
    summary: "folder below which backupStorage.directory keeps backups; without it such backups are refused",
  },
];
