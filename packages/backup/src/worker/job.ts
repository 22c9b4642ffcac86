import type { ObjectStore } from "@talos-operator/ports";

import type { BackupKeys } from "../layout/keys.ts";
import type { KnownBackup, TaskSecrets } from "../task/task.ts";
import type { TaskProgress, WorkerDeps } from "./deps.ts";

/** What every part of a running task has. */
export interface Job {
  readonly deps: WorkerDeps;
  readonly secrets: TaskSecrets;
  /** What a manifest has to say where nobody has the key that authenticates it. */
  readonly known?: KnownBackup;
  readonly store: ObjectStore;
  readonly keys: BackupKeys;
  /** Aborts when the task's time is over or the caller gives up. */
  readonly signal: AbortSignal;
  readonly report: (progress: TaskProgress) => void;
}
