import { createHash } from "node:crypto";
import type { BackupTask, StoreKeys, TaskResult, TaskSecrets } from "@talos-operator/backup";

/**
 * Starts workers that take, prove and remove backups: Jobs in a cluster, child processes beside it, plain promises in simulation.
 *
 * A worker outlives the process that started it where it can. What this process knows of it is what it is told here, each time anew.
 */
export interface BackupRunner {
  /** Begins a run. One of this name that is there already is left as it is: to start is harmless to repeat. */
  start(run: RunRequest): Promise<void>;
  look(name: string): Promise<RunState>;
  /** Ends the run if it goes on, and forgets it; nothing when there is none. */
  remove(name: string): Promise<void>;
  /**
   * Gives a run that goes on the newest keys of its store, which a worker reads once more when those before have expired. Nothing for a run that is not there.
   * Absent: a worker keeps what it began with.
   */
  refresh?(name: string, store: StoreKeys): Promise<void>;
  /** Every run of this operator that was not removed, whoever started it. */
  list(): Promise<readonly ListedRun[]>;
}

export interface RunRequest {
  /** From {@link runName}. */
  readonly name: string;
  readonly task: BackupTask;
  /** For the worker alone: they stand in no log, no status and no manifest of a Job. */
  readonly secrets: TaskSecrets;
  readonly owner: RunOwner;
}

/** The TalosEtcdBackup that a run was made for. */
export interface RunOwner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface ListedRun {
  readonly name: string;
  readonly owner: RunOwner;
  readonly hasEnded: boolean;
}

/** How a run is. Times are milliseconds since the epoch. */
export type RunState =
  /** Nobody knows it: it was never started, or it was removed. */
  | { readonly kind: "absent" }
  /** It was accepted and does not work yet; `why` is for people. */
  | { readonly kind: "waiting"; readonly why: string }
  | { readonly kind: "running"; readonly since: number }
  /** `result` is `undefined` where the worker died, or what it told is no result. */
  | { readonly kind: "ended"; readonly result: TaskResult | undefined; readonly at: number };

/** What a run does. */
export type RunTask = BackupTask["kind"];

/** How long a run may take to begin: an image that is pulled, a place that is waited for. Comes on top of the task's own time. Milliseconds. */
export const BEGINS_WITHIN_MS = 5 * 60_000;

/** 12 hex digits that stand for one try of one task of one object: the same in every process that asks. */
export function runId(uid: string, task: RunTask, attempt: string): string {
  return createHash("sha256").update(`${uid}/${task}/${attempt}`).digest("hex").slice(0, 12);
}

/** Name of a run: whoever starts the same try again meets the one that is there. */
export function runName(id: string): string {
  return `backup-${id}`;
}
