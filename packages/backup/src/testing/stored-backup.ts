/** Backups as the worker stores them, with genuine zstd and age. For tests of whoever reads them. */
import type { ObjectStore } from "@talos-operator/ports";

import { backupCodec } from "../adapters/codec/codec.ts";
import type { BackupFacts } from "../manifest/facts.ts";
import type { TakeTask, TaskSecrets } from "../task/task.ts";
import { runTask } from "../worker/run-task.ts";
import { createWorkerBench } from "../worker/testing/bench.ts";

export interface StoredBackupOptions {
  readonly snapshot?: Uint8Array;
  readonly task?: Partial<TakeTask>;
  readonly secrets?: Partial<TaskSecrets>;
}

/** Takes a backup of a member that gives `snapshot` and stores it. @throws Error when the worker fails */
export async function storeBackup(store: ObjectStore, { snapshot, task, secrets }: StoredBackupOptions = {}): Promise<BackupFacts> {
  const bench = createWorkerBench(snapshot);
  const result = await runTask(
    { ...bench.task, ...task },
    { ...bench.secrets, ...secrets },
    // The store stays open for whoever gave it.
    { ...bench.deps, codec: backupCodec, openStore: () => ({ ...store, close: () => undefined }) },
  );
  if (result.kind !== "taken") throw new Error(JSON.stringify(result));
  return result.facts;
}

/** An identity of age and its recipient. */
export async function createTestIdentity(): Promise<{ readonly identity: string; readonly recipient: string }> {
  const { generateX25519Identity, identityToRecipient } = await import("age-encryption");
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}
