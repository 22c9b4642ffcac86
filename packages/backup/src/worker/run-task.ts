import { backupKeys, type BackupKeys } from "../layout/keys.ts";
import type { TaskFailed, TaskResult } from "../task/result.ts";
import type { StoreKeys } from "../task/place.ts";
import type { BackupTask, KnownBackup, TaskSecrets } from "../task/task.ts";
import type { TaskProgress, WorkerDeps } from "./deps.ts";
import { failedBy, TaskFault } from "./fault.ts";
import type { Job } from "./job.ts";
import { prove } from "./prove.ts";
import { remove } from "./remove.ts";
import { take } from "./take.ts";

/** Progress is told this often, at least. */
const PROGRESS_MS = 1_000;
/** A result names every slot, in at most 4,096 bytes. */
const MAX_SLOT_BYTES = 3_000;

export interface RunOptions {
  /** Gives up: what was begun is undone for at most ten seconds, and the result is `timed-out`. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: TaskProgress) => void;
  /** The newest keys of the store, for those that expire in the middle. Default: always those of the secrets. */
  readonly storeKeys?: () => Promise<StoreKeys | undefined>;
}

/**
 * Does one task. Never throws: what goes wrong is the result. Given again after any crash, with another `attempt`, it ends with the one backup that the slot's manifest
 * names.
 */
export async function runTask(task: BackupTask, secrets: TaskSecrets, deps: WorkerDeps, options: RunOptions = {}): Promise<TaskResult> {
  const over = new AbortController();
  const limit = deps.timers.schedule(task.timeoutMs, () => over.abort());
  const signal = options.signal === undefined ? over.signal : AbortSignal.any([over.signal, options.signal]);
  const progress = createProgress(deps, options.onProgress);
  try {
    const keys = checkedKeys(task, secrets);
    signal.throwIfAborted();
    const store = await deps.openStore(task.place, options.storeKeys ?? (() => Promise.resolve(secrets.store)));
    try {
      const known = knownOf(task);
      return await run({ deps, secrets, ...(known === undefined ? {} : { known }), store, keys, signal, report: progress.report }, task);
    } finally {
      store.close();
    }
  } catch (error) {
    if (signal.aborted && !(error instanceof TaskFault)) return timedOut(over.signal.aborted, task.timeoutMs);
    deps.log.warn({ kind: task.kind, cause: error instanceof Error ? error.name : typeof error }, "task of a backup failed");
    return failedBy(error, secretsOf(secrets));
  } finally {
    limit.cancel();
    progress.stop();
  }
}

async function run(job: Job, task: BackupTask): Promise<TaskResult> {
  switch (task.kind) {
    case "take":
      return take(job, task);
    case "prove":
      return prove(job, task);
    case "remove":
      return remove(job, task);
  }
}

/** Everything that can be refused without asking anybody. */
function checkedKeys(task: BackupTask, secrets: TaskSecrets): BackupKeys {
  if (secrets.manifestKey === undefined) {
    if (knownOf(task) === undefined || (task.kind === "remove" && task.slots.length !== 1))
      throw new TaskFault("bad-task", "There is no manifest key. Give the worker the one of the secrets bundle.");
  } else if (Buffer.from(secrets.manifestKey, "base64").length !== 32)
    throw new TaskFault("bad-task", "The manifest key has not 32 bytes. Give the worker the one of the secrets bundle.");
  const keys = backupKeys(task.place.prefix, task.owner);
  const slots = task.kind === "remove" ? task.slots : [task.slot];
  for (const slot of slots) keys.manifest(slot);
  if (slots.reduce((sum, slot) => sum + slot.length + 3, 0) > MAX_SLOT_BYTES)
    throw new TaskFault("bad-task", `${slots.length} slots are too many for one task. Remove fewer at a time.`);
  if (task.kind === "take") keys.data(task.slot, task.attempt, "age");
  return keys;
}

function knownOf(task: BackupTask): KnownBackup | undefined {
  return task.kind === "take" ? undefined : task.known;
}

function timedOut(isOver: boolean, timeoutMs: number): TaskFailed {
  const message = isOver
    ? `The task was not done within ${Math.round(timeoutMs / 1000)} s. Give it more time, or look at the member, the network and the store.`
    : "The task was stopped before it was done. It is given again.";
  return { kind: "failed", reason: "timed-out", message, mayRepeat: true };
}

/** Keeps the newest, and tells it at once when the phase changes, else on a timer: a transfer that stands still is told too. */
function createProgress(
  { timers }: WorkerDeps,
  onProgress: RunOptions["onProgress"],
): { readonly report: Job["report"]; readonly stop: () => void } {
  if (onProgress === undefined) return { report: () => undefined, stop: () => undefined };
  let newest: TaskProgress | undefined;
  let timer = timers.schedule(PROGRESS_MS, tick);
  function tick(): void {
    if (newest !== undefined) onProgress?.(newest);
    timer = timers.schedule(PROGRESS_MS, tick);
  }
  return {
    report(progress) {
      const isNew = progress.phase !== newest?.phase;
      newest = progress;
      if (isNew) onProgress(progress);
    },
    stop() {
      timer.cancel();
    },
  };
}

function secretsOf({ store, talos, manifestKey, clusterKeys, identity }: TaskSecrets): readonly string[] {
  const texts = [store?.secretAccessKey, store?.sessionToken, talos?.key, manifestKey, clusterKeys?.bundle, clusterKeys?.record, identity];
  return texts.filter((text) => text !== undefined);
}
