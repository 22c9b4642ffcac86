import { isSnapshotError, type SnapshotStatistics } from "@talos-operator/etcd-snapshot";

import type { BackupFacts } from "../manifest/facts.ts";
import type { Proof, ProveResult } from "../task/result.ts";
import type { ProveTask } from "../task/task.ts";
import { CodecFailure } from "./deps.ts";
import { TaskFault } from "./fault.ts";
import type { Job } from "./job.ts";
import { readManifest } from "./manifest-slot.ts";
import { createPlainCheck, type PlainSnapshot } from "./plain-check.ts";
import { prepareDrill, runDrill } from "./restore-drill.ts";
import { checkStored, compareStored, createTally, readStored } from "./stored-bytes.ts";

/** Looks at a backup as the store gives it back. */
export async function prove(job: Job, task: ProveTask): Promise<ProveResult> {
  const facts = await readManifest(job, task.slot);
  if (facts === undefined)
    throw new TaskFault(
      "backup-missing",
      `${job.keys.manifest(task.slot)} is not in ${job.store.place}. Somebody removed it: take a new backup.`,
    );
  return { kind: "proved", facts, proof: await proveFacts(job, facts, task.drill) };
}

/**
 * The strongest proof that can be had: stored bytes always; what is in them when they are not encrypted or there is an identity; a restore where there is etcd.
 *
 * @throws TaskFault `proof-failed` naming the object and what differs
 */
export async function proveFacts(job: Job, facts: BackupFacts, wanted: "restore" | "read"): Promise<Proof> {
  await checkKeysObject(job, facts);
  if (facts.encryption === "age" && job.secrets.identity === undefined) {
    await checkStored(job, facts, "proving");
    return { how: "stored", on: "store", weakerBecause: "no-identity" };
  }
  const drill = await prepareDrill(job, wanted, facts.size);
  const check = createPlainCheck(job, { maxBytes: facts.size, copy: drill.copy });
  try {
    const plain = await readPlain(job, facts, check.write, check.finish);
    comparePlain(facts, plain);
    if (drill.copy === undefined)
      return { how: "read", on: "store", ...(drill.weakerBecause === undefined ? {} : { weakerBecause: drill.weakerBecause }) };
    if (!check.isCopied()) return { how: "read", on: "store", weakerBecause: "no-room" };
    return { on: "store", ...(await runDrill(job, drill.copy, plain)) };
  } finally {
    check.close();
    drill.copy?.close();
  }
}

async function readPlain(
  job: Job,
  facts: BackupFacts,
  write: (chunk: Uint8Array) => void,
  finish: () => PlainSnapshot,
): Promise<PlainSnapshot> {
  const { codec } = job.deps;
  const tally = createTally();
  // Pipes wrap what the store throws.
  let cause: { readonly error: unknown } | undefined;
  const stored = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const chunk of tally.tap(readStored(job, facts.object))) {
        job.report({ phase: "proving", bytes: tally.size(), of: facts.storedSize });
        yield chunk;
      }
    } catch (error) {
      cause = { error };
      throw error;
    }
  };
  try {
    const compressed = facts.encryption === "age" ? codec.decrypt(stored(), job.secrets.identity ?? "") : stored();
    for await (const chunk of codec.decompress(compressed)) write(chunk);
  } catch (error) {
    if (cause !== undefined) throw cause.error;
    const isIdentity = error instanceof CodecFailure && error.kind === "bad-identity";
    // No room in the throw-away place says nothing of what is stored.
    if (job.signal.aborted || (isIdentity && tally.size() === 0) || isSnapshotError(error, "SPOOL_FAILED")) throw error;
    // Which check it is that fails: most often the bytes have changed in the store, which may make a good identity look like another's.
    await checkStored(job, facts, "proving");
    if (isIdentity) throw error;
    if (error instanceof CodecFailure || error instanceof TaskFault || isSnapshotError(error))
      throw new TaskFault(
        "proof-failed",
        `${facts.object} has the bytes that were stored, and cannot be read: ${error.message} Keep another backup.`,
        { cause: error },
      );
    throw error;
  }
  // A decoder may stop before the last byte; what it left must be what was stored too.
  if (tally.size() === facts.storedSize) compareStored(facts, tally.size(), tally.sha256());
  else await checkStored(job, facts, "proving");
  try {
    return finish();
  } catch (error) {
    if (!(error instanceof TaskFault) && !isSnapshotError(error)) throw error;
    if (isSnapshotError(error, "SPOOL_FAILED")) throw error;
    throw new TaskFault("proof-failed", `${facts.object} is no whole snapshot: ${error.message}`, { cause: error });
  }
}

const COUNTS = ["revision", "totalKey", "liveKeys"] as const satisfies readonly (keyof SnapshotStatistics & keyof BackupFacts)[];

function comparePlain(facts: BackupFacts, plain: PlainSnapshot): void {
  const differs = (what: string, is: string | number, was: string | number): TaskFault =>
    new TaskFault("proof-failed", `${facts.object} differs from its manifest: ${what} is ${is}, and was ${was}. Keep another backup.`);
  if (plain.size !== facts.size) throw differs("the size of the plain snapshot", plain.size, facts.size);
  if (plain.sha256 !== facts.sha256) throw differs("the SHA-256 of the plain snapshot", plain.sha256, facts.sha256);
  for (const count of COUNTS) if (plain.statistics[count] !== facts[count]) throw differs(count, plain.statistics[count], facts[count]);
}

async function checkKeysObject({ store, signal }: Job, { keysObject }: BackupFacts): Promise<void> {
  if (keysObject !== undefined && (await store.head(keysObject, { signal })) === undefined)
    throw new TaskFault(
      "proof-failed",
      `${keysObject}, the encrypted keys of the cluster, is not in ${store.place} any more. Take a new backup.`,
    );
}
