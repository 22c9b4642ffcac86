import { createHash } from "node:crypto";

import type { ObjectStore, Timers } from "@talos-operator/ports";

import type { BackupFacts } from "../manifest/facts.ts";
import { isStoreFailure } from "../store/failure.ts";
import { TaskFault } from "./fault.ts";
import type { Job } from "./job.ts";

/** How often a transfer that breaks off goes on where it was. */
const MAX_BREAKS = 5;
const PAUSE_MS = 1_000;

/** What it takes to read an object to its end. */
export interface StoredReader {
  readonly store: Pick<ObjectStore, "place" | "get">;
  readonly signal: AbortSignal;
  readonly deps: { readonly timers: Timers };
}

/**
 * The bytes of an object from its beginning to its end, going on where a transfer broke off. An object that is replaced meanwhile is a `proof-failed`.
 *
 * @throws TaskFault `backup-missing` when there is none
 */
export async function* readStored({ store, signal, deps }: StoredReader, key: string): AsyncGenerator<Uint8Array, void, undefined> {
  let offset = 0;
  let first: { readonly size: number; readonly etag?: string } | undefined;
  for (let breaks = 0; ; breaks += 1) {
    try {
      const found = await store.get(key, { signal, ...(offset === 0 ? {} : { offset }) });
      if (found === undefined)
        throw new TaskFault("backup-missing", `${key} is not in ${store.place}. Somebody removed it: take a new backup.`);
      first ??= found;
      if (found.size !== first.size || found.etag !== first.etag)
        throw new TaskFault("proof-failed", `${key} was replaced while it was read. Find out who writes to ${store.place}.`);
      for await (const chunk of found.body) {
        offset += chunk.length;
        yield chunk;
      }
      return;
    } catch (error) {
      if (!isStoreFailure(error, "cut-off", "unreachable", "failing", "slow-down") || breaks >= MAX_BREAKS) throw error;
      await deps.timers.sleep(PAUSE_MS * 2 ** breaks, signal);
    }
  }
}

/** Passes bytes on and counts them with their SHA-256. */
export function createTally(): {
  readonly tap: (chunks: AsyncIterable<Uint8Array>) => AsyncGenerator<Uint8Array, void, undefined>;
  readonly size: () => number;
  readonly sha256: () => string;
} {
  const hash = createHash("sha256");
  let size = 0;
  let digest: string | undefined;
  return {
    async *tap(chunks) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    },
    size: () => size,
    sha256: () => (digest ??= hash.digest("hex")),
  };
}

/**
 * Reads the stored object as a whole and compares it with what was written.
 *
 * @throws TaskFault `proof-failed` when one byte differs, `backup-missing` when it is gone
 */
export async function checkStored(
  job: Job,
  facts: Pick<BackupFacts, "object" | "storedSize" | "storedSha256">,
  phase: "reading-back" | "proving",
): Promise<void> {
  const tally = createTally();
  for await (const _ of tally.tap(readStored(job, facts.object))) job.report({ phase, bytes: tally.size(), of: facts.storedSize });
  compareStored(facts, tally.size(), tally.sha256());
}

export function compareStored(facts: Pick<BackupFacts, "object" | "storedSize" | "storedSha256">, size: number, sha256: string): void {
  const what = `${facts.object} is not what was stored`;
  const remedy = "Keep another backup, and find out who writes to the store.";
  if (size !== facts.storedSize)
    throw new TaskFault("proof-failed", `${what}: it has ${size} bytes, and had ${facts.storedSize}. ${remedy}`);
  if (sha256 !== facts.storedSha256)
    throw new TaskFault("proof-failed", `${what}: the SHA-256 of the stored bytes is ${sha256}, and was ${facts.storedSha256}. ${remedy}`);
}
