import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { createLogger, systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import type { BackupTask, TaskResult, TaskSecrets } from "@talos-operator/backup";
import { backupCodec, createEtcdDrill, createScratch } from "@talos-operator/backup/adapters";
import { runTask, type TaskProgress } from "@talos-operator/backup/worker";
import { createGrpcDialer } from "@talos-operator/talos/grpc";
import { CliError, errorCode } from "../cli-error.ts";
import { givenString, requiredString, type CommandContext, type FlagValues } from "../command.ts";
import { openBackupStore } from "../files/backup-store.ts";
import { collectEarly } from "../process/collect-early.ts";
import { readInput } from "../files/input-files.ts";
import { writeWhole } from "../files/write-whole.ts";

/** What Kubernetes takes as a termination message. */
const MAX_RESULT_BYTES = 4_096;

/** @throws CliError when task or secrets cannot be read, or the answer cannot be written: everything else is in the answer */
export async function runBackupWorker(flags: FlagValues, { signal, stderr }: CommandContext): Promise<void> {
  const task = readJson(requiredString(flags, "task")) as unknown as BackupTask;
  const secretsFile = requiredString(flags, "secrets");
  const secrets = readJson(secretsFile) as unknown as TaskSecrets;
  checkKind(task);
  const folder = givenString(flags, "scratch-directory") ?? tmpdir();
  const etcdFolder = givenString(flags, "etcd-dir");
  const stop = AbortSignal.any([signal, untilOrphaned()]);
  const scratch = createScratch(folder);
  const stopCollecting = collectEarly();
  try {
    const drill = await createEtcdDrill({ folder, path: process.env["PATH"] ?? "", ...(etcdFolder === undefined ? {} : { etcdFolder }) });
    const root = givenString(flags, "backup-directory");
    const onProgress = (progress: TaskProgress): void => void stderr.write(`${JSON.stringify({ progress })}\n`);
    const result = await runTask(
      task,
      secrets,
      {
        dialer: createGrpcDialer(),
        openStore: (place, keys) => openBackupStore(place, { keys, ...(root === undefined ? {} : { root }) }),
        codec: backupCodec,
        ...(drill === undefined ? {} : { drill }),
        scratch,
        clock: systemClock,
        timers: systemTimers,
        random: systemRandom,
        log: createLogger(),
      },
      {
        signal: stop,
        onProgress,
        // A Secret that is mounted changes under the worker.
        storeKeys: () => Promise.resolve((readJson(secretsFile) as unknown as TaskSecrets).store),
      },
    );
    writeResult(requiredString(flags, "result"), result);
  } finally {
    stopCollecting();
    scratch.close();
  }
}

/** Whoever forked this process is gone: nobody asks for the answer any more. Aborts never in a process that nobody forked. */
function untilOrphaned(): AbortSignal {
  const orphaned = new AbortController();
  if (process.connected) process.once("disconnect", () => orphaned.abort());
  return orphaned.signal;
}

function readJson(path: string): Readonly<Record<string, unknown>> {
  const text = readInput(path);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Readonly<Record<string, unknown>>;
  } catch {
    // Said below, without a word of the file: it may hold keys.
  }
  throw new CliError(`${path} is no JSON object`, "Give the file that the operator wrote.");
}

function checkKind({ kind, owner, place, timeoutMs }: Partial<BackupTask>): void {
  const isTask =
    ["take", "prove", "remove"].includes(kind ?? "") && owner !== undefined && place !== undefined && Number.isFinite(timeoutMs);
  if (!isTask) throw new CliError("the task is none that this version knows", "Run the worker of the operator's own version.");
}

/** As a whole where a file can be replaced; a termination message is a mount, which is written to. */
function writeResult(path: string, result: TaskResult): void {
  const text = JSON.stringify(result);
  const size = Buffer.byteLength(text);
  if (size > MAX_RESULT_BYTES)
    throw new CliError(
      `the answer has ${size} bytes, and ${MAX_RESULT_BYTES} are the most`,
      "Remove fewer backups at a time, or use a shorter prefix.",
    );
  try {
    writeWhole(path, text, { temporary: `${path}.${randomBytes(8).toString("hex")}.tmp`, durable: true });
  } catch (error) {
    if (!["EBUSY", "EROFS", "EACCES", "EXDEV", "EPERM"].includes(errorCode(error) ?? "")) throw unwritable(path, error);
    try {
      writeFileSync(path, text);
    } catch (cause) {
      throw unwritable(path, cause);
    }
  }
}

function unwritable(path: string, cause: unknown): CliError {
  return new CliError(`cannot write ${path} (${errorCode(cause) ?? String(cause)})`, "Give the path of a file that you may write.", {
    cause,
  });
}
