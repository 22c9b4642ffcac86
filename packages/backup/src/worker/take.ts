import type { BackupFacts } from "../manifest/facts.ts";
import type { Proof, TakeResult } from "../task/result.ts";
import type { TakeTask } from "../task/task.ts";
import { TaskFault } from "./fault.ts";
import type { Job } from "./job.ts";
import { removeLosers } from "./leftovers.ts";
import { claimSlot, readManifest } from "./manifest-slot.ts";
import { createPlainCheck, type PlainSnapshot } from "./plain-check.ts";
import { proveFacts } from "./prove.ts";
import { prepareDrill, runDrill } from "./restore-drill.ts";
import { checkMembership, openSource } from "./source.ts";
import { checkStored } from "./stored-bytes.ts";
import { givenUp, uploadStream } from "./upload.ts";

/** The machine sends chunks of 1 KiB; whoever works on them in another thread wants fewer. */
const CHUNK_BYTES = 128 * 1024;

/**
 * Takes one backup: nothing is told of it before its bytes were read back, and it exists by its manifest alone.
 *
 * @throws TaskFault and what stores, machines and codecs throw
 */
export async function take(job: Job, task: TakeTask): Promise<TakeResult> {
  const { deps, keys, secrets } = job;
  const begunAt = deps.clock.now();
  const runs = { begunAt, ...(task.running === undefined ? {} : { running: task.running }) };
  const earlier = await readManifest(job, task.slot);
  if (earlier !== undefined) return found(job, task, earlier, runs);

  if (secrets.talos === undefined)
    throw new TaskFault("bad-task", "There is no certificate for the machine API in the secrets. Give the worker one.");
  await checkRecipients(job, task);
  const written = await writeData(job, task, secrets.talos, begunAt);
  const { facts } = written;
  try {
    await checkStored(job, facts, "reading-back");
    await writeKeys(job, task, facts);
  } catch (error) {
    // No manifest was ever sent for it, so nobody can rely on it.
    await givenUp(job, async (signal) => {
      await job.store.remove(facts.object, { signal });
      if (facts.keysObject !== undefined) await job.store.remove(facts.keysObject, { signal });
    });
    throw error;
  }
  job.report({ phase: "finishing", bytes: facts.size });
  // From here on the manifest may be there whatever we hear: its data stay until the slot is read.
  const winner = await claimSlot(job, facts);
  if (winner.attempt !== task.attempt) return found(job, task, winner, runs);
  await removeLosers(job, task.slot, task.attempt, runs);
  deps.log.info(
    { slot: task.slot, object: keys.manifest(task.slot), revision: facts.revision, proof: written.proof.how },
    "backup is stored",
  );
  return { kind: "taken", facts: winner, proof: written.proof, found: false };
}

/** An earlier or another try has won: its bytes are looked at as if it were for the first time. */
async function found(job: Job, task: TakeTask, facts: BackupFacts, runs: { readonly begunAt: number }): Promise<TakeResult> {
  const proof = await proveFacts(job, facts, task.drill);
  await removeLosers(job, task.slot, facts.attempt, runs);
  job.deps.log.info({ slot: task.slot, attempt: facts.attempt }, "backup was there already");
  return { kind: "taken", facts, proof, found: true };
}

async function writeData(
  job: Job,
  task: TakeTask,
  talos: NonNullable<Job["secrets"]["talos"]>,
  begunAt: number,
): Promise<{ readonly facts: BackupFacts; readonly proof: Proof }> {
  const { deps, keys } = job;
  const encryption = task.recipients.length > 0 ? "age" : "none";
  const object = keys.data(task.slot, task.attempt, encryption);
  const source = await openSource(job, task, talos);
  try {
    const drill = await prepareDrill(job, task.drill, source.size);
    const check = createPlainCheck(job, { maxBytes: task.maxBytes, copy: drill.copy });
    try {
      let plain: PlainSnapshot | undefined;
      let proof: Proof = {
        how: "read",
        on: "writing",
        ...(drill.weakerBecause === undefined ? {} : { weakerBecause: drill.weakerBecause }),
      };
      // Pipes wrap what a source throws; what went wrong first is what is told.
      let cause: { readonly error: unknown } | undefined;
      const bytes = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
        try {
          for await (const chunk of gathered(source.client.etcdSnapshot({ signal: job.signal }))) {
            check.write(chunk);
            job.report({ phase: "streaming", bytes: check.size(), of: Math.max(source.size, check.size()) });
            yield chunk;
          }
          plain = check.finish();
          checkMembership(plain.statistics, task.source.memberId);
        } catch (error) {
          cause ??= { error };
          throw error;
        }
      };
      const compressed = deps.codec.compress(bytes());
      const stored = await uploadStream(
        job,
        object,
        encryption === "age" ? deps.codec.encrypt(compressed, task.recipients) : compressed,
        async () => {
          if (plain === undefined)
            throw new TaskFault("snapshot-damaged", "The snapshot ended before its end was seen. Take another.", { mayRepeat: true });
          if (drill.copy === undefined) return;
          proof = check.isCopied()
            ? { on: "writing", ...(await runDrill(job, drill.copy, plain)) }
            : { how: "read", on: "writing", weakerBecause: "no-room" };
        },
      ).catch((error: unknown) => {
        throw cause === undefined ? error : cause.error;
      });
      if (plain === undefined) throw new Error("stored without an end");
      const { statistics, size, sha256 } = plain;
      const facts: BackupFacts = {
        slot: task.slot,
        attempt: task.attempt,
        object,
        ...(encryption === "age" && job.secrets.clusterKeys !== undefined ? { keysObject: keys.keys(task.slot, task.attempt) } : {}),
        startedAt: iso(begunAt),
        endedAt: iso(deps.clock.now()),
        size,
        sha256,
        storedSize: stored.size,
        storedSha256: stored.sha256,
        compression: "zstd",
        encryption,
        revision: statistics.revision,
        totalKey: statistics.totalKey,
        liveKeys: statistics.liveKeys,
        ...(statistics.storageVersion === undefined ? {} : { storageVersion: statistics.storageVersion }),
        ...(task.talosVersion === undefined ? {} : { talosVersion: task.talosVersion }),
        ...(task.kubernetesVersion === undefined ? {} : { kubernetesVersion: task.kubernetesVersion }),
        source: { machine: task.source.machine, memberId: task.source.memberId },
      };
      return { facts, proof };
    } finally {
      check.close();
      drill.copy?.close();
    }
  } finally {
    source.close();
  }
}

/** The cluster's keys, for the recipients of the backup and for nobody else (S30). */
async function writeKeys({ deps, secrets, store, signal }: Job, { recipients }: TakeTask, { keysObject }: BackupFacts): Promise<void> {
  if (keysObject === undefined || secrets.clusterKeys === undefined) return;
  const { bundle, record } = secrets.clusterKeys;
  const plain = Buffer.from(`${JSON.stringify({ version: 1, bundle, record })}\n`, "utf8");
  const encrypted: Uint8Array[] = [];
  for await (const chunk of deps.codec.encrypt(once(plain), recipients)) encrypted.push(chunk);
  const bytes = Buffer.concat(encrypted);
  await store.put(keysObject, bytes, { signal });
  const stored = await store.head(keysObject, { signal });
  if (stored?.size !== bytes.length)
    throw new TaskFault("store-failed", `${keysObject} was put into ${store.place} and is not there as a whole. Look at the store.`, {
      mayRepeat: true,
    });
}

/** Before anybody is asked for anything. */
async function checkRecipients({ deps }: Job, { recipients }: TakeTask): Promise<void> {
  if (recipients.length === 0) return;
  for await (const _ of deps.codec.encrypt(once(new Uint8Array()), recipients)) continue;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}

/** Small chunks as larger ones; each is a buffer of its own. */
async function* gathered(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let filled = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      const taken = Math.min(CHUNK_BYTES - filled, chunk.length - at);
      buffer.set(chunk.subarray(at, at + taken), filled);
      filled += taken;
      at += taken;
      if (filled < CHUNK_BYTES) continue;
      yield buffer;
      buffer = Buffer.allocUnsafe(CHUNK_BYTES);
      filled = 0;
    }
  }
  if (filled > 0) yield buffer.subarray(0, filled);
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
