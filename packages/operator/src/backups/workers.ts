import { labels } from "@talos-operator/api";
import type { TaskResult } from "@talos-operator/backup";
import type { WorkerKind } from "../workers/worker-kind.ts";
import { readBackupResult } from "./read-result.ts";

/** Workers that take, prove and remove backups. Runs that an earlier release began are found by these marks: they stay as they are. */
export const backupWorkers: WorkerKind<TaskResult> = {
  component: "backup",
  command: "backup-worker",
  uidLabel: labels.backupUid,
  taskLabel: labels.backupTask,
  ownerAnnotation: "talos-operator.dev/backup",
  readResult: readBackupResult,
};
