import type { ObjectStoreFailureKind } from "@talos-operator/ports";
import { isSnapshotError } from "@talos-operator/etcd-snapshot";
import { isTalosError, type TalosErrorCode } from "@talos-operator/talos/client";

import { BackupKeyError } from "../layout/keys.ts";
import type { TaskFailed, TaskFailureReason } from "../task/result.ts";
import { isStoreFailure } from "../store/failure.ts";
import { CodecFailure } from "./deps.ts";

/** A reason of ours to give up, thrown through the pipes and turned into the task's result at its end. */
export class TaskFault extends Error {
  override readonly name = "TaskFault";
  readonly reason: TaskFailureReason;
  readonly mayRepeat: boolean;

  constructor(reason: TaskFailureReason, message: string, options: { readonly mayRepeat?: boolean; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.mayRepeat = options.mayRepeat ?? false;
  }
}

/** A result must fit into 4,096 bytes, with whatever else it says. */
const MAX_MESSAGE = 1500;

/** What is wrong with a store, for whom another try may help without a person. */
const PASSING: ReadonlySet<ObjectStoreFailureKind> = new Set([
  "unreachable",
  "expired",
  "conflict",
  "slow-down",
  "failing",
  "cut-off",
  "damaged",
  "clock",
  "missing",
]);

const STORE_REMEDIES: Readonly<Record<ObjectStoreFailureKind, string>> = {
  unreachable: "Check the endpoint, and that the operator's namespace may reach it.",
  tls: "Check the endpoint and its certificate.",
  handshake: "Check the endpoint and its port.",
  denied: "Check the keys and that they may list, read, write and remove below the prefix.",
  expired: "Renew the keys in the Secret.",
  clock: "Set the clocks of this machine and of the store.",
  missing: "Check that the bucket or the folder is there.",
  exists: "Look at what stands there.",
  unsupported: "The store is no S3 that can be used.",
  conflict: "It goes on by itself: somebody else writes there.",
  full: "Give the store more room, or keep fewer backups.",
  "slow-down": "It goes on by itself, later.",
  failing: "Look at the store: it fails by itself.",
  "cut-off": "It is tried again; look at the network when it stays.",
  damaged: "It is tried again; look at the network and the store when it stays.",
  redirected: "Set the region and the endpoint that the store names.",
  locked: "Wait until the lock of the object is over.",
  invalid: "Correct the bucket, the prefix or the endpoint.",
};

const SOURCE_REASONS: Readonly<Partial<Record<TalosErrorCode, TaskFailureReason>>> = {
  UNAVAILABLE: "source-unreachable",
  NO_ENDPOINT: "source-unreachable",
  DEADLINE_EXCEEDED: "source-unreachable",
  CANCELED: "source-unreachable",
  UNTRUSTED_SERVER: "source-changed",
  UNEXPECTED_IDENTITY: "source-changed",
  SNAPSHOT_DAMAGED: "snapshot-damaged",
};

/** Anything thrown as a result; `secrets` are texts that must not be in it, whoever wrote the message. */
export function failedBy(thrown: unknown, secrets: readonly string[]): TaskFailed {
  const told = describe(thrown);
  const clean = secrets.filter((secret) => secret.length >= 6).reduce((text, secret) => text.replaceAll(secret, "…"), told.message);
  return { ...told, message: clean.length > MAX_MESSAGE ? `${clean.slice(0, MAX_MESSAGE)}…` : clean };
}

function describe(thrown: unknown): TaskFailed {
  if (thrown instanceof TaskFault) return failed(thrown.reason, thrown.message, thrown.mayRepeat);
  if (isStoreFailure(thrown)) {
    const message = `${sentence(thrown.message)} ${STORE_REMEDIES[thrown.kind]}`;
    return { ...failed("store-failed", message, PASSING.has(thrown.kind)), store: thrown.kind };
  }
  if (isTalosError(thrown)) {
    const reason = SOURCE_REASONS[thrown.code] ?? "source-refused";
    return failed(reason, thrown.message, thrown.retry !== "never" || reason !== "source-refused");
  }
  if (thrown instanceof CodecFailure) {
    if (thrown.kind === "damaged") return failed("proof-failed", sentence(thrown.message), false);
    return failed(thrown.kind, sentence(thrown.message), false);
  }
  if (thrown instanceof BackupKeyError) return failed("bad-task", sentence(thrown.message), false);
  if (isSnapshotError(thrown, "SPOOL_FAILED")) return failed("too-large", thrown.message, true);
  if (isSnapshotError(thrown)) return failed("snapshot-damaged", thrown.message, true);
  // A fault of ours: the name alone, for its text may quote anything.
  return failed("bad-task", `The worker failed by itself (${thrown instanceof Error ? thrown.name : typeof thrown}). Read its log.`, true);
}

function failed(reason: TaskFailureReason, message: string, mayRepeat: boolean): TaskFailed {
  return { kind: "failed", reason, message: capital(message), mayRepeat };
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** A key, a file or an address at the beginning is left as it is written. */
function capital(text: string): string {
  return !/^[a-z]+[ ,]/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}
