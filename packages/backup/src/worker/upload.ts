import { createHash } from "node:crypto";

import type { StoredObject } from "@talos-operator/ports";

import { isStoreFailure } from "../store/failure.ts";
import type { Job } from "./job.ts";

/** Every part but the last; S3's least, and what fits into little memory. */
const PART_BYTES = 5 * 1024 * 1024;
/** What an abort of the upload may take when the task is over already. */
const ABORT_MS = 10_000;
const TRIES = 4;
const PAUSE_MS = 1_000;

export interface UploadedObject {
  readonly size: number;
  readonly sha256: string;
}

/**
 * Stores a stream in parts, one of them on its way while the next one fills. The object exists only when `approve`, which is called behind the last byte, did not
 * throw; on any failure the upload is aborted.
 */
export async function uploadStream(
  job: Job,
  key: string,
  chunks: AsyncIterable<Uint8Array>,
  approve: () => Promise<void>,
): Promise<UploadedObject> {
  const { store, signal } = job;
  const upload = await store.createUpload(key, { signal });
  const hash = createHash("sha256");
  let sending: Promise<void> = Promise.resolve();
  try {
    let size = 0;
    let number = 0;
    // Two buffers in turn: a part that is on its way must not change.
    const buffers = [Buffer.allocUnsafe(PART_BYTES), Buffer.allocUnsafe(PART_BYTES)];
    let filled = 0;
    const send = async (): Promise<void> => {
      await sending;
      const part = (buffers[number % 2] as Buffer).subarray(0, filled);
      hash.update(part);
      size += filled;
      number += 1;
      filled = 0;
      const current = number;
      sending = patiently(job, () => upload.part(current, part, { signal }));
      // Its failure is met where it is waited for.
      sending.catch(() => undefined);
    };
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length;) {
        const taken = Math.min(PART_BYTES - filled, chunk.length - at);
        (buffers[number % 2] as Buffer).set(chunk.subarray(at, at + taken), filled);
        filled += taken;
        at += taken;
        if (filled === PART_BYTES) await send();
      }
    }
    if (filled > 0 || number === 0) await send();
    await sending;
    await approve();
    signal.throwIfAborted();
    await complete(job, key, size, () => upload.complete({ signal }));
    return { size, sha256: hash.digest("hex") };
  } catch (error) {
    await sending.catch(() => undefined);
    await givenUp(job, (abort) => upload.abort({ signal: abort }));
    throw error;
  }
}

/** An answer that got lost is looked up: the object is there as a whole, or not at all. What it holds is read back anyway. */
async function complete(job: Job, key: string, size: number, call: () => Promise<StoredObject>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await call();
      return;
    } catch (error) {
      if (!isStoreFailure(error, "unreachable", "failing", "cut-off", "slow-down", "missing", "conflict")) throw error;
      const found = await job.store.head(key, { signal: job.signal });
      if (found?.size === size) return;
      if (tries === TRIES || error.kind === "missing") throw error;
      await job.deps.timers.sleep(PAUSE_MS * tries, job.signal);
    }
  }
}

/** A part may be sent again: the same number replaces it. */
async function patiently(job: Job, call: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      if (!isStoreFailure(error, "unreachable", "failing", "cut-off", "slow-down", "damaged") || tries === TRIES) throw error;
      await job.deps.timers.sleep(PAUSE_MS * tries, job.signal);
    }
  }
}

/** Tidies up after a failure, for a bounded time and without hiding that failure: what stays is removed by the next run. */
export async function givenUp(job: Job, tidy: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const timer = job.deps.timers.schedule(ABORT_MS, () => over.abort());
  try {
    await tidy(over.signal);
  } catch (error) {
    job.deps.log.warn(
      { place: job.store.place, cause: isStoreFailure(error) ? error.kind : (error as Error).name },
      "what a failed run began was not removed",
    );
  } finally {
    timer.cancel();
  }
}
