import type { KubeClient } from "@talos-operator/kube-runtime";
import type { JobFolder, JobSettings } from "../workers/job.ts";
import { createJobRunner } from "../workers/job-runner.ts";
import type { BackupRunner } from "./runner.ts";
import { backupWorkers } from "./workers.ts";

/** What Jobs of backups are made of, as the environment variable `BACKUP_JOB` gives it. Their scratch is about twice the size of the largest snapshot. */
export interface BackupJobSettings extends JobSettings {
  /** Claim of the volume for `backupStorage.directory`. */
  readonly directoryClaim?: string;
}

export interface BackupJobRunnerOptions {
  readonly client: KubeClient;
  /** Of the operator. */
  readonly namespace: string;
  readonly settings: BackupJobSettings;
  /** Where the volume of backups is mounted in Jobs. */
  readonly backupDirectory?: string;
}

/** Runs backups as Jobs in the operator's namespace. */
export function createBackupJobRunner({ client, namespace, settings, backupDirectory }: BackupJobRunnerOptions): BackupRunner {
  const folder = backupFolder(settings, backupDirectory);
  return createJobRunner({ kind: backupWorkers, client, namespace, settings, ...(folder === undefined ? {} : { folder }) });
}

/** Jobs have the folder only where there is a volume for it. */
export function backupFolder({ directoryClaim }: BackupJobSettings, backupDirectory: string | undefined): JobFolder | undefined {
  return directoryClaim === undefined || backupDirectory === undefined
    ? undefined
    : { name: "backups", claim: directoryClaim, mountPath: backupDirectory, flag: "backup-directory" };
}
