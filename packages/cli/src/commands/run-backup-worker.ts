import { tmpdir } from "node:os";
import { createLogger, systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import type { BackupTask, TaskSecrets } from "@talos-operator/backup";
import { backupCodec, createEtcdDrill, createScratch } from "@talos-operator/backup/adapters";
import { runTask, type TaskProgress } from "@talos-operator/backup/worker";
import { createGrpcDialer } from "@talos-operator/talos/grpc";
import { CliError } from "../cli-error.ts";
import { givenString, requiredString, type CommandContext, type FlagValues } from "../command.ts";
import { openBackupStore } from "../files/backup-store.ts";
import { collectEarly } from "../process/collect-early.ts";
import { readJson, untilOrphaned, writeResult } from "../process/worker-files.ts";

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
    writeResult(requiredString(flags, "result"), result, "Remove fewer backups at a time, or use a shorter prefix.");
  } finally {
    stopCollecting();
    scratch.close();
  }
}

function checkKind({ kind, owner, place, timeoutMs }: Partial<BackupTask>): void {
  const isTask =
    ["take", "prove", "remove"].includes(kind ?? "") && owner !== undefined && place !== undefined && Number.isFinite(timeoutMs);
  if (!isTask) throw new CliError("the task is none that this version knows", "Run the worker of the operator's own version.");
}
