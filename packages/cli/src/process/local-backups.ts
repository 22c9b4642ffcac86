import { resolve } from "node:path";
import { backupWorkers, type BackupDependencies } from "@talos-operator/operator";
import type { BackupTask, TaskResult, TaskSecrets } from "@talos-operator/backup";
import type { Logger } from "@talos-operator/ports";
import { givenString, type FlagValues } from "../command.ts";
import { makeFolder } from "../files/make-folder.ts";
import { backupBounds, type BackupSettings } from "./backup-bounds.ts";
import { createWorkerChildRunner } from "./worker-child-runner.ts";

/** Backups that child processes of this one take. */
export interface LocalBackups {
  readonly dependencies: BackupDependencies;
  /** Ends the workers; the operator is stopped before. */
  close(): Promise<void>;
}

export interface LocalBackupOptions {
  readonly settings: BackupSettings;
  /** Where runs are kept, its owner's alone. */
  readonly runs: string;
  /** Where backups in directories go when no `--backup-directory` is given; absent: nowhere. */
  readonly directory?: string;
  /** Hosts that may be asked without TLS whatever the flags say. */
  readonly insecureHosts?: readonly string[];
  readonly log: Logger;
}

export function openLocalBackups(flags: FlagValues, { settings, runs, directory, insecureHosts, log }: LocalBackupOptions): LocalBackups {
  const given = givenString(flags, "backup-directory") ?? directory;
  const backupDirectory = given === undefined ? undefined : resolve(given);
  if (backupDirectory !== undefined) makeFolder(backupDirectory, 0o700);
  const folder = backupDirectory === undefined ? {} : { backupDirectory };
  const [, program = ""] = process.argv;
  const runner = createWorkerChildRunner<BackupTask, TaskSecrets, TaskResult>({
    kind: backupWorkers,
    program: resolve(program),
    folder: runs,
    flags: backupDirectory === undefined ? [] : [`--backup-directory=${backupDirectory}`],
    log,
  });
  return {
    dependencies: {
      runner,
      ...backupBounds(flags, settings),
      ...(insecureHosts === undefined ? {} : { insecureHosts }),
      ...folder,
    },
    close: () => runner.close(),
  };
}
