import type { ObjectStore } from "@talos-operator/ports";

import type { BackupFacts } from "../manifest/facts.ts";
import { MAX_MANIFEST_BYTES, openManifest, readManifestUnchecked, sealManifest } from "../manifest/manifest.ts";
import type { OpenedManifest } from "../manifest/manifest.ts";
import { isStoreFailure } from "../store/failure.ts";
import { TaskFault } from "./fault.ts";
import type { Job } from "./job.ts";

const TRIES = 4;
const PAUSE_MS = 1_000;

/**
 * What the manifest of a slot says.
 *
 * @throws TaskFault `manifest-refused` when it was not written under this cluster's keys, or is of another place
 */
export async function readManifest(job: Job, slot: string): Promise<BackupFacts | undefined> {
  const key = job.keys.manifest(slot);
  const found = await job.store.get(key, { signal: job.signal });
  if (found === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of found.body) {
    size += chunk.length;
    if (size > MAX_MANIFEST_BYTES) break;
    chunks.push(chunk);
  }
  const opened = openedBy(job, Buffer.concat(chunks));
  const refuse = (why: string): TaskFault =>
    new TaskFault(
      "manifest-refused",
      `${key} in ${job.store.place} ${why}. Look at who wrote it; without it the backup can be taken anew.`,
    );
  if ("refused" in opened) {
    if (opened.refused === "newer") throw refuse("was written by a newer version of this operator");
    throw refuse(opened.refused === "foreign" ? "was not written under this cluster's keys, or was changed since" : "is no manifest");
  }
  const { facts } = opened;
  // A good manifest that somebody copied into another slot names objects that are not its own.
  const isOwn =
    facts.slot === slot &&
    facts.object === job.keys.data(slot, facts.attempt, facts.encryption) &&
    (facts.keysObject === undefined || facts.keysObject === job.keys.keys(slot, facts.attempt));
  if (!isOwn) throw refuse("is that of another backup");
  return facts;
}

/** Without the key of the cluster a manifest is believed that says what is known of the backup. */
function openedBy({ secrets: { manifestKey }, known }: Job, bytes: Uint8Array): OpenedManifest {
  if (manifestKey !== undefined) return openManifest(bytes, manifestKey);
  const facts = readManifestUnchecked(bytes);
  if (facts === undefined || known === undefined) return { refused: "unreadable" };
  const isKnown =
    facts.object === known.object &&
    facts.size === known.size &&
    facts.sha256 === known.sha256 &&
    facts.storedSize === known.storedSize &&
    facts.storedSha256 === known.storedSha256;
  return isKnown ? { facts } : { refused: "foreign" };
}

/**
 * Puts the manifest where none is, and says whose stands there in the end.
 *
 * Whenever an answer is lost, the slot is read: whatever stands there has won. Where the store has no conditional writes, a look before and one after decide; two
 * workers that look at the same moment may then both put, and the one whose manifest is replaced may have said that it won. The manager runs one worker for a
 * backup at a time, which leaves that to a worker that was given up and still lives.
 */
export async function claimSlot(job: Job, facts: BackupFacts): Promise<BackupFacts> {
  const key = job.keys.manifest(facts.slot);
  const { manifestKey } = job.secrets;
  if (manifestKey === undefined)
    throw new TaskFault("bad-task", "There is no manifest key. Give the worker the one of the secrets bundle.");
  const bytes = sealManifest(facts, manifestKey);
  const isConditional = await honoursConditions(job);
  for (let tries = 1; ; tries += 1) {
    try {
      if (isConditional) await job.store.put(key, bytes, { ifAbsent: true, signal: job.signal });
      else if ((await job.store.head(key, { signal: job.signal })) === undefined) await job.store.put(key, bytes, { signal: job.signal });
    } catch (error) {
      if (!isStoreFailure(error, "exists", "conflict", "unreachable", "failing", "cut-off", "slow-down", "damaged")) throw error;
      if (!isStoreFailure(error, "exists") && tries === TRIES) throw error;
    }
    const winner = await readManifest(job, facts.slot);
    if (winner !== undefined) return winner;
    if (tries === TRIES)
      throw new TaskFault("store-failed", `${key} was put into ${job.store.place} and is not there. Look at the store.`, {
        mayRepeat: true,
      });
    await job.deps.timers.sleep(PAUSE_MS * tries, job.signal);
  }
}

/** Once per folder of a cluster: an object that stays, and is refused a second time by a store that honours the condition. */
async function honoursConditions({ store, keys, signal }: Job): Promise<boolean> {
  const text = Buffer.from("Shows whether this store honours If-None-Match. Written by talos-operator.\n");
  // The first may be new; the second cannot.
  for (let puts = 0; puts < 2; puts += 1) {
    const answer = await putIfAbsent(store, keys.probe, text, signal);
    if (answer !== "stored") return answer === "exists";
  }
  return false;
}

async function putIfAbsent(
  store: ObjectStore,
  key: string,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<"stored" | "exists" | "unsupported"> {
  try {
    await store.put(key, bytes, { ifAbsent: true, signal });
    return "stored";
  } catch (error) {
    if (isStoreFailure(error, "exists")) return "exists";
    // Another worker asks at this very moment, and the store minds: that is what was asked.
    if (isStoreFailure(error, "conflict")) return "exists";
    if (isStoreFailure(error, "unsupported")) return "unsupported";
    throw error;
  }
}
