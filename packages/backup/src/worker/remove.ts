import type { RemoveResult } from "../task/result.ts";
import type { RemoveTask } from "../task/task.ts";
import { isStoreFailure } from "../store/failure.ts";
import type { Job } from "./job.ts";
import { abortEndedUploads } from "./leftovers.ts";
import { readManifest } from "./manifest-slot.ts";

/**
 * Removes slots: first the manifest, so that no manifest ever names data that are gone, then the data and keys of every attempt. A worker that dies between leaves
 * objects that the same task, given again, finds by their names. A slot whose manifest is locked keeps its data too.
 *
 * @throws TaskFault `manifest-refused` for a slot whose manifest is not ours; slots before it are gone by then
 */
export async function remove(job: Job, task: RemoveTask): Promise<RemoveResult> {
  const slots: string[] = [];
  const kept: string[] = [];
  const begunAt = job.deps.clock.now();
  for (const [index, slot] of task.slots.entries()) {
    job.report({ phase: "removing", bytes: index, of: task.slots.length });
    const removed = await removeSlot(job, slot);
    (removed === "gone" ? slots : kept).push(slot);
    await abortEndedUploads(job, { begunAt, slot });
  }
  return { kind: "removed", slots, kept };
}

async function removeSlot(job: Job, slot: string): Promise<"gone" | "kept"> {
  await readManifest(job, slot);
  const part = job.keys.slotPart(slot);
  let answer = await removeObject(job, job.keys.manifest(slot));
  if (answer === "locked") return "kept";
  for await (const { key } of job.store.list(`${job.keys.folder}/${part}.`, { signal: job.signal })) {
    const object = job.keys.parse(key);
    if (object === undefined || (object.kind !== "data" && object.kind !== "keys") || object.slot !== part) continue;
    const one = await removeObject(job, key);
    if (one !== "gone") answer = one;
  }
  return answer === "gone" ? "gone" : "kept";
}

async function removeObject({ store, signal }: Job, key: string): Promise<"gone" | "marked" | "locked"> {
  try {
    return (await store.remove(key, { signal })).removed;
  } catch (error) {
    if (isStoreFailure(error, "locked")) return "locked";
    throw error;
  }
}
