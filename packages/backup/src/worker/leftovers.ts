import type { BackupTask } from "../task/task.ts";
import { isStoreFailure } from "../store/failure.ts";
import type { Job } from "./job.ts";

/** No run lasts longer: an older upload has no owner (S29). */
const ENDED_MS = 24 * 3_600_000;
/** The store's clock may differ from ours. */
const CLOCK_MS = 15 * 60_000;

/**
 * After a manifest has named the winner of its slot: removes the data and keys of its other attempts, and aborts uploads that have no owner. Objects that are not
 * named by us are left alone.
 *
 * What fails here leaves rubbish and no wrong backup, so it is logged and left to the next run.
 */
export async function removeLosers(job: Job, slot: string, winner: string, runs: Runs): Promise<void> {
  try {
    const part = job.keys.slotPart(slot);
    for await (const { key } of job.store.list(`${job.keys.folder}/${part}.`, { signal: job.signal })) {
      const object = job.keys.parse(key);
      if (object === undefined || (object.kind !== "data" && object.kind !== "keys")) continue;
      if (object.slot === part && object.attempt !== winner) await job.store.remove(key, { signal: job.signal });
    }
    await abortEndedUploads(job, { ...runs, slot });
  } catch (error) {
    if (!isStoreFailure(error)) throw error;
    job.deps.log.warn({ slot, place: job.store.place, cause: error.kind }, "what earlier attempts left was not removed");
  }
}

export interface Runs {
  /** Milliseconds since the epoch at which this task began. */
  readonly begunAt: number;
  readonly running?: Extract<BackupTask, { kind: "take" }>["running"];
}

/** Aborts uploads of this cluster that nobody goes on with: all of `slot`, all of runs that are over, all that are a day old. */
export async function abortEndedUploads(job: Job, { begunAt, running, slot }: Runs & { readonly slot?: string }): Promise<void> {
  const part = slot === undefined ? undefined : job.keys.slotPart(slot);
  const alive = running === undefined ? undefined : new Set(running.map((run) => `${job.keys.slotPart(run.slot)}.${run.attempt}`));
  for await (const upload of job.store.listUploads(`${job.keys.folder}/`, { signal: job.signal })) {
    const object = job.keys.parse(upload.key);
    if (object === undefined || (object.kind !== "data" && object.kind !== "keys")) continue;
    const startedAt = upload.startedAt ?? begunAt;
    const isOver =
      object.slot === part ||
      startedAt < begunAt - ENDED_MS ||
      (alive !== undefined && startedAt < begunAt - CLOCK_MS && !alive.has(`${object.slot}.${object.attempt}`));
    if (isOver) await job.store.abortUpload(upload, { signal: job.signal });
  }
}
