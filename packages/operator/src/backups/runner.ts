import type { BackupTask, TaskResult, TaskSecrets } from "@talos-operator/backup";
import type { RunRequest, RunState, WorkerRunner } from "../workers/runner.ts";

/** Starts workers that take, prove and remove backups. */
export type BackupRunner = WorkerRunner<BackupTask, TaskSecrets, TaskResult>;

export type BackupRunRequest = RunRequest<BackupTask, TaskSecrets>;

/** How a run of a backup is. */
export type BackupRunState = RunState<TaskResult>;

/** What a run does. */
export type RunTask = BackupTask["kind"];

/** Name of a run: whoever starts the same try again meets the one that is there. */
export function runName(id: string): string {
  return `backup-${id}`;
}
