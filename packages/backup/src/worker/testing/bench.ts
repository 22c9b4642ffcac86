/** A worker with a bucket and a member, and time that does not pass. For tests. */
import type { Logger } from "@talos-operator/ports";

import type { TakeTask, TaskSecrets } from "../../task/task.ts";
import type { TaskResult } from "../../task/result.ts";
import { memoryScratch } from "../../testing/memory-scratch.ts";
import { simulatedCodec } from "../../testing/simulated-codec.ts";
import type { WorkerDeps } from "../deps.ts";
import { runTask } from "../run-task.ts";
import { createTestBucket, type TestBucket } from "./faulty-store.ts";
import { createTestMember, type TestMember } from "./member.ts";

export interface WorkerBench {
  readonly bucket: TestBucket;
  readonly member: TestMember;
  readonly deps: WorkerDeps;
  readonly task: TakeTask;
  readonly secrets: TaskSecrets & { readonly manifestKey: string };
  /** A take with this attempt. */
  take(attempt: string, changes?: Partial<TakeTask>): Promise<TaskResult>;
}

const log: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined, child: () => log };

export const slot = "20261123T020000Z-nightly.a";

export function createWorkerBench(snapshot?: Uint8Array): WorkerBench {
  const bucket = createTestBucket();
  const member = createTestMember(snapshot);
  const deps: WorkerDeps = {
    dialer: member.dialer,
    openStore: () => bucket.open(),
    codec: simulatedCodec,
    scratch: memoryScratch(),
    clock: { now: () => bucket.now },
    timers: { sleep: () => Promise.resolve(), schedule: () => ({ cancel: () => undefined }) },
    random: { bytes: (length) => new Uint8Array(length), fraction: () => 0.5 },
    log,
  };
  const task: TakeTask = {
    kind: "take",
    owner: { namespace: "default", controlPlane: "demo", clusterId: "cluster-id" },
    place: { kind: "directory", path: "", prefix: "backups" },
    timeoutMs: 600_000,
    slot,
    attempt: "a1",
    source: { address: "192.0.2.10", memberId: member.id.toString(16).padStart(16, "0"), machine: "cp-1" },
    recipients: [],
    maxBytes: 8 * 1024 ** 3,
    drill: "read",
  };
  const secrets: WorkerBench["secrets"] = {
    talos: { ca: "ca", certificate: "certificate", key: "key-of-the-backup-role" },
    manifestKey: Buffer.alloc(32, 7).toString("base64"),
    clusterKeys: { bundle: "bundle: with a private key", record: '{"kind":"ClusterRecord"}' },
  };
  return { bucket, member, deps, task, secrets, take: (attempt, changes) => runTask({ ...task, ...changes, attempt }, secrets, deps) };
}
